//! Documents of one table or two, handed to the workers in batches.

use std::cell::RefCell;
use std::time::Instant;

use pgrx::pg_sys;

use super::sites::Sites;
use super::source::Source;
use crate::error::Error;
use crate::features::FeatureSpec;
use crate::features::sets::collect::Collector;
use crate::features::texts::TextCollector;
use crate::features::tokens::Document;
use crate::features::units::library::Library;
use crate::features::units::sets::{Gathering, Reader, Unit};
use crate::features::units::signatures::{Features, Maker};
use crate::pg::functions::near_duplicates_stats::Stats;
use crate::pg::query::ids::Ids;
use crate::pg::request::Request;
use crate::pg::server::allocator;
use crate::pg::server::error::Result;
use crate::pg::server::progress::Progress;
use crate::pg::server::settings;
use crate::pg::server::temp_file::ServerFiles;
use crate::pg::server::workers::{BackendWorkers, interrupt_pending};
use crate::workers::{self, Stop, Workers};

/// What a method reads its documents with, and what it tells of itself.
pub struct Reading<'a> {
    left_source: &'a Source,
    right_source: Option<&'a Source>,
    id_type: pg_sys::Oid,
    /// The threads to work with.
    pub workers: BackendWorkers,
    /// Makes temporary files.
    pub files: ServerFiles,
    /// The bytes to work with, ids included.
    pub memory: usize,
    /// The account of the call.
    pub stats: Stats,
    /// Where the call is.
    pub progress: Progress,
    /// The ids of the only or left table, once it is read.
    pub left: Ids,
    /// Those of the right table, and the number its rows count from.
    pub right: Option<(Ids, u32)>,
    /// The sites of all rows, where a column of them was given.
    pub sites: Option<Sites>,
    /// About so many bytes of documents are handed over at one time, or less where memory is small. Large batches
    /// let workers wait for each other less often; what they make of a batch must not be much larger.
    pub batch_bytes: usize,
}

/// Documents that were read, each with the number of its row; rows of the right table count on from
/// those of the left one.
pub struct Batch<'a> {
    documents: &'a [(u32, Document)],
    from: u32,
    begins_right: bool,
    workers: &'a dyn Workers,
    /// Bytes held beside what the method holds: these documents and all ids.
    pub held: usize,
    /// What the leader does while workers are busy: reading on.
    beside: RefCell<&'a mut dyn FnMut()>,
}

impl Batch<'_> {
    /// The number of the right table's first row, if this is its first batch.
    pub fn begins_right(&self) -> Option<u32> {
        self.begins_right.then_some(self.from)
    }

    /// The documents and their rows.
    pub fn documents(&self) -> impl Iterator<Item = (u32, &Document)> {
        self.documents.iter().map(|(row, document)| (self.from + row, document))
    }

    /// The threads to work with.
    pub fn workers(&self) -> &dyn Workers {
        self.workers
    }

    /// Shares the documents out by size: `add` is called for each on some thread, with the state of that
    /// thread and the row. After a stop it is called again for the document it was stopped at, so it must
    /// leave the state as it was before.
    pub fn share_out<S: Send>(
        &self,
        states: &mut [S],
        add: impl Fn(&mut S, u32, &Document, &Stop) -> crate::error::Result<()> + Sync,
    ) -> Result<()> {
        let total: usize = self.documents.iter().map(|(_, document)| document.bytes() + 1).sum();
        let share = total.div_ceil(states.len());
        let mut rest = self.documents;
        let mut shares: Vec<(&mut S, &[(u32, Document)])> = Vec::new();
        for state in states {
            let mut size = 0;
            let count = rest.iter().take_while(|(_, document)| {
                let fits = size < share;
                size += document.bytes() + 1;
                fits
            });
            let (here, after) = rest.split_at(count.count());
            shares.push((state, here));
            rest = after;
        }
        debug_assert!(rest.is_empty());
        let from = self.from;
        let work = |(state, documents): &mut (&mut S, &[(u32, Document)]), stop: &Stop| {
            while let Some(((row, document), after)) = documents.split_first() {
                add(state, from + row, document, stop)?;
                *documents = after;
            }
            Ok(())
        };
        workers::each_beside(self.workers, &mut shares, work, &mut *self.beside.borrow_mut())?;
        Ok(())
    }
}

/// Documents that were read and wait for the workers.
#[derive(Default)]
struct Ahead {
    documents: Vec<(u32, Document)>,
    bytes: usize,
}

impl<'a> Reading<'a> {
    /// Nothing is read yet. The memory context of now outlives the call.
    pub fn new(request: &'a Request) -> Self {
        Self::of(request.name, &request.left, request.right.as_ref(), request.id_type)
    }

    /// The same of documents that `name` reads.
    pub fn of(
        name: &'static str,
        left_source: &'a Source,
        right_source: Option<&'a Source>,
        id_type: pg_sys::Oid,
    ) -> Self {
        let workers = BackendWorkers::new();
        allocator::keep_little();
        Self {
            left_source,
            right_source,
            id_type,
            workers,
            files: ServerFiles::in_current_context(),
            memory: settings::memory(),
            stats: Stats { threads: workers.count() as u64, ..Stats::default() },
            progress: Progress::new(name),
            left: Ids::new(id_type),
            right: None,
            sites: None,
            batch_bytes: 4 << 20,
        }
    }

