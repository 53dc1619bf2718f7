//! The pairs of rows that a join of distinct sets stands for, one after the other.
//!
//! Rows with equal sets are one record of the join. Their pairs come first, and with them those of
//! every pair of records, counted out without being stored: memory does not grow with their number.

use super::prefix_join::{Counts, PrefixJoin, RecordPair};
use crate::error::Result;
use crate::workers::Workers;

/// Two rows and their similarity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// A row of the left table, or of the only one.
    pub left: u32,
    /// A row of the right table, or another row of the only one.
    pub right: u32,
    /// The similarity of their sets.
    pub similarity: f64,
}

/// The pairs of a join. In a self-join each pair comes once, its rows in either order.
#[derive(Debug)]
pub struct Pairs {
    join: PrefixJoin,
    /// The next record whose equal rows are paired.
    next_record: usize,
    batch: Vec<RecordPair>,
    next_in_batch: usize,
    /// The pair of records that is being expanded; a record with itself for equal rows.
    current: Option<RecordPair>,
    /// The next places among the rows of the two records.
    at: (usize, usize),
    given: u64,
}

impl Pairs {
    /// All pairs of `join`.
    pub fn new(join: PrefixJoin) -> Self {
        let next_record = if join.is_self_join() { 0 } else { join.left().len() };
        Self { join, next_record, batch: Vec::new(), next_in_batch: 0, current: None, at: (0, 0), given: 0 }
    }

    /// A number of pairs that are sure to come, known before the join is made: those of equal rows.
    pub fn certain(&self) -> u64 {
        (self.next_record..self.join.left().len())
            .filter(|&record| self.equals_pass(record))
            .map(|record| {
                let rows = self.join.left().rows(record).len() as u64;
                rows * (rows - 1) / 2
            })
            .fold(0, u64::saturating_add)
    }

    /// Whether rows with this same set are pairs.
    fn equals_pass(&self, record: usize) -> bool {
        let size = self.join.left().size(record);
        self.join.predicate().passes(size, size, size)
    }

    /// The next pair; none after the last. Takes O(1) except where the join has to go on: then as
    /// long as a batch of it takes.
    pub fn next(&mut self, workers: &dyn Workers) -> Result<Option<Pair>> {
        loop {
            if let Some(pair) = self.take() {
                return Ok(Some(pair));
            }
            if !self.advance(workers)? {
                return Ok(None);
            }
        }
    }

    /// The next pair of the present two records; none when [`Pairs::advance`] has to be called. O(1).
    #[inline]
    pub fn take(&mut self) -> Option<Pair> {
        let RecordPair { left, right, similarity } = self.current?;
        let lefts = self.join.left().rows(left as usize);
        let rights = self.join.right().rows(right as usize);
        let same = self.join.is_self_join() && left == right;
        if self.at.1 == rights.len() {
            let next = self.at.0 + 1;
            self.at = (next, if same { next + 1 } else { 0 });
        }
        let (Some(&left), Some(&right)) = (lefts.get(self.at.0), rights.get(self.at.1)) else {
            self.current = None;
            return None;
        };
        self.at.1 += 1;
        self.given += 1;
        Some(Pair { left, right, similarity })
    }

    /// Goes on to the next two records; false if there are none. Joins a batch where it has to.
    pub fn advance(&mut self, workers: &dyn Workers) -> Result<bool> {
        while self.next_record < self.join.left().len() {
            let record = self.next_record;
            self.next_record += 1;
            if self.join.left().rows(record).len() > 1 && self.equals_pass(record) {
                let (record, size) = (record as u32, self.join.left().size(record));
                let similarity = self.join.predicate().similarity(size, size, size);
                self.current = Some(RecordPair { left: record, right: record, similarity });
                self.at = (0, 1);
                return Ok(true);
            }
        }
        while self.next_in_batch == self.batch.len() {
            self.next_in_batch = 0;
            match self.join.next_batch(workers)? {
                Some(batch) => self.batch = batch,
                None => {
                    self.batch = Vec::new();
                    return Ok(false);
                }
            }
        }
        self.current = Some(self.batch[self.next_in_batch]);
        self.next_in_batch += 1;
        self.at = (0, 0);
        Ok(true)
    }

    /// What the filters did so far.
    pub fn counts(&self) -> Counts {
        self.join.counts()
    }

    /// How many pairs were given.
    pub fn given(&self) -> u64 {
        self.given
    }

    /// The share of the join that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        self.join.progress()
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.join.bytes() + crate::memory::bytes(&self.batch)
    }
}
