//! Pairs of records that share a key: in a minhash band, a supershingle, or a block of a simhash.
//!
//! The records are sorted by their keys, one band after the other. Records with equal keys form a
//! bucket and are paired. A pair is emitted in the first band in which both records have the same
//! key and are compared, and skipped in later bands, so each pair is emitted once and none has to
//! be remembered. Only the current bands are in memory. Each takes 32 bytes per record, plus 12
//! bytes per record of a bucket that is expanded in part. If keys are narrow or hashes, the time is
//! O(bands · n) plus the time for the pairs in buckets.

pub mod keys;
pub mod windows;
mod work;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use keys::{DOING, KeyEntry, Keys};
use windows::{BandCut, Window, Windows};
pub use work::HotDocuments;
use work::{BandBuckets, PairScratch, WorkUnit, plan};

use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::memory;
use crate::radix;

/// The number of records above which a bucket is expanded in part. In such a bucket, each record is
/// paired only with the records nearest to it in the order of classes. With `None` all buckets are
/// expanded completely.
///
/// ```
/// use neardup_core::Sketches;
/// use neardup_core::parameters::{MostNeighbours, TechniqueSpec};
///
/// let most: MostNeighbours = Some(10_000);
/// let mut method = Sketches::by_technique(TechniqueSpec::ExactText { clean: false, html: false });
/// method.combination.most = most;
/// assert_eq!(method.combination.most, Some(10_000));
/// ```
pub type MostNeighbours = Option<u32>;

/// The counts of a search.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Met {
    /// The number of pairs that were compared.
    pub compared: u64,
    /// The number of buckets that were expanded in part.
    pub hot_buckets: u64,
    /// The number of documents in these buckets, each counted once.
    pub hot_documents: u64,
}

/// The search for pairs of records in a common bucket, in progress.
#[derive(Debug)]
pub struct Buckets {
    /// The first record of the right table, or the number of records if there is one table.
    split: u32,
    records: u32,
    self_join: bool,
    most: MostNeighbours,
    /// The number of bands in memory at a time.
    at_a_time: usize,
    next_band: usize,
    wave: Vec<BandBuckets>,
    units: VecDeque<WorkUnit>,
    units_in_wave: usize,
    windows: Windows,
    /// The classes whose windows are kept, in ascending order, or `None` for all.
    asked: Option<Vec<u32>>,
    met: Met,
    hot: HotDocuments,
}

impl Buckets {
    /// Prepares the search for pairs among `records` records. Between two tables, a pair consists
    /// of one of the first `split` records and one of the remaining records. Uses about `budget`
    /// bytes if that is enough for one band.
    pub fn new(records: u32, split: u32, self_join: bool, most: MostNeighbours, budget: usize) -> Self {
        let of_band = (2 * records as usize * size_of::<KeyEntry>()).max(1);
        Self {
            split,
            records,
            self_join,
            most,
            at_a_time: (budget / of_band).max(1),
            next_band: 0,
            wave: Vec::new(),
            units: VecDeque::new(),
            units_in_wave: 0,
            windows: Windows::default(),
            asked: None,
            met: Met::default(),
            hot: HotDocuments::default(),
        }
    }

    /// Assigns the records to classes. The classes of the left table come before those of the right
    /// one. Large buckets are cut in the order of classes. All records of a class must have the
    /// same key in each band.
    #[must_use]
    pub fn with_classes(self, classes: Option<Vec<u32>>) -> Self {
        Self { windows: Windows::new(classes), ..self }
    }

    /// Adds the documents of large buckets to those in `hot`.
    #[must_use]
    pub fn counting(self, hot: HotDocuments) -> Self {
        Self { hot, ..self }
    }

    /// Returns the windows of the given classes, which are in ascending order, without pairing any
    /// records.
    pub fn windows_of(
        mut self,
        asked: Vec<u32>,
        keys: &dyn Keys,
        executor: &dyn Executor,
    ) -> Result<Windows> {
        self.asked = Some(asked);
        while self.next_band < keys.bands() {
            self.fill(keys, executor)?;
            self.units.clear();
        }
        Ok(self.windows)
    }

    /// Returns the windows of cut buckets and their documents, after the search.
    pub fn into_parts(self) -> (Windows, HotDocuments) {
        (self.windows, self.hot)
    }