    /// Reads all documents. `batch` takes some of them at a time and gives the bytes it holds; it is told
    /// when the right table begins even if that has no rows.
    pub fn read(&mut self, mut batch: impl FnMut(&Batch<'_>) -> Result<usize>) -> Result<()> {
        let began = Instant::now();
        let mut sites = self.left_source.has_sites().then(Sites::default);
        self.left = self.read_source(self.left_source, 0, false, &mut sites, &mut batch)?;
        if let Some(source) = self.right_source {
            let from = self.left.len() as u32;
            self.right = Some((self.read_source(source, from, true, &mut sites, &mut batch)?, from));
        }
        self.sites = sites;
        self.stats.phases[0] += began.elapsed().as_secs_f64() * 1000.0;
        self.progress.report(|| "ordering".to_owned());
        Ok(())
    }

    fn read_source(
        &mut self,
        source: &Source,
        from: u32,
        mut begins_right: bool,
        sites: &mut Option<Sites>,
        batch: &mut impl FnMut(&Batch<'_>) -> Result<usize>,
    ) -> Result<Ids> {
        let enough = self.batch_bytes.min(self.memory / 64);
        let mut ids = Ids::new(self.id_type);
        let mut read = 0;
        let others = self.left.bytes();
        let mut stream = source.stream()?;
        let mut next = Ahead::default();
        loop {
            while next.bytes < enough && !stream.ended {
                next.bytes += stream.fetch(&mut next.documents, &mut ids, sites)?;
                self.progress.report(|| format!("reading, {} documents", ids.len()));
            }
            if from.checked_add(ids.len() as u32).is_none() {
                return Err(Error::TooMany { what: "documents", limit: u32::MAX.into() }.into());
            }
            let Ahead { documents, bytes } = std::mem::take(&mut next);
            // Of these and of those that are read meanwhile.
            let held = 2 * bytes + ids.bytes() + others;
            let last = stream.ended;
            let mut fetched = Ok(());
            let mut read_on = || {
                while source.is_quick
                    && next.bytes < enough
                    && !stream.ended
                    && !interrupt_pending()
                    && fetched.is_ok()
                {
                    fetched =
                        stream.fetch(&mut next.documents, &mut ids, sites).map(|more| next.bytes += more);
                }
            };
            let workers = &self.workers;
            let beside = RefCell::new(&mut read_on as &mut dyn FnMut());
            let held_by_method =
                batch(&Batch { documents: &documents, from, begins_right, workers, held, beside })?;
            fetched?;
            begins_right = false;
            self.stats.peak_memory = self.stats.peak_memory.max((held_by_method + held) as u64);
            read += documents.len();
            if last {
                break;
            }
        }
        ids.sort(&source.relation, source.id_argument, &self.workers)?;
        self.stats.documents += ids.len() as u64;
        self.stats.skipped_null += (ids.len() - read) as u64;
        Ok(ids)
    }

    /// Reads all documents and keeps their texts; the outcome is what `features::texts::distinct` takes.
    pub fn read_texts(&mut self, spec: FeatureSpec) -> Result<Vec<TextCollector>> {
        let mut collectors: Vec<Collector> =
            (0..self.workers.count()).map(|_| Collector::new(spec)).collect();
        self.read(|batch| {
            batch.share_out(&mut collectors, |collector, row, document, stop| {
                collector.add(row, document, stop)
            })?;
            Ok(collectors.iter().map(Collector::bytes).sum())
        })?;
        self.stats.skipped_empty = collectors.iter().map(|collector| collector.empty).sum();
        Ok(collectors.into_iter().map(|collector| collector.texts).collect())
    }

    /// Reads all documents and keeps their texts, cut into units; gives what makes the units' signatures, too. The
    /// texts are in memory or, where they would take more than half of it, in a temporary file.
    pub fn read_units(&mut self, unit: Unit, features: &Features) -> Result<(Library, Maker)> {
        let mut gathering = Gathering::new(unit, features, &self.workers);
        let (files, budget) = (self.files, self.memory / 2);
        self.read(|batch| {
            batch.share_out(&mut gathering.readers, Reader::add)?;
            Ok(gathering.settle(batch.documents(), &files, budget, batch.workers())?)
        })?;
        let documents = self.stats.documents - self.stats.skipped_null;
        let (library, maker, empty) = gathering.finish(features, documents, &files, &self.workers)?;
        self.stats.skipped_empty = empty;
        self.held(library.bytes());
        Ok((library, maker))
    }

    /// The number of the right table's first row, where there is one.
    pub fn right_from(&self) -> Option<u32> {
        self.right.as_ref().map(|(_, from)| *from)
    }

    /// The bytes to work with beside the ids and `others` that stay; at least a part is left. An eighth is
    /// kept back for what is not counted: what the allocator does not give back at once, and the server's own.
    pub fn left_after(&self, others: usize) -> usize {
        let all = self.memory - self.memory / 8;
        all.saturating_sub(self.ids_bytes() + others).max(self.memory / 4)
    }

    /// Says that so many bytes were held at one time, beside the ids.
    pub fn held(&mut self, bytes: usize) {
        self.stats.peak_memory = self.stats.peak_memory.max((bytes + self.ids_bytes()) as u64);
    }

    fn ids_bytes(&self) -> usize {
        self.left.bytes()
            + self.right.as_ref().map_or(0, |(ids, _)| ids.bytes())
            + self.sites.as_ref().map_or(0, Sites::bytes)
    }
}
