//! The main job: `near_duplicates` and `near_duplicates_between` (sql.md section 1).

use std::time::Instant;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::call::{Call, sql_function};
use super::error::{Result, SqlError};
use super::example::Example;
use super::ids::Ids;
use super::progress::Progress;
use super::request::{Form, Request, Similarity};
use super::rows::{self, Rows};
use super::settings;
use super::source::Source;
use super::stats::{self, Stats};
use super::temp_file::ServerFiles;
use super::workers::BackendWorkers;
use crate::candidates::edit_join::edit_pairs;
use crate::candidates::pairs::Pairs;
use crate::error::Error;
use crate::features::collect::Collector;
use crate::features::order::order;
use crate::features::spill::Spill;
use crate::features::store::Table;
use crate::features::texts::distinct;
use crate::features::tokens::Document;
use crate::workers::{self, Workers};

sql_function! {
    /// `near_duplicates(docs, threshold, …)`
    neardup_join, pg_finfo_neardup_join, |call| {
        answer(call, Form { name: "near_duplicates", relations: 1, typed: false })
    }
}
sql_function! {
    /// `near_duplicates(docs, threshold, id_type, …)`
    neardup_join_typed, pg_finfo_neardup_join_typed, |call| {
        answer(call, Form { name: "near_duplicates", relations: 1, typed: true })
    }
}
sql_function! {
    /// `near_duplicates_between(left, right, threshold, …)`
    neardup_join_between, pg_finfo_neardup_join_between, |call| {
        answer(call, Form { name: "near_duplicates_between", relations: 2, typed: false })
    }
}
sql_function! {
    /// `near_duplicates_between(left, right, threshold, id_type, …)`
    neardup_join_between_typed, pg_finfo_neardup_join_between_typed, |call| {
        answer(call, Form { name: "near_duplicates_between", relations: 2, typed: true })
    }
}

/// Where the server stores all pairs, it stops at this many unless the caller said otherwise.
const DEFAULT_MAX_PAIRS: u64 = 100_000_000;

fn answer(call: Call, form: Form) -> Result<Datum> {
    rows::answer(call, || {
        let mut request = Request::new(call, form)?;
        if rows::wants_all(call)? {
            request.max_pairs.get_or_insert(DEFAULT_MAX_PAIRS);
        }
        Run::new(&request)
    })
}

/// A join that gives its pairs.
struct Run {
    name: &'static str,
    left: Ids,
    /// Ids of the right table, and the number its rows count from.
    right: Option<(Ids, u32)>,
    pairs: Pairs,
    workers: BackendWorkers,
    progress: Progress,
    max_pairs: Option<u64>,
    example: Example,
    stats: Stats,
    owner: pg_sys::Oid,
}

