//! What is carried of the distinct documents, in temporary files.

use bytemuck::{Pod, Zeroable};

use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::sets::members::Members;
use crate::features::tokens::Document;
use crate::hash::{hash_bytes, hash_bytes_128};
use crate::memory;
use crate::methods::carrier::{Carrier, Places};
use crate::methods::reading::Reading;
use crate::storage::files::Resources;
use crate::storage::log::Log;
use crate::storage::rows::Ragged;
use crate::storage::sort::Sorter;

const DOING: &str = "carrying documents in temporary files";
/// The number of a site that is not known.
const NO_SITE: u32 = u32::MAX;

/// The documents of one or two tables, equal ones of a side once, in the order of their first rows.
/// The records of the right table follow those of the left one.
pub(super) struct CarriedRecords {
    pub(super) left: Members,
    pub(super) right: Option<Members>,
    /// The carried bytes of all rows, and the place of those of each record.
    bytes: Log<u8>,
    places: Log<BytesPlace>,
    /// The sites of the rows, if they matter.
    pub(super) sites: Vec<u32>,
    /// The number of rows with a text.
    pub(super) texts: u64,
}

/// Where the carried bytes of a record are, and their hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
struct BytesPlace {
    start: u64,
    length: u64,
    hash: u64,
}

/// A row, in the order of which equal documents of a site come together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
struct HashedRow {
    hash: [u64; 2],
    site: u32,
    row: u32,
    place: BytesPlace,
}

/// A row of a record, which has its first row as its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroable, Pod)]
#[repr(C)]
struct RecordRow {
    first: u32,
    row: u32,
    place: BytesPlace,
}

/// What one thread carries of its documents of a batch.
#[derive(Default)]
struct CarryingWorker {
    page: Document,
    bytes: Vec<u8>,
    rows: Vec<HashedRow>,
    empty: u64,
    texts: u64,
}

impl CarryingWorker {
    fn add(&mut self, row: u32, document: &Document, carrier: &dyn Carrier, stop: &Stop) -> Result<()> {
        let document = document.read(&mut self.page, stop)?;
        let carried = carrier.carry(document, Places::default(), stop)?;
        let is_text = document.bytes() > 0;
        if carried.is_empty() {
            self.empty += 1;
            self.texts += u64::from(is_text);
            return Ok(());
        }
        let hash = hash_bytes_128(&carried);
        let (start, length) = (self.bytes.len() as u64, carried.len() as u64);
        let place = BytesPlace { start, length, hash: hash_bytes(&carried) };
        memory::reserve(&mut self.rows, 1, DOING)?;
        memory::extend(&mut self.bytes, &carried, DOING)?;
        self.texts += 1;
        self.rows.push(HashedRow { hash: [(hash >> 64) as u64, hash as u64], site: NO_SITE, row, place });
        Ok(())
    }
}

impl CarriedRecords {
    /// Reads all documents.
    pub(super) fn read(carrier: &dyn Carrier, reading: &mut Reading<'_>) -> Result<Self> {
        let (files, executor, memory) = (reading.files, reading.executor, reading.memory);
        let mut threads: Vec<CarryingWorker> = Vec::new();
        threads.resize_with(executor.count(), CarryingWorker::default);
        // Nothing is gained by bytes in memory: the files are needed.
        let mut bytes = Log::new(1 << 16);
        let mut rows = Sorter::new(files, memory / 8);
        reading.read(|batch| {
            batch.share_out(&mut threads, |thread, row, document, stop| {
                thread.add(row, document, carrier, stop)
            })?;
            let held = threads.iter().map(|thread| thread.bytes.capacity()).sum::<usize>();
            for thread in &mut threads {
                let from = bytes.len();
                bytes.extend(&thread.bytes, files)?;
                for row in thread.rows.drain(..) {
                    let place = BytesPlace { start: from + row.place.start, ..row.place };
                    rows.push(HashedRow { place, ..row }, executor)?;
                }
                thread.bytes.clear();
            }
            Ok(held + rows.bytes())
        })?;
        reading.account.skipped_empty = threads.iter().map(|thread| thread.empty).sum();
        let texts = threads.iter().map(|thread| thread.texts).sum();
        drop(threads);
        let mut sites = Vec::new();
        let takes_sites = carrier.takes_sites();
        if let Some(of_rows) = reading.sites().filter(|_| takes_sites || carrier.stop_rules().is_some()) {
            memory::extend(&mut sites, of_rows, DOING)?;
        }
        if takes_sites && !sites.is_empty() {
            let mut with_sites = Sorter::new(files, memory / 8);
            rows.drain(executor, |row| {
                with_sites.push(HashedRow { site: sites[row.row as usize], ..row }, executor)
            })?;
            rows = with_sites;
        }
        let resources = Resources { files, budget: memory / 4, executor };
        let records = Self::named(rows, reading.right_from(), resources)?;
        let (left, right, places) = Self::numbered(records, reading.right_from(), resources)?;
        Ok(Self { left, right, bytes, places, sites, texts })
    }

