//! Records in slices on several threads, and the comparison of candidates in the order of their
//! left records, so that what is prepared of a left record serves all its candidates.
//!
//! All candidates are listed and sorted, on files, before the first pair is known. So a join in
//! small memory is slower, but finds the same pairs in the same order.

use super::{Counts, RecordJoin, RecordPair};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::memory;
use crate::storage::sort::{Sorted, Sorter};

const DOING: &str = "comparing candidates";

/// Records, and how two of them are compared.
pub(super) trait CompareCandidates: Sync {
    /// What is prepared of a record, with scratch memory.
    type Prepared: Default;

    /// Prepares a record, in place of the record before it.
    fn prepare(&self, left: u32, prepared: &mut Self::Prepared, stop: &Stop) -> Result<()>;

    /// Compares a candidate, whose left record is prepared. Returns the pair if it passes.
    fn compare(
        &self,
        candidate: [u32; 2],
        prepared: &mut Self::Prepared,
        stop: &Stop,
    ) -> Result<Option<RecordPair>>;

    /// Returns the number of bytes on the heap.
    fn bytes(&self) -> usize;
}

/// A join whose candidates are known, in progress.
pub(super) struct CandidateJoin<C> {
    records: C,
    candidates: Sorted<[u32; 2]>,
    /// The number of candidates, repeats included, and how many of them were taken.
    total: u64,
    taken: u64,
    last: Option<[u32; 2]>,
    /// The number of slices of the next batch.
    slices: usize,
    counts: Counts,
}

impl<C> std::fmt::Debug for CandidateJoin<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a join of {} candidates", self.total)
    }
}

/// Some candidates, and those of them that pass.
#[derive(Default)]
struct ComparedCandidates {
    candidates: Vec<[u32; 2]>,
    found: Vec<RecordPair>,
}

impl<C: CompareCandidates> CandidateJoin<C> {
    /// Prepares to compare candidates, which may be repeated.
    pub(super) fn new(records: C, candidates: Sorter<'_, [u32; 2]>, executor: &dyn Executor) -> Result<Self> {
        let (total, slices) = (candidates.len(), 4 * executor.count());
        let (candidates, counts) = (candidates.sorted(executor)?, Counts::default());
        Ok(Self { records, candidates, total, taken: 0, last: None, slices, counts })
    }
}

impl ComparedCandidates {
    fn compare<C: CompareCandidates>(&mut self, records: &C, stop: &Stop) -> Result<()> {
        let (mut prepared, mut left) = (C::Prepared::default(), None);
        self.found.clear();
        for &candidate in &self.candidates {
            stop.check()?;
            if left != Some(candidate[0]) {
                records.prepare(candidate[0], &mut prepared, stop)?;
                left = Some(candidate[0]);
            }
            if let Some(pair) = records.compare(candidate, &mut prepared, stop)? {
                memory::push(&mut self.found, pair, DOING)?;
            }
        }
        Ok(())
    }
}

impl<C: CompareCandidates> RecordJoin for CandidateJoin<C> {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        /// The number of candidates of a slice, and the greatest number of slices.
        const SLICE: usize = 64;
        const MOST: usize = 128;
        let mut slices: Vec<ComparedCandidates> = Vec::new();
        while slices.len() < self.slices && self.taken < self.total {
            let mut slice = ComparedCandidates::default();
            while let Some(pair) = self.candidates.next(executor)? {
                self.taken += 1;
                if self.last.replace(pair) != Some(pair) {
                    memory::push(&mut slice.candidates, pair, DOING)?;
                }
                if slice.candidates.len() == SLICE {
                    break;
                }
            }
            self.counts.candidates += slice.candidates.len() as u64;
            memory::push(&mut slices, slice, DOING)?;
        }
        if slices.is_empty() {
            return Ok(None);
        }
        let records = &self.records;
        executor::each(executor, &mut slices, |slice, stop| slice.compare(records, stop))?;
        self.counts.verified = self.counts.candidates;
        // Batches grow, so that they are worth the cost of threads.
        self.slices = (2 * self.slices).min(MOST.max(4 * executor.count()));
        let mut found = Vec::new();
        slices.iter().try_for_each(|slice| memory::extend(&mut found, &slice.found, DOING))?;
        Ok(Some(found))
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn progress(&self) -> f64 {
        self.taken as f64 / self.total.max(1) as f64
    }

    fn bytes(&self) -> usize {
        self.records.bytes() + self.candidates.bytes()
    }
}

/// Some records, and what is made of them on one thread.
pub(crate) struct Slice<T> {
    pub records: std::ops::Range<u32>,
    pub found: T,
}

/// Calls `work` for slices of `length` of the records 0 to `count`, on several threads, and `take`
/// with what is made of them, in order.
pub(crate) fn each_slice<T: Default + Send>(
    count: u32,
    length: u32,
    executor: &dyn Executor,
    work: impl Fn(&mut Slice<T>, &Stop) -> Result<()> + Sync,
    mut take: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    let mut from = 0;
    while from < count {
        let slices = (0..4 * executor.count() as u32).map(|n| {
            let [from, to] = [n, n + 1].map(|n| from.saturating_add(n * length).min(count));
            Slice { records: from..to, found: T::default() }
        });
        let mut slices: Vec<Slice<T>> = slices.collect();
        executor::each(executor, &mut slices, &work)?;
        for slice in slices {
            from = from.max(slice.records.end);
            take(slice.found)?;
        }
    }
    Ok(())
}
