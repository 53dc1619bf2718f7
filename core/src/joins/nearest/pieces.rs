//! The search where an index of all records has no room in memory: some consecutive records are a
//! piece. Each piece is searched for in an index of two pieces, its own records and those of each
//! other piece in turn, and the best of what was found there is kept.
//!
//! The time is about twice that of a search with one index, and that of an index of two pieces for
//! each two pieces.

use std::ops::Range;
use std::sync::Arc;

use super::batch::Arrived;
use super::block::{Block, Nearest};
use super::found::{Beside, FoundRows};
use super::index::RecordIndex;
use super::sources::Sources;
use super::top::Partner;
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::features::dictionary::weights::RankedTokens;
use crate::features::sets::members::Members;
use crate::features::sets::records::{RECORD, Records};
use crate::features::sets::store::{RecordStore, RecordTable};
use crate::joins::Counts;
use crate::memory;
use crate::verify::measure::Measure;

const DOING: &str = "finding the nearest piece by piece";

/// How the nearest are searched for.
#[derive(Debug, Clone)]
pub struct NearestSearch {
    /// The measure.
    pub measure: Measure,
    /// The number of rows to find for each row.
    pub k: usize,
    /// Mostly [`super::SHORT`].
    pub short: u64,
    /// The source of each row by its rank, if only rows of different sources are compared.
    pub sources: Option<Arc<Vec<u32>>>,
}

impl NearestSearch {
    /// Returns the number of rows to find for a record, its own rows among them.
    fn wanted(&self) -> usize {
        self.k.saturating_add(1)
    }

    /// Makes the index of some records, and the numbers that those of the range `own` have in it.
    /// `ranks` has the ranks of the rows of each record.
    pub fn index(
        &self,
        mut records: Records,
        mut ranks: Members,
        tokens: RankedTokens,
        mut own: Range<usize>,
        executor: &dyn Executor,
    ) -> Result<(RecordIndex, Range<usize>)> {
        let mut sources = None;
        if let Some(of_ranks) = &self.sources {
            let (of_records, divided) = Sources::divide(ranks, of_ranks.clone(), executor)?;
            records = divided.records(records)?;
            own = divided.first(own.start)..divided.first(own.end);
            (ranks, sources) = (of_records, Some(divided));
        }
        let Self { measure, short, .. } = *self;
        let wanted = self.wanted();
        let mut index = RecordIndex::new(records, ranks, tokens, measure, wanted, short, executor)?;
        index.sources = sources;
        Ok((index, own))
    }

    /// Returns about how many bytes the search for a record takes that has so many tokens.
    fn bytes(&self, tokens: usize) -> usize {
        /// The columns of frequent tokens, and the places of rows.
        const OTHERS: usize = 200;
        let partners = self.wanted().saturating_mul(size_of::<Partner>());
        RECORD + 2 * tokens * size_of::<u32>() + OTHERS + partners
    }

    /// Returns the pieces of the records, each of which takes about `room` bytes; or one piece of
    /// all records, if these take no more than `budget` bytes.
    pub fn pieces(
        &self,
        store: &RecordStore,
        budget: usize,
        room: usize,
        executor: &dyn Executor,
    ) -> Result<Vec<Range<usize>>> {
        let (mut pieces, mut all, mut piece) = (Vec::new(), 0usize, 0..0);
        let mut taken = 0;
        for record in 0..store.len() {
            executor::breathe(executor, record, 1 << 14)?;
            let bytes = self.bytes(store.shared(record));
            if !piece.is_empty() && taken + bytes > room {
                memory::push(&mut pieces, std::mem::replace(&mut piece, record..record), DOING)?;
                taken = 0;
            }
            piece.end = record + 1;
            (taken, all) = (taken + bytes, all.saturating_add(bytes));
        }
        memory::push(&mut pieces, piece, DOING)?;
        if all <= budget {
            pieces.clear();
            pieces.push(0..store.len());
        }
        Ok(pieces)
    }
}