impl Run {
    /// Reads, tokenises and orders the documents, and makes ready to join.
    fn new(request: &Request) -> Result<Self> {
        let workers = BackendWorkers::new();
        let mut progress = Progress::new(request.name);
        let files = ServerFiles::in_current_context();
        let mut reader = Reader {
            spill: Spill::new(&files),
            memory: settings::memory(),
            collectors: (0..workers.count()).map(|_| Collector::new(request.spec)).collect(),
            stats: Stats { threads: workers.count() as u64, ..Stats::default() },
            workers,
            progress: &mut progress,
        };
        let began = Instant::now();
        let left = reader.read(&request.left, request.id_type, 0)?;
        let right_from = left.len() as u32;
        let right = match &request.right {
            Some(source) => {
                reader.go_right(right_from);
                Some((reader.read(source, request.id_type, right_from)?, right_from))
            }
            None => None,
        };
        let Reader { collectors, mut stats, spill, memory, .. } = reader;
        stats.skipped_empty = collectors.iter().map(|collector| collector.empty).sum();
        stats.tokens = collectors.iter().map(|collector| collector.tokens).sum();
        stats.phases[0] = milliseconds(began);

        let began = Instant::now();
        progress.report(|| "ordering".to_owned());
        let ids_bytes = left.bytes() + right.as_ref().map_or(0, |(ids, _)| ids.bytes());
        // Ids stay; at least a part is left for everything else.
        let budget = memory.saturating_sub(ids_bytes).max(memory / 4);
        let right_from = right.as_ref().map(|_| right_from);
        let pairs = match request.similarity {
            Similarity::Sets(predicate) => {
                let ordered = if spill.is_used() {
                    spill.order(collectors, budget, &workers)?
                } else {
                    order(collectors, right_from, &workers)?
                };
                stats.distinct_tokens = ordered.distinct_tokens as u64;
                stats.distinct_sets = (ordered.left.members.len()
                    + ordered.right.as_ref().map_or(0, |right| right.members.len()))
                    as u64;
                stats.peak_memory = stats.peak_memory.max((ordered.peak_bytes + ids_bytes) as u64);
                let places = ordered.left.bytes() + ordered.right.as_ref().map_or(0, Table::bytes);
                let budget = if ordered.is_in_files() {
                    budget.saturating_sub(places).max(memory / 4)
                } else {
                    budget
                };
                Pairs::new(ordered, predicate, request.algorithm, budget)?
            }
            Similarity::Edit(edit) => {
                let texts = collectors.into_iter().map(|collector| collector.texts).collect();
                let distinct = distinct(texts, right_from, &workers)?;
                // Texts stay, too.
                let budget = budget.saturating_sub(distinct.texts.bytes()).max(memory / 4);
                let (pairs, prepared) =
                    edit_pairs(distinct, edit, request.algorithm, &files, budget, &workers)?;
                stats.tokens = prepared.grams;
                stats.distinct_tokens = prepared.distinct_grams;
                stats.distinct_sets = prepared.distinct_texts;
                stats.peak_memory = stats.peak_memory.max((prepared.peak_bytes + ids_bytes) as u64);
                pairs
            }
        };
        stats.phases[1] = milliseconds(began);

        // SAFETY: a look at a variable of the session.
        let owner = unsafe { pg_sys::GetUserId() };
        let run = Self {
            name: request.name,
            left,
            right,
            pairs,
            workers,
            progress,
            max_pairs: request.max_pairs,
            example: request.example.clone(),
            stats,
            owner,
        };
        match run.max_pairs {
            // Equal documents alone would be too many: no need to begin.
            Some(most) if run.pairs.certain() > most => Err(run.too_many(most)),
            _ => Ok(run),
        }
    }

    fn report(&mut self) {
        let pairs = &self.pairs;
        self.progress
            .report(|| format!("joining, {:.0} %, {} pairs", 100.0 * pairs.progress(), pairs.given()));
    }

    fn too_many(&self, most: u64) -> SqlError {
        SqlError::new(
            PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
            format!("{} has more than max_pairs = {most} pairs to give", self.name),
        )
        .hint(format!(
            "Raise the threshold or max_pairs, or take pairs as they are found: \
             SELECT {} LIMIT 10;",
            self.example
        ))
    }
}

impl Rows<3> for Run {
    fn next(&mut self) -> Result<Option<[Datum; 3]>> {
        const REPORT_EVERY: u64 = 1 << 16;
        let pair = loop {
            if let Some(pair) = self.pairs.take() {
                break pair;
            }
            let began = Instant::now();
            let more = self.pairs.advance(&self.workers)?;
            self.stats.phases[2] += milliseconds(began);
            self.stats.peak_memory = self.stats.peak_memory.max(self.pairs.bytes() as u64);
            self.report();
            if !more {
                return Ok(None);
            }
        };
        if self.pairs.given().is_multiple_of(REPORT_EVERY) {
            self.report();
        }
        if let Some(most) = self.max_pairs.filter(|&most| self.pairs.given() > most) {
            return Err(self.too_many(most));
        }
        let (left, right) = match &self.right {
            Some((ids, from)) => (self.left.datum(pair.left), ids.datum(pair.right - from)),
            None if self.left.before(pair.left, pair.right) => {
                (self.left.datum(pair.left), self.left.datum(pair.right))
            }
            None => (self.left.datum(pair.right), self.left.datum(pair.left)),
        };
        let similarity = Datum::from(pair.similarity.to_bits());
        Ok(Some([left, right, similarity]))
    }
}

