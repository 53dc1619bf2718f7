//! Joins of parts of the sets of one table, with themselves or with each other.

use crate::error::Result;
use crate::executor::Executor;
use crate::features::sets::records::RECORD;
use crate::features::sets::store::RecordStore;
use crate::joins::{Counts, JoinedSets, RecordJoin, RecordPair};
use crate::memory;
use crate::storage::files::TempFiles;

const DOING: &str = "choosing rows to compare";

/// The sets of one table, of which parts are joined.
pub(super) struct SetParts {
    sets: JoinedSets,
    files: Box<dyn TempFiles>,
    /// The number of bytes that may be held in addition to the sets.
    budget: usize,
    /// What the filters of the joins that are done have counted.
    pub(super) counts: Counts,
}

impl SetParts {
    pub(super) fn new(sets: JoinedSets, files: Box<dyn TempFiles>) -> Self {
        let budget = sets.budget.saturating_sub(sets.left.bytes()).max(sets.budget / 4);
        Self { sets, files, budget, counts: Counts::default() }
    }

    /// Returns a copy of some records.
    fn part(&mut self, wanted: &[u32], executor: &dyn Executor) -> Result<RecordStore> {
        let store = &mut self.sets.left;
        let tokens: usize = wanted.iter().map(|&record| store.shared(record as usize)).sum();
        let bytes = tokens * size_of::<u32>() + wanted.len() * RECORD;
        if bytes <= self.budget / 4 {
            return store.fetch(wanted, executor).map(RecordStore::Memory);
        }
        let mut is_wanted = memory::filled(false, store.len(), DOING)?;
        wanted.iter().for_each(|&record| is_wanted[record as usize] = true);
        store.part(|record| is_wanted[record], &*self.files, self.budget / 4)
    }

    /// Prepares the join of some records with themselves, or with others. The records of its pairs
    /// are numbered within the parts; see [`named`].
    pub(super) fn join(
        &mut self,
        left: &[u32],
        right: Option<&[u32]>,
        executor: &dyn Executor,
    ) -> Result<Box<dyn RecordJoin>> {
        let left = self.part(left, executor)?;
        let right = right.map(|right| self.part(right, executor)).transpose()?;
        let weights = self.sets.weights.clone();
        JoinedSets { left, right, weights, budget: self.budget / 2, ..self.sets }.join(&*self.files)
    }

    /// Prepares the join of all records with themselves. The sets are in the join afterwards.
    pub(super) fn whole(&mut self) -> Result<Box<dyn RecordJoin>> {
        let (left, weights) = (self.sets.left.take_all(), self.sets.weights.clone());
        JoinedSets { left, right: None, weights, ..self.sets }.join(&*self.files)
    }

    /// Joins records, and calls `each` with every pair until it returns false.
    pub(super) fn join_all(
        &mut self,
        left: &[u32],
        right: Option<&[u32]>,
        executor: &dyn Executor,
        mut each: impl FnMut(RecordPair) -> Result<bool>,
    ) -> Result<()> {
        if left.is_empty() || right.is_some_and(<[u32]>::is_empty) {
            return Ok(());
        }
        let mut join = self.join(left, right, executor)?;
        let mut wanted = true;
        while wanted && let Some(batch) = join.next_batch(executor)? {
            for pair in named(batch, left, right.unwrap_or(left)) {
                wanted = wanted && each(pair)?;
            }
        }
        self.counts.add(&join.counts());
        Ok(())
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.sets.left.bytes()
    }
}

/// Returns pairs of records of two parts by their numbers among all records.
pub(super) fn named(mut pairs: Vec<RecordPair>, left: &[u32], right: &[u32]) -> Vec<RecordPair> {
    for pair in &mut pairs {
        (pair.left, pair.right) = (left[pair.left as usize], right[pair.right as usize]);
    }
    pairs
}