    /// Returns the next pairs, or `None` after the last. In each pair the record of the left table
    /// comes first, or in a self-join the record with the smaller number. The number of pairs is
    /// bounded and may be 0.
    pub fn next_batch(
        &mut self,
        keys: &dyn Keys,
        executor: &dyn Executor,
    ) -> Result<Option<Vec<(u32, u32)>>> {
        const ENOUGH: usize = 1 << 16;
        if self.units.is_empty() {
            if self.next_band == keys.bands() {
                self.wave = Vec::new();
                return Ok(None);
            }
            self.fill(keys, executor)?;
        }
        let found: Vec<_> = (0..executor.count()).map(|_| Mutex::new(Vec::new())).collect();
        let units = Mutex::new(std::mem::take(&mut self.units));
        let compared = AtomicU64::new(0);
        let each = ENOUGH / executor.count();
        let this = &*self;
        let done = executor.run(executor.count(), &|worker, stop| {
            let mut scratch = PairScratch::default();
            let Ok(mut found) = found[worker].lock() else { return Ok(()) };
            while found.len() < each {
                let Some(mut unit) = units.lock().ok().and_then(|mut units| units.pop_front()) else {
                    return Ok(());
                };
                let result = this.pair(keys, &mut unit, &mut scratch, each, stop, &mut found);
                compared.fetch_add(std::mem::take(&mut scratch.compared), Ordering::Relaxed);
                if let (false, Ok(mut units)) = (unit.probes.is_empty(), units.lock()) {
                    units.push_front(unit);
                }
                result?;
            }
            Ok(())
        });
        self.units = units.into_inner().unwrap_or_default();
        self.met.compared += compared.into_inner();
        done?;
        let found: Vec<Vec<_>> =
            found.into_iter().map(|found| found.into_inner().unwrap_or_default()).collect();
        let mut all = Vec::new();
        memory::reserve(&mut all, found.iter().map(Vec::len).sum(), DOING)?;
        found.iter().for_each(|found| all.extend_from_slice(found));
        Ok(Some(all))
    }

    /// Sorts the next bands.
    fn fill(&mut self, keys: &dyn Keys, executor: &dyn Executor) -> Result<()> {
        let count = self.at_a_time.min(executor.count()).min(keys.bands() - self.next_band);
        // The memory of the previous bands is reused, because allocating it costs as much as the
        // sort.
        let mut before = std::mem::take(&mut self.wave);
        let mut wave: Vec<_> = (self.next_band..self.next_band + count)
            .map(|number| {
                let (entries, other) =
                    before.pop().map(|band| (band.entries, band.other)).unwrap_or_default();
                BandBuckets {
                    number,
                    mask: u64::MAX.checked_shr(u64::BITS - keys.key_bits(number)).unwrap_or(0),
                    entries,
                    other,
                    units: Vec::new(),
                    windows: Vec::new(),
                    hot_buckets: 0,
                    hot: Vec::new(),
                }
            })
            .collect();
        drop(before);
        let this = &*self;
        executor::each(executor, &mut wave, |band, stop| this.sort(keys, band, stop))?;
        for (n, band) in wave.iter_mut().enumerate() {
            band.units.iter_mut().for_each(|unit| unit.band = n);
            self.units.extend(std::mem::take(&mut band.units));
            self.met.hot_buckets += band.hot_buckets;
            self.hot.add(&std::mem::take(&mut band.hot));
            self.windows.push(std::mem::take(&mut band.windows), executor)?;
        }
        self.next_band += count;
        self.units_in_wave = self.units.len();
        self.wave = wave;
        Ok(())
    }