    /// Names the rows of equal documents of a side and a site.
    fn named<'f>(
        rows: Sorter<'f, HashedRow>,
        right_from: Option<u32>,
        Resources { files, budget, executor }: Resources<'f>,
    ) -> Result<Sorter<'f, RecordRow>> {
        let (mut rows, mut named) = (rows.sorted(executor)?, Sorter::new(files, budget / 2));
        let is_right = |row: u32| right_from.is_some_and(|from| row >= from);
        let key = |row: &HashedRow| (row.hash, row.site, is_right(row.row));
        let mut first: Option<HashedRow> = None;
        while let Some(row) = rows.next(executor)? {
            let of = first.filter(|first| key(first) == key(&row)).unwrap_or(row);
            named.push(RecordRow { first: of.row, row: row.row, place: of.place }, executor)?;
            first = Some(of);
        }
        Ok(named)
    }

    /// Numbers the records in the order of their first rows.
    fn numbered(
        rows: Sorter<'_, RecordRow>,
        right_from: Option<u32>,
        Resources { files, executor, .. }: Resources<'_>,
    ) -> Result<(Members, Option<Members>, Log<BytesPlace>)> {
        let mut rows = rows.sorted(executor)?;
        let (mut left, mut right) = (Members::default(), right_from.map(|_| Members::default()));
        let (mut places, mut own) = (Log::new(1 << 16), Vec::new());
        let mut head = rows.next(executor)?;
        while let Some(RecordRow { first, place, .. }) = head {
            own.clear();
            while let Some(row) = head.filter(|row| row.first == first) {
                memory::push(&mut own, row.row, DOING)?;
                head = rows.next(executor)?;
            }
            let of_right = right.as_mut().filter(|_| right_from.is_some_and(|from| first >= from));
            of_right.unwrap_or(&mut left).push(&own)?;
            places.push(place, files)?;
        }
        Ok((left, right, places))
    }

    /// Returns the number of records.
    pub(super) fn len(&self) -> u32 {
        // There are no more records than rows.
        self.places.len() as u32
    }

    /// Returns the number of the right table's first record, if there are two tables.
    pub(super) fn split(&self) -> Option<u32> {
        self.right.as_ref().map(|_| self.left.len() as u32)
    }

    /// Returns the rows of a record.
    pub(super) fn rows(&self, record: u32) -> &[u32] {
        Members::of_either(&self.left, self.right.as_ref(), record)
    }

    /// Returns the hash of the carried bytes of a record.
    pub(super) fn hash(&mut self, record: u32) -> Result<u64> {
        Ok(self.place(record)?.hash)
    }

    /// Returns the number of carried bytes of a record.
    pub(super) fn size(&mut self, record: u32) -> Result<u64> {
        Ok(self.place(record)?.length)
    }

    fn place(&mut self, record: u32) -> Result<BytesPlace> {
        let mut place = [BytesPlace::zeroed()];
        self.places.read(record.into(), &mut place)?;
        Ok(place[0])
    }

    /// Adds the carried bytes of a record.
    pub(super) fn load(&mut self, record: u32, carrier: &dyn Carrier, into: &mut Ragged<u8>) -> Result<()> {
        let BytesPlace { start, length, .. } = self.place(record)?;
        let from = into.values.len();
        self.bytes.append(start, length as usize, &mut into.values)?;
        if let Some(&site) = self.sites.get(self.rows(record)[0] as usize).filter(|&&site| site != NO_SITE) {
            carrier.set_site(&mut into.values[from..], site)?;
        }
        into.close(DOING)
    }

    /// Calls `work` with all records, some of them at a time: the number of the first one, and
    /// their carried bytes, about `budget` of them. Records of both sides do not come together.
    pub(super) fn for_each(
        &mut self,
        carrier: &dyn Carrier,
        budget: usize,
        executor: &dyn Executor,
        mut work: impl FnMut(u32, &Ragged<u8>) -> Result<()>,
    ) -> Result<()> {
        let mut loaded = Ragged::default();
        let (mut from, split) = (0, self.split());
        while from < self.len() {
            loaded.clear();
            let end = split.filter(|&split| from < split).unwrap_or(self.len());
            let mut to = from;
            while to < end && loaded.values.len() < budget {
                executor::breathe(executor, to, 1 << 8)?;
                self.load(to, carrier, &mut loaded)?;
                to += 1;
            }
            work(from, &loaded)?;
            from = to;
        }
        Ok(())
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let members = self.left.bytes() + self.right.as_ref().map_or(0, Members::bytes);
        members + self.bytes.bytes() + self.places.bytes() + memory::bytes(&self.sites)
    }
}

/// Gets candidates, which may be repeated, the lesser record first.
pub(super) type TakeCandidate<'t> = dyn FnMut([u32; 2], &mut CarriedRecords) -> Result<()> + 't;

/// Records by their places among those that are loaded, and what a thread makes of them.
pub(super) struct RecordUnit<T> {
    pub(super) records: std::ops::Range<usize>,
    pub(super) made: T,
}

/// Calls `work` for each of `count` records on several threads, in units, and returns what each
/// unit made. `work` is called again for a record at which it was stopped, and must have made
/// nothing of it.
pub(super) fn each_unit<T: Default + Send>(
    count: usize,
    executor: &dyn Executor,
    work: impl Fn(&mut T, usize, &Stop) -> Result<()> + Sync,
) -> Result<Vec<T>> {
    /// So many units a thread keep all threads busy until the end.
    const UNITS: usize = 16;
    let length = count.div_ceil(UNITS * executor.count()).max(1);
    let units = (0..count).step_by(length).map(|from| {
        let records = from..count.min(from + length);
        RecordUnit { records, made: T::default() }
    });
    let mut units: Vec<RecordUnit<T>> = memory::collect(units, DOING)?;
    executor::each(executor, &mut units, |unit, stop| {
        while !unit.records.is_empty() {
            stop.check()?;
            work(&mut unit.made, unit.records.start, stop)?;
            unit.records.start += 1;
        }
        Ok(())
    })?;
    memory::collect(units.into_iter().map(|unit| unit.made), DOING)
}
