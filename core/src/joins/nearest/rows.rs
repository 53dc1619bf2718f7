//! The nearest rows of each row, from the nearest of each record.

use std::collections::VecDeque;

use bytemuck::{Pod, Zeroable};

use super::NearestSearch;
use super::batch::Arrived;
use super::block::Nearest;
use super::index::IndexParts;
use super::top::Partner;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::sets::order::Ordered;
use crate::features::sets::records::Members;
use crate::joins::Counts;
use crate::joins::grouped_rows::{GroupedRow, GroupedRows};
use crate::memory;
use crate::verify::measure::Measure;

const DOING: &str = "finding the nearest";

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
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NearestRow {
    /// The row.
    pub row: u32,
    /// The row that is near to it.
    pub nearest: u32,
    /// The similarity of the two rows.
    pub similarity: f64,
    /// 1 for the nearest row, 2 for the next, and so on.
    pub rank: u32,
}

/// The nearest rows of all rows, row by row, and for each row the most similar one first.
#[derive(Debug)]
pub struct NearestRows(NearestOrigin);

/// The source of the rows.
#[derive(Debug)]
enum NearestOrigin {
    /// A search among all rows.
    Searched(Box<NearestSearch>, FoundRows),
    /// What was found in each group of rows.
    Grouped(NearestInGroups),
}

/// The nearest rows that were found in groups of rows.
#[derive(Debug)]
struct NearestInGroups {
    rows: GroupedRows<LoggedRow>,
    batch: VecDeque<NearestRow>,
    counts: Counts,
    given: u64,
}

/// A row of the result as it is kept.
#[derive(Debug, Clone, Copy, Zeroable, Pod)]
#[repr(C)]
pub(crate) struct LoggedRow {
    row: u32,
    nearest: u32,
    rank: u32,
    _unused: u32,
    similarity: f64,
}

impl From<NearestRow> for LoggedRow {
    fn from(NearestRow { row, nearest, similarity, rank }: NearestRow) -> Self {
        Self { row, nearest, rank, _unused: 0, similarity }
    }
}

impl GroupedRow for LoggedRow {
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
struct FoundRows {
    k: usize,
    /// The rows in the order of their ids.
    order: Vec<u32>,
    batch: VecDeque<Nearest>,
    /// The number of records that were searched for.
    records: usize,
    /// The next record of the first part of the batch, the next of its rows, and the next of the
    /// row's partners.
    at: (usize, usize, usize),
    /// The number of partners of the current row that were given.
    of_row: u32,
    given: u64,
}

impl NearestRows {
    /// Prepares the search for the `k` nearest rows of each row. `order` has the rows in the order
    /// of their ids: of equally similar rows, those of the first ids are the nearest.
    /// `short` is mostly [`super::SHORT`].
    pub fn new(
        ordered: Ordered,
        measure: Measure,
        k: usize,
        order: Vec<u32>,
        short: u64,
        executor: &dyn Executor,
    ) -> Result<Self> {
        let Ordered { left: mut table, shared_tokens, .. } = ordered;
        let ranks = ranks(table.members, &order, executor)?;
        let wanted = k.min(order.len()).saturating_add(1);
        let records = table.store.take()?;
        let parts = IndexParts { records, ranks, tokens: shared_tokens, measure, wanted, short };
        let search = NearestSearch::new(parts, executor)?;
        let found =
            FoundRows { k, order, batch: VecDeque::new(), records: 0, at: (0, 0, 0), of_row: 0, given: 0 };
        Ok(Self(NearestOrigin::Searched(Box::new(search), found)))
    }

    /// Gives what was found in each group of rows.
    pub(crate) fn of_groups(rows: GroupedRows<LoggedRow>, counts: Counts) -> Self {
        Self(NearestOrigin::Grouped(NearestInGroups { rows, batch: VecDeque::new(), counts, given: 0 }))
    }

    /// Returns the next row that was already found, or `None` when [`NearestRows::advance`] has to
    /// be called. O(1) amortised.
    pub fn take(&mut self) -> Option<NearestRow> {
        match &mut self.0 {
            NearestOrigin::Searched(search, found) => found.take(search),
            NearestOrigin::Grouped(found) => found.take(),
        }
    }

    /// Searches for some more records. Returns false when all are done.
    pub fn advance(&mut self, executor: &dyn Executor) -> Result<bool> {
        self.advance_beside(executor, &mut |_, _| {})
    }

