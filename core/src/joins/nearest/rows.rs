//! The nearest rows of each row, from the nearest of each record.

use std::collections::VecDeque;
use std::sync::Arc;

use super::block::Block;
use super::found::{Beside, FoundRows, NearestRow};
use super::index::RecordIndex;
use super::pieces::{NearestSearch, PieceSearch};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::dictionary::weights::RankedTokens;
use crate::features::sets::members::Members;
use crate::features::sets::order::Ordered;
use crate::joins::Counts;
use crate::joins::grouped_rows::GroupedRows;
use crate::memory;

const DOING: &str = "finding the nearest";

/// The nearest rows of all rows, row by row, and for each row the most similar one first.
#[derive(Debug)]
pub struct NearestRows {
    origin: NearestOrigin,
    counts: Counts,
    given: u64,
}

/// The source of the rows.
#[derive(Debug)]
enum NearestOrigin {
    /// A search among all rows.
    Searched(Box<RecordIndex>, FoundRows),
    /// A search piece by piece.
    InPieces(Box<PieceSearch>, FoundRows),
    /// What was found in each group of rows, and the next rows of it.
    Grouped(GroupedRows<NearestRow>, VecDeque<NearestRow>),
}

impl NearestRows {
    /// Prepares the search for the nearest rows of each row, piece by piece if an index takes
    /// more than about `budget` bytes. `order` has the rows in the order of their ids: of equally
    /// similar rows, those of the first ids are the nearest. `across` has the source of each row if
    /// only those of different sources are near each other.
    pub fn new(
        ordered: Ordered,
        how: NearestSearch,
        order: Vec<u32>,
        across: Option<&[u32]>,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<Self> {
        /// So much of the memory that each call may take beyond its budget is a piece.
        const LEAST: usize = 8 << 20;
        let Ordered { left: mut table, shared_tokens, weights, .. } = ordered;
        let tokens = RankedTokens { count: shared_tokens, weights };
        let ranks = ranks(table.members, &order, executor)?;
        let of_ranks = |across: &[u32]| memory::collect(order.iter().map(|&row| across[row as usize]), DOING);
        let sources = across.map(of_ranks).transpose()?.map(Arc::new);
        let k = how.k.min(order.len());
        let how = NearestSearch { k, sources, ..how };
        let room = (budget / 4).max(budget.min(LEAST));
        let pieces = how.pieces(&table.store, budget, room, executor)?;
        let mut found = FoundRows::new(k, order);
        let origin = if pieces.len() > 1 {
            table.members = ranks;
            let search = PieceSearch { how, table, tokens, pieces, next: 0, index: None };
            NearestOrigin::InPieces(Box::new(search), found)
        } else {
            let records = table.store.take()?;
            let all = 0..records.len();
            let (index, todo) = how.index(records, ranks, tokens, all, executor)?;
            found.todo = todo;
            NearestOrigin::Searched(Box::new(index), found)
        };
        Ok(Self { origin, counts: Counts::default(), given: 0 })
    }

    /// Gives what was found in each group of rows.
    pub(crate) fn of_groups(rows: GroupedRows<NearestRow>, counts: Counts) -> Self {
        Self { origin: NearestOrigin::Grouped(rows, VecDeque::new()), counts, given: 0 }
    }

    /// Returns the next row that was already found, or `None` when [`NearestRows::advance`] has to
    /// be called. O(1) amortised.
    pub fn take(&mut self) -> Option<NearestRow> {
        let row = match &mut self.origin {
            NearestOrigin::Searched(index, found) => found.take(index),
            NearestOrigin::InPieces(search, found) => found.take(search.index.as_ref()?),
            NearestOrigin::Grouped(_, batch) => batch.pop_front(),
        }?;
        self.given += 1;
        Some(row)
    }

    /// Searches for some more records. Returns false when all are done.
    pub fn advance(&mut self, executor: &dyn Executor) -> Result<bool> {
        self.advance_beside(executor, &mut |_, _| {})
    }

    /// Does the same as [`NearestRows::advance`]. Meanwhile it calls `beside` in the calling
    /// thread, so that the rows that are found can be taken.
    pub fn advance_beside(&mut self, executor: &dyn Executor, beside: &mut Beside<'_>) -> Result<bool> {
        let Self { origin, counts, given } = self;
        let (index, found) = match origin {
            NearestOrigin::Searched(index, found) => (&*index, found),
            NearestOrigin::InPieces(search, found) => {
                // The rows of a piece are taken before its index makes room for the next one.
                if let Some(index) = search.index.as_ref().filter(|_| !found.batch.is_empty()) {
                    executor.check_interrupts()?;
                    beside(search.progress(), &mut || found.take(index).inspect(|_| *given += 1));
                    return Ok(true);
                }
                return search.advance(found, counts, executor, beside);
            }
            NearestOrigin::Grouped(rows, batch) => {
                let Some(more) = rows.next_batch(executor)? else { return Ok(false) };
                memory::attempt(DOING, || batch.try_reserve(more.len()))?;
                batch.extend(more);
                return Ok(true);
            }
        };
        let mut batch = found.next_blocks(index, executor);
        let work = |block: &mut Block, stop: &Stop| block.work(index, stop);
        batch.work(work, executor, &mut |arrived| {
            found.add(arrived);
            beside(found.progress(), &mut || found.take(index).inspect(|_| *given += 1));
        })?;
        found.add(&batch.arrived);
        batch.counts().for_each(|more| counts.add(more));
        Ok(!batch.is_empty())
    }

    /// Takes all rows that are not taken yet.
    pub fn for_each(
        &mut self,
        executor: &dyn Executor,
        mut each: impl FnMut(NearestRow) -> Result<()>,
    ) -> Result<()> {
        loop {
            while let Some(row) = self.take() {
                each(row)?;
            }
            if !self.advance(executor)? {
                return Ok(());
            }
        }
    }

    /// Returns what the filters have counted so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns how many rows were given so far.
    pub fn given(&self) -> u64 {
        self.given
    }

    /// Returns the share of the work that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        match &self.origin {
            NearestOrigin::Searched(_, found) => found.progress(),
            NearestOrigin::InPieces(search, _) => search.progress(),
            NearestOrigin::Grouped(rows, _) => rows.progress(),
        }
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        match &self.origin {
            NearestOrigin::Searched(index, found) => index.bytes() + found.bytes(),
            NearestOrigin::InPieces(search, found) => search.bytes() + found.bytes(),
            NearestOrigin::Grouped(rows, _) => rows.bytes(),
        }
    }
}

/// Replaces the rows of each record by their places in the order of the ids, ascending.
fn ranks(mut members: Members, order: &[u32], executor: &dyn Executor) -> Result<Members> {
    let mut places = memory::filled(0, order.len(), DOING)?;
    (0..).zip(order).for_each(|(place, &row)| places[row as usize] = place);
    executor::one(executor, &mut members, |members, stop| members.sort_each(&places, stop))?;
    // Rows are numbered with 32 bits.
    members.replace(|row| places[row as usize] as u32);
    Ok(members)
}