    /// Builds the buckets of a band from scratch.
    fn sort(&self, keys: &dyn Keys, band: &mut BandBuckets, stop: &Stop) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 14;
        let &mut BandBuckets {
            number,
            mask,
            ref mut entries,
            ref mut other,
            ref mut units,
            ref mut windows,
            ref mut hot_buckets,
            ref mut hot,
        } = band;
        entries.clear();
        units.clear();
        windows.clear();
        hot.clear();
        *hot_buckets = 0;
        memory::reserve(entries, self.records as usize, DOING)?;
        let mut first = 0;
        while first < self.records {
            stop.check()?;
            let end = self.records.min(first.saturating_add(CHECK_EVERY as u32));
            keys.entries(first..end, number, entries);
            first = end;
        }
        // Entries are ordered by the significant bits of their keys, and then by record.
        // `keys.entries` appends them by record, and the sort is stable.
        let bits = u64::BITS - mask.leading_zeros();
        let telling = radix::telling_bits(entries.len(), bits);
        radix::sort_by_bits(entries, other, 0, telling, stop, DOING, |entry| entry.key)?;
        if telling < bits {
            let same = u64::MAX >> (u64::BITS - telling.max(1));
            for run in entries.chunk_by_mut(|a, b| (a.key ^ b.key) & same == 0).filter(|run| run.len() > 1) {
                executor::sort_unstable_by(run, stop, &|a, b| {
                    (a.key & mask, a.record).cmp(&(b.key & mask, b.record))
                })?;
            }
        }
        let (mut from, mut kept) = (0, 0);
        while from < entries.len() {
            stop.check_every(from, CHECK_EVERY)?;
            let key = entries[from].key;
            let size = entries[from..].iter().take_while(|entry| (entry.key ^ key) & mask == 0).count();
            let has_pair = size > 1
                && (self.self_join
                    || entries[from].record < self.split && entries[from + size - 1].record >= self.split);
            if has_pair {
                entries.copy_within(from..from + size, kept);
                if let Some(most) = self.most.map(|most| most as usize).filter(|&most| size > most) {
                    let (split, self_join, asked) = (self.split, self.self_join, self.asked.as_deref());
                    let cut = BandCut { all: &self.windows, split, self_join, most, asked };
                    if cut.bucket(&mut entries[kept..kept + size], windows, stop)? {
                        *hot_buckets += 1;
                        let records = entries[kept..kept + size].iter().map(|entry| entry.record);
                        memory::append(hot, records, DOING)?;
                    }
                }
                plan(units, kept..kept + size)?;
                kept += size;
            }
            from += size;
        }
        entries.truncate(kept);
        Ok(())
    }

    /// Appends the pairs of a unit until there are enough.
    fn pair(
        &self,
        keys: &dyn Keys,
        unit: &mut WorkUnit,
        scratch: &mut PairScratch,
        enough: usize,
        stop: &Stop,
        found: &mut Vec<(u32, u32)>,
    ) -> Result<()> {
        let band = &self.wave[unit.band];
        let entries = &band.entries;
        // Nothing is loaded yet.
        let mut loaded = 0..0;
        let mut bucket = unit.bucket.clone();
        while let Some(at) = unit.probes.clone().next() {
            stop.check()?;
            if found.len() >= enough {
                return Ok(());
            }
            if unit.tile.is_none() && !bucket.contains(&at) {
                // The unit consists of small buckets, one after the other.
                let key = entries[at].key;
                let same = |entry: &&KeyEntry| (entry.key ^ key) & band.mask == 0;
                let start = entries[..at].iter().rev().take_while(same).count();
                let end = entries[at..].iter().take_while(same).count();
                bucket = at - start..at + end;
            }
            let tile = unit.tile.clone().unwrap_or_else(|| bucket.clone());
            if loaded != tile {
                scratch.space.clear();
                keys.load(&entries[tile.clone()], &mut scratch.space)?;
                loaded = tile.clone();
            }
            let probe = entries[at];
            let others = self.others(entries, at, &bucket, band.number);
            let others = others.start.max(tile.start)..others.end.min(tile.end);
            if others.start < others.end {
                scratch.near.clear();
                let places = others.start - tile.start..others.end - tile.start;
                scratch.compared += places.len() as u64;
                keys.near(&probe, &entries[tile.clone()], places, &scratch.space, &mut scratch.near)?;
                for &place in &scratch.near {
                    let other = entries[tile.start + place as usize].record;
                    if !self.compared_before(keys, probe.record, other, band.number) {
                        // In the order of classes, the record with the greater number may come
                        // first.
                        let swap = self.self_join && other < probe.record;
                        let pair = if swap { (other, probe.record) } else { (probe.record, other) };
                        memory::push(found, pair, DOING)?;
                    }
                }
            }
            unit.probes.start += 1;
        }
        Ok(())
    }

    /// Returns the entries of the bucket that the entry at `at` is paired with.
    fn others(&self, entries: &[KeyEntry], at: usize, bucket: &Range<usize>, band: usize) -> Range<usize> {
        let records = &entries[bucket.clone()];
        let all = if self.self_join {
            at + 1..bucket.end
        } else if entries[at].record < self.split {
            bucket.start + records.partition_point(|entry| entry.record < self.split)..bucket.end
        } else {
            return 0..0;
        };
        let Some(Window { first, last, .. }) = self.windows.at(entries[at].record, band) else {
            return all;
        };
        let class = |entry: &KeyEntry| self.windows.class(entry.record);
        let from = bucket.start + records.partition_point(|entry| class(entry) < first);
        let to = bucket.start + records.partition_point(|entry| class(entry) <= last);
        all.start.max(from)..all.end.min(to)
    }

    /// Reports whether two records met in an earlier band and were compared there.
    #[inline]
    fn compared_before(&self, keys: &dyn Keys, a: u32, b: u32, band: usize) -> bool {
        if self.windows.is_empty_before(band) {
            return keys.met_before(a, b, band);
        }
        (0..band).any(|band| keys.meet(a, b, band) && self.windows.compare(a, b, band))
    }

    /// Returns the counts so far.
    pub fn met(&self) -> Met {
        Met { hot_documents: self.hot.count(), ..self.met }
    }

    /// Returns the share of the bands that is done, 0 to 1.
    pub fn progress(&self, bands: usize) -> f64 {
        let open = self.units.len() as f64 / self.units_in_wave.max(1) as f64 * self.wave.len() as f64;
        ((self.next_band as f64 - open) / bands.max(1) as f64).clamp(0.0, 1.0)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.wave.iter().map(|band| memory::bytes(&band.entries) + memory::bytes(&band.other)).sum::<usize>()
            + self.units.capacity() * size_of::<WorkUnit>()
            + self.windows.bytes()
            + self.hot.bytes()
    }
}
