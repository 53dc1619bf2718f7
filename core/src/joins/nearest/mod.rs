//! The nearest of each: for every row the *k* rows that are the most similar to it, exactly (the
//! top-k join of sets: Xiao et al., Top-k Set Similarity Joins, ICDE 2009, for each record).
//!
//! There is no threshold. The similarity of the k-th best row that was found so far takes its
//! place: it bounds the sizes that better rows can have, and how many more of the record's tokens
//! have to be searched for ([`probe`]). Rows of equal sets are one record ([`rows`]), so their
//! number costs nothing. Some records are searched for together ([`block`]), and these blocks are
//! independent of each other, so any number of threads finds the same rows. The time depends on how
//! similar the k-th row is: a row that is not similar to anything is compared with all rows, by
//! counting the tokens that they share ([`count`]).

pub mod batch;
pub mod best;
pub mod block;
pub mod count;
pub mod index;
pub mod lists;
pub mod probe;
pub mod rows;
pub mod top;

use std::fmt::Debug;
use std::ops::Range;

use crate::error::Result;
use crate::executor::{Executor, Stop};
use crate::joins::Counts;
use crate::joins::sets::bounds::{Bounds, largest_but_few};
use crate::set_index::bitmap::Width;
use crate::verify::predicate::Predicate;
use batch::{Arrived, BlockBatch};
use block::Block;
use index::{IndexParts, RecordIndex};

/// In this time, in nanoseconds, a search by lists compares only few records, so that counting is
/// better if it does not take longer.
pub const SHORT: u64 = 8000;

/// A search for the nearest of all records.
#[derive(Debug)]
pub struct NearestSearch {
    index: Box<dyn Searches>,
    /// The records that are still to be searched for.
    todo: Range<usize>,
    counts: Counts,
}

impl NearestSearch {
    /// Prepares the search: lists the records of every token. O(all tokens).
    pub fn new(parts: IndexParts, executor: &dyn Executor) -> Result<Self> {
        let todo = 0..parts.records.len();
        macro_rules! index {
            ($words:literal) => {
                Box::new(RecordIndex::<$words>::new(parts, executor)?)
            };
        }
        let index: Box<dyn Searches> = match bitmap_words(&parts)? {
            0 | 1 => index!(1),
            2 => index!(2),
            4 => index!(4),
            8 => index!(8),
            16 => index!(16),
            _ => index!(32),
        };
        Ok(Self { index, todo, counts: Counts::default() })
    }

    /// Takes the next records, whose number is bounded: none when all are done.
    pub fn take(&mut self, executor: &dyn Executor) -> BlockBatch {
        /// The rows that are found in a batch for each thread, roughly.
        const PARTNERS: usize = 1 << 19;
        /// The blocks of a batch for each thread, at least: some take longer than others.
        const BLOCKS: usize = 4;
        let most = PARTNERS * executor.count() / self.index.wanted().max(1);
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
        batch.work(|block, stop| self.index.work(block, stop), executor, beside)
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
        self.index.ranks(record)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.index.bytes()
    }
}

/// An index, whatever the width of its bitmaps.
trait Searches: Debug + Send + Sync {
    /// Returns the first of these records, as many as are searched for together.
    fn block(&self, records: Range<usize>, threads: usize) -> Range<usize>;

    /// Searches for a block until it is done.
    fn work(&self, block: &mut Block, stop: &Stop) -> Result<()>;

    fn ranks(&self, record: usize) -> &[u32];

    /// Returns the number of rows to find for a record.
    fn wanted(&self) -> usize;

    fn bytes(&self) -> usize;
}

impl<const W: usize> Searches for RecordIndex<W> {
    fn block(&self, records: Range<usize>, threads: usize) -> Range<usize> {
        /// The more records are searched for together, the more of them use what is gathered.
        const TOKENS: usize = 1 << 20;
        const PARTNERS: usize = 1 << 18;
        /// Every thread gets some blocks.
        const BLOCKS: usize = 32;
        let all = self.records.len().div_ceil(BLOCKS * threads);
        let most = (PARTNERS / self.wanted.max(1)).clamp(1, all.max(1));
        let mut tokens = 0;
        let fit = records.clone().take(most).take_while(|&record| {
            tokens += self.records.tokens(record).len();
            tokens <= TOKENS
        });
        let count = fit.count().max(1).min(records.len());
        records.start..records.start + count
    }

    fn work(&self, block: &mut Block, stop: &Stop) -> Result<()> {
        block.work(self, stop)
    }

    fn ranks(&self, record: usize) -> &[u32] {
        self.ranks.rows(record)
    }

    fn wanted(&self) -> usize {
        self.wanted
    }

    fn bytes(&self) -> usize {
        Self::bytes(self)
    }
}

/// Returns the number of words of bitmaps that tell most records from the nearest ones, for the
/// sizes of nearly all records, weighted by their tokens. The nearest may have little in common, so
/// the bitmaps are wider than those of a join.
fn bitmap_words(parts: &IndexParts) -> Result<usize> {
    const LITTLE: f64 = 0.25;
    let bounds = Bounds::new(Predicate::new(parts.measure, LITTLE)?);
    let records = &parts.records;
    let of = |record: usize| (records.size(record), records.tokens(record).len() as u64);
    let size = largest_but_few((0..records.len()).map(of)).unwrap_or(1);
    Ok(bounds.bitmap_words(Width::SENT, size).unwrap_or(1))
}
