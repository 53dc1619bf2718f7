//! The rows that a search for the nearest has found, until they are given.

use std::collections::VecDeque;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::batch::{Arrived, BlockBatch};
use super::block::{Block, Nearest};
use super::index::RecordIndex;
use super::top::Partner;
use crate::executor::Executor;
use crate::joins::grouped_rows::GroupedRow;
use crate::memory;

/// A row, and one of the rows that are nearest to it.
///
/// Rows are numbered from 0. Similarities are above 0 and at most 1.
///
/// ```
/// use neardup_core::{Corpus, FeatureSpec, Measure};
///
/// let mut corpus = Corpus::of_texts(&["a b c", "a b d", "a b c d"]);
/// let nearest = corpus.nearest(FeatureSpec::WORDS, Measure::Jaccard, 1)?;
/// assert_eq!((nearest[0].row, nearest[0].nearest, nearest[0].similarity), (0, 2, 0.75));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Zeroable, Pod)]
#[repr(C)]
pub struct NearestRow {
    /// The row.
    pub row: u32,
    /// The row that is near to it.
    pub nearest: u32,
    /// The similarity of the two rows.
    pub similarity: f64,
    /// 1 for the nearest row, 2 for the next, and so on. It has 64 bits, so that no byte of a row
    /// is padding, and rows are written to files as they are.
    pub rank: u64,
}

impl GroupedRow for NearestRow {
    fn shift(&mut self, [left, right]: [u32; 2]) {
        self.row += left;
        self.nearest += right;
    }
}

/// What is called during a search: it gets the share of the work that is done, and a function that
/// returns the next row of those that were found.
pub type Beside<'a> = dyn FnMut(f64, &mut dyn FnMut() -> Option<NearestRow>) + 'a;

/// The rows that were found and not given yet.
#[derive(Debug)]
pub struct FoundRows {
    /// The records that are still to be searched for.
    pub todo: Range<usize>,
    k: usize,
    /// The rows in the order of their ids.
    order: Vec<u32>,
    /// What was found for some records.
    pub batch: VecDeque<Nearest>,
    /// The number of records that were searched for.
    records: usize,
    /// The next record of the first part of the batch, the next of its rows, and the next of the
    /// row's partners.
    at: (usize, usize, usize),
    /// The number of partners of the current row that were given.
    of_row: usize,
}

impl FoundRows {
    /// Starts without records to search for.
    pub fn new(k: usize, order: Vec<u32>) -> Self {
        Self { todo: 0..0, k, order, batch: VecDeque::new(), records: 0, at: (0, 0, 0), of_row: 0 }
    }

    /// Takes the next records to search for, whose number is bounded: none when all are done.
    pub fn next_blocks(&mut self, index: &RecordIndex, executor: &dyn Executor) -> BlockBatch {
        /// The rows that are found in a batch for each thread, roughly.
        const PARTNERS: usize = 1 << 19;
        /// The blocks of a batch for each thread, at least: some take longer than others.
        const BLOCKS: usize = 4;
        let most = PARTNERS * executor.count() / index.wanted.max(1);
        let mut blocks = Vec::new();
        let first = self.todo.start;
        while self.todo.start - first < most || blocks.len() < BLOCKS * executor.count() {
            let records = index.block(self.todo.clone(), executor.count());
            if records.is_empty() {
                break;
            }
            self.todo.start = records.end;
            blocks.push(Block::new(records));
        }
        BlockBatch::new(blocks)
    }

    /// Adds what was found for the next blocks.
    pub fn add(&mut self, arrived: &Arrived) {
        while let Some(mut nearest) = arrived.take() {
            // The best come first.
            nearest.partners.iter_mut().for_each(|partners| partners.sort_unstable());
            self.records += nearest.partners.len();
            self.batch.push_back(nearest);
        }
    }

    /// Returns the share of the records that were searched for, 0 to 1.
    pub fn progress(&self) -> f64 {
        if self.todo.end == 0 { 1.0 } else { self.records as f64 / self.todo.end as f64 }
    }

    /// Returns the next row.
    pub fn take(&mut self, index: &RecordIndex) -> Option<NearestRow> {
        loop {
            let Nearest { first, partners } = self.batch.front()?;
            let (record, row, partner) = self.at;
            let Some(found) = partners.get(record) else {
                self.batch.pop_front();
                self.at = (0, 0, 0);
                continue;
            };
            let ranks = index.ranks.rows(first + record);
            let Some(&own) = ranks.get(row) else {
                self.at = (record + 1, 0, 0);
                continue;
            };
            let next = found.get(partner).filter(|_| self.of_row < self.k);
            let Some(next) = next.copied() else {
                (self.at, self.of_row) = ((record, row + 1, 0), 0);
                continue;
            };
            self.at.2 += 1;
            if next.rank != own {
                return Some(self.give(own, next));
            }
        }
    }

    fn give(&mut self, own: u32, partner: Partner) -> NearestRow {
        self.of_row += 1;
        NearestRow {
            row: self.order[own as usize],
            nearest: self.order[partner.rank as usize],
            similarity: partner.similarity(),
            rank: self.of_row as u64,
        }
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        let of = |nearest: &Nearest| nearest.partners.iter().map(memory::bytes).sum::<usize>();
        memory::bytes(&self.order) + self.batch.iter().map(of).sum::<usize>()
    }
}
