//! The nearest of each: for every row the *k* rows that are the most similar to it, exactly (the
//! top-k join of sets: Xiao et al., Top-k Set Similarity Joins, ICDE 2009, for each record).
//!
//! There is no threshold. The similarity of the k-th best row that was found so far takes its
//! place: it bounds the sizes that better rows can have, and how many more of the record's tokens
//! have to be searched for ([`probe`]). Rows of equal sets are one record ([`rows`]), so their
//! number costs nothing. Records are independent of each other, so any number of threads finds the
//! same rows; some of them are a task ([`block`]). The time depends on how similar the k-th row is:
//! a record that has very similar ones finds them in the lists of its rarest tokens, and one that
//! is not similar to anything is compared with all others, by counting the tokens that they share
//! ([`count`]).

pub mod batch;
pub mod best;
pub mod block;
pub mod count;
pub mod index;
pub mod lists;
pub mod probe;
pub mod rows;
pub mod top;

use std::ops::Range;

use crate::error::Result;
use crate::executor::Executor;
use crate::joins::Counts;
use batch::{Arrived, BlockBatch};
use block::Block;
use index::{IndexParts, RecordIndex};

/// In this time, in nanoseconds, a search by lists compares only few records, so that counting is
/// better if it does not take longer.
pub const SHORT: u64 = 8000;

/// A search for the nearest of all records.
#[derive(Debug)]
pub struct NearestSearch {
    index: RecordIndex,
    /// The records that are still to be searched for.
    todo: Range<usize>,
    counts: Counts,
}

impl NearestSearch {
    /// Prepares the search: lists the records of every token. O(all tokens).
    pub fn new(parts: IndexParts, executor: &dyn Executor) -> Result<Self> {
        let todo = 0..parts.records.len();
        let index = RecordIndex::new(parts, executor)?;
        Ok(Self { index, todo, counts: Counts::default() })
    }

    /// Takes the next records, whose number is bounded: none when all are done.
    pub fn take(&mut self, executor: &dyn Executor) -> BlockBatch {
        /// The rows that are found in a batch for each thread, roughly.
        const PARTNERS: usize = 1 << 19;
        /// The blocks of a batch for each thread, at least: some take longer than others.
        const BLOCKS: usize = 4;
        let most = PARTNERS * executor.count() / self.index.wanted.max(1);
        let mut blocks = Vec::new();
        let first = self.todo.start;
        while self.todo.start - first < most || blocks.len() < BLOCKS * executor.count() {
            let records = self.index.block(self.todo.clone(), executor.count());
            if records.is_empty() {
                break;
            }
            self.todo.start = records.end;
            blocks.push(Block::new(records));
        }
        BlockBatch::new(blocks)
    }

    /// Searches for the nearest of the records of a batch. Meanwhile it calls `beside` in the
    /// calling thread.
    pub fn work(
        &self,
        batch: &mut BlockBatch,
        executor: &dyn Executor,
        beside: &mut dyn FnMut(&Arrived),
    ) -> Result<()> {
        batch.work(|block, stop| block.work(&self.index, stop), executor, beside)
    }

    /// Takes over what was counted during the work on a batch.
    pub fn count(&mut self, batch: &BlockBatch) {
        batch.counts().for_each(|counts| self.counts.add(counts));
    }

    /// Returns what the filters have counted so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the number of records.
    pub fn records(&self) -> usize {
        self.todo.end
    }

    /// Returns the ranks of the rows of a record, ascending.
    pub fn ranks(&self, record: usize) -> &[u32] {
        self.index.ranks.rows(record)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.index.bytes()
    }
}