impl Drop for Run {
    /// However the call ends, its account is kept.
    fn drop(&mut self) {
        self.stats.counts = self.pairs.counts();
        self.stats.pairs = self.pairs.given();
        stats::keep(self.owner, &self.stats);
    }
}

/// Reads documents and cuts them into tokens.
struct Reader<'a, 'f> {
    collectors: Vec<Collector>,
    spill: Spill<'f>,
    memory: usize,
    stats: Stats,
    workers: BackendWorkers,
    progress: &'a mut Progress,
}

impl Reader<'_, '_> {
    /// Goes on to the right table, whose rows count from `from`.
    fn go_right(&mut self, from: u32) {
        self.spill.go_right(from);
        self.collectors.iter_mut().for_each(Collector::go_right);
    }

    /// Takes token sets out of memory where there is not enough for all; `others` are bytes held
    /// beside the collectors.
    fn spill(&mut self, others: usize) -> Result<()> {
        let held: usize = self.collectors.iter().map(Collector::bytes).sum();
        self.stats.peak_memory = self.stats.peak_memory.max((held + others) as u64);
        let sets: usize = self.collectors.iter().map(|collector| collector.sets.bytes()).sum();
        // What is in memory is ordered by copying it.
        if held + sets + others > self.memory && sets > self.memory / 8 {
            self.spill.take(&mut self.collectors)?;
        }
        Ok(())
    }

    /// Reads all documents of a source, whose rows count from `from`, and gives their ids.
    fn read(&mut self, source: &Source, id_type: pg_sys::Oid, from: u32) -> Result<Ids> {
        /// Documents that are cut into tokens at one time.
        const BYTES_A_BATCH: usize = 8 << 20;
        let mut ids = Ids::new(id_type);
        let mut read = 0;
        let mut bytes = 0;
        let mut counted = 0;
        source.read(&mut ids, |documents, ids, last| {
            self.progress.report(|| format!("reading, {} documents", ids.len()));
            bytes += documents[counted..].iter().map(|(_, document)| document.bytes()).sum::<usize>();
            counted = documents.len();
            if bytes < BYTES_A_BATCH.min(self.memory / 8) && !last {
                return Ok(());
            }
            if from.checked_add(ids.len() as u32).is_none() {
                return Err(Error::TooMany { what: "documents", limit: u32::MAX.into() }.into());
            }
            tokenise(&mut self.collectors, documents, from, &self.workers)?;
            read += documents.len();
            self.spill(bytes + ids.bytes())?;
            documents.clear();
            (bytes, counted) = (0, 0);
            Ok(())
        })?;
        ids.sort(&source.relation, source.id_argument, &self.workers)?;
        self.stats.documents += ids.len() as u64;
        self.stats.skipped_null += (ids.len() - read) as u64;
        Ok(ids)
    }
}

/// Shares a batch of documents out by size, and lets each worker add its share.
fn tokenise(
    collectors: &mut [Collector],
    documents: &[(u32, Document)],
    from: u32,
    workers: &dyn Workers,
) -> Result<()> {
    let total: usize = documents.iter().map(|(_, document)| document.bytes() + 1).sum();
    let share = total.div_ceil(collectors.len());
    let mut rest = documents;
    let mut shares: Vec<(&mut Collector, &[(u32, Document)])> = Vec::new();
    for collector in collectors {
        let mut size = 0;
        let count = rest.iter().take_while(|(_, document)| {
            let fits = size < share;
            size += document.bytes() + 1;
            fits
        });
        let (here, after) = rest.split_at(count.count());
        shares.push((collector, here));
        rest = after;
    }
    debug_assert!(rest.is_empty());
    workers::each(workers, &mut shares, |(collector, documents), stop| {
        while let Some(((row, document), after)) = documents.split_first() {
            collector.add(from + row, document, stop)?;
            *documents = after;
        }
        Ok(())
    })?;
    Ok(())
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