    /// Does the same as [`NearestRows::advance`]. Meanwhile it calls `beside` in the calling
    /// thread, so that the rows that are found can be taken.
    pub fn advance_beside(&mut self, executor: &dyn Executor, beside: &mut Beside<'_>) -> Result<bool> {
        let (search, found) = match &mut self.0 {
            NearestOrigin::Searched(search, found) => (search, found),
            NearestOrigin::Grouped(found) => return found.advance(executor),
        };
        let mut batch = search.take(executor);
        search.work(&mut batch, executor, &mut |arrived| {
            found.add(arrived);
            beside(found.progress(search), &mut || found.take(search));
        })?;
        found.add(batch.arrived());
        search.count(&batch);
        Ok(!batch.is_empty())
    }

    /// Returns what the filters have counted so far.
    pub fn counts(&self) -> Counts {
        match &self.0 {
            NearestOrigin::Searched(search, _) => search.counts(),
            NearestOrigin::Grouped(found) => found.counts,
        }
    }

    /// Returns how many rows were given so far.
    pub fn given(&self) -> u64 {
        match &self.0 {
            NearestOrigin::Searched(_, found) => found.given,
            NearestOrigin::Grouped(found) => found.given,
        }
    }

    /// Returns the share of the work that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        match &self.0 {
            NearestOrigin::Searched(search, found) => found.progress(search),
            NearestOrigin::Grouped(found) => found.rows.progress(),
        }
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            NearestOrigin::Searched(search, found) => search.bytes() + found.bytes(),
            NearestOrigin::Grouped(found) => found.rows.bytes(),
        }
    }
}

impl NearestInGroups {
    fn take(&mut self) -> Option<NearestRow> {
        let row = self.batch.pop_front()?;
        self.given += 1;
        Some(row)
    }

    fn advance(&mut self, executor: &dyn Executor) -> Result<bool> {
        let Some(batch) = self.rows.next_batch(executor)? else { return Ok(false) };
        memory::attempt(DOING, || self.batch.try_reserve(batch.len()))?;
        self.batch.extend(batch.into_iter().map(|LoggedRow { row, nearest, rank, similarity, .. }| {
            NearestRow { row, nearest, similarity, rank }
        }));
        Ok(true)
    }
}

impl FoundRows {
    /// Adds what was found for the next blocks.
    fn add(&mut self, arrived: &Arrived) {
        while let Some(mut nearest) = arrived.take() {
            // The best come first.
            nearest.partners.iter_mut().for_each(|partners| partners.sort_unstable());
            self.records += nearest.partners.len();
            self.batch.push_back(nearest);
        }
    }

    fn progress(&self, search: &NearestSearch) -> f64 {
        if search.records() == 0 { 1.0 } else { self.records as f64 / search.records() as f64 }
    }

    /// Returns the next row.
    fn take(&mut self, search: &NearestSearch) -> Option<NearestRow> {
        loop {
            let Nearest { first, partners } = self.batch.front()?;
            let (record, row, partner) = self.at;
            let Some(found) = partners.get(record) else {
                self.batch.pop_front();
                self.at = (0, 0, 0);
                continue;
            };
            let ranks = search.ranks(first + record);
            let Some(&own) = ranks.get(row) else {
                self.at = (record + 1, 0, 0);
                continue;
            };
            let next = found.get(partner).filter(|_| (self.of_row as usize) < self.k);
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
        self.given += 1;
        NearestRow {
            row: self.order[own as usize],
            nearest: self.order[partner.rank as usize],
            similarity: partner.similarity(),
            rank: self.of_row,
        }
    }

    fn bytes(&self) -> usize {
        let of = |nearest: &Nearest| nearest.partners.iter().map(memory::bytes).sum::<usize>();
        memory::bytes(&self.order) + self.batch.iter().map(of).sum::<usize>()
    }
}

/// Replaces the rows of each record by their places in the order of the ids, ascending.
fn ranks(members: Members, order: &[u32], executor: &dyn Executor) -> Result<Members> {
    let mut places = memory::filled(0, order.len(), DOING)?;
    // Rows are numbered with 32 bits.
    (0..).zip(order).for_each(|(place, &row)| places[row as usize] = place);
    let (mut ranks, mut starts) = (Vec::new(), Vec::new());
    memory::reserve(&mut ranks, order.len(), DOING)?;
    memory::reserve(&mut starts, members.len() + 1, DOING)?;
    starts.push(0);
    let mut making = (0, ranks, starts);
    executor::one(executor, &mut making, |(record, ranks, starts), stop| {
        while *record < members.len() {
            stop.check()?;
            let from = ranks.len();
            memory::append(ranks, members.rows(*record).iter().map(|&row| places[row as usize]), DOING)?;
            executor::sort_unstable_by(&mut ranks[from..], stop, &u32::cmp)
                .inspect_err(|_| ranks.truncate(from))?;
            starts.push(ranks.len() as u32);
            *record += 1;
        }
        Ok(())
    })?;
    let (_, ranks, starts) = making;
    Ok(Members::new(ranks, starts))
}