/// A search piece by piece.
#[derive(Debug)]
pub struct PieceSearch {
    /// How the nearest are searched for.
    pub how: NearestSearch,
    /// The records, and the ranks of their rows.
    pub table: RecordTable,
    /// The tokens of all records.
    pub tokens: RankedTokens,
    /// The pieces, of which there are at least two.
    pub pieces: Vec<Range<usize>>,
    /// The next piece to search for.
    pub next: usize,
    /// The last index with the piece whose rows are given.
    pub index: Option<RecordIndex>,
}

impl PieceSearch {
    /// Searches for the records of the next piece, and adds them to `found`. Returns false when all
    /// are done.
    pub fn advance(
        &mut self,
        found: &mut FoundRows,
        counts: &mut Counts,
        executor: &dyn Executor,
        beside: &mut Beside<'_>,
    ) -> Result<bool> {
        let (own, all) = (self.next, self.pieces.len());
        if own == all {
            return Ok(false);
        }
        let mut best = Nearest { first: 0, partners: Vec::new() };
        // The most similar records are of similar sizes.
        let mut others = memory::collect((0..all).filter(|&other| other != own), DOING)?;
        others.sort_by_key(|other| other.abs_diff(own));
        for (turn, other) in others.into_iter().enumerate() {
            let share = (own as f64 + turn as f64 / all as f64) / all as f64;
            // The memory of the last index is free before the next one is made.
            self.index = None;
            let (mut index, records) = self.index_with(own, other, executor)?;
            index.least = (records.start, self.worst(&best)?);
            best.first = records.start;
            found.todo = records;
            loop {
                let mut batch = found.next_blocks(&index, executor);
                if batch.is_empty() {
                    break;
                }
                let work = |block: &mut Block, stop: &Stop| block.work(&index, stop);
                batch.work(work, executor, &mut |_| beside(share, &mut || None))?;
                batch.counts().for_each(|more| counts.add(more));
                self.keep_best(&mut best, &batch.arrived)?;
            }
            self.index = Some(index);
        }
        found.batch.push_back(best);
        self.next += 1;
        Ok(true)
    }

    /// Makes the index of two pieces, and returns the numbers of the records of the first one in
    /// it.
    fn index_with(
        &mut self,
        own: usize,
        other: usize,
        executor: &dyn Executor,
    ) -> Result<(RecordIndex, Range<usize>)> {
        let Self { how, table, tokens, pieces, .. } = self;
        let both = [own.min(other), own.max(other)].map(|piece| pieces[piece].clone());
        let first = if own < other { 0 } else { both[0].len() };
        let mut ranks = Members::default();
        for record in both.iter().cloned().flatten() {
            ranks.push(table.members.rows(record))?;
        }
        let [low, high] = both;
        let mut records = table.store.load(low, Vec::new())?;
        records.append(table.store.load(high, Vec::new())?)?;
        let tokens = records.renumber(tokens, executor)?;
        how.index(records, ranks, tokens, first..first + pieces[own].len(), executor)
    }

    /// Returns the similarity of the worst row for each record that has as many rows as are wanted,
    /// and 0 for the others.
    fn worst(&self, best: &Nearest) -> Result<Vec<f64>> {
        let last = self.how.k;
        let worst = best.partners.iter().map(|kept| kept.get(last).map_or(0.0, |worst| worst.similarity()));
        memory::collect(worst, DOING)
    }

    /// Keeps the best of what is known and of what arrived.
    fn keep_best(&self, best: &mut Nearest, arrived: &Arrived) -> Result<()> {
        while let Some(Nearest { first, partners }) = arrived.take() {
            for (record, more) in (first - best.first..).zip(partners) {
                if record == best.partners.len() {
                    memory::push(&mut best.partners, Vec::new(), DOING)?;
                }
                let kept = &mut best.partners[record];
                memory::extend(kept, &more, DOING)?;
                // What is in the piece itself was found with each other piece.
                kept.sort_unstable();
                kept.dedup();
                kept.truncate(self.how.wanted());
            }
        }
        Ok(())
    }

    /// Returns the share of the work that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        self.next as f64 / self.pieces.len() as f64
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.table.bytes() + self.index.as_ref().map_or(0, RecordIndex::bytes)
    }
}
