//! The join of records that do not fit into memory with their index: in partitions of the tokens.
//!
//! The records are read once, and an entry for each token of their prefixes goes to the partition
//! of the token. An entry has the record's bitmap and the position of the token, not the set. The
//! entries of one partition after the other are then loaded and compared token by token. A pair
//! that they do not rule out is a candidate. When there are many candidates, the sets of their
//! records are read in ascending order and compared. A candidate counts only at the rarest token
//! that both records share, so each pair comes once.

mod candidates;
mod compare;
mod cut;
mod entries;
mod plan;
mod scatter;
mod side;
mod streams;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::VecDeque;

use super::bounds::{Bounds, SizesOfJoin};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::dictionary::weights::TokenWeights;
use crate::features::sets::store::RecordStore;
use crate::joins::Algorithm;
use crate::joins::{Counts, JoinedSets, RecordJoin, RecordPair};
use crate::memory;
use crate::storage::files::TempFiles;
use candidates::{Candidate, Verification};
use compare::{CompareUnit, PartitionPiece, RecordSizes, UnitComparison};
use cut::{Histogram, PartitionCut};
use entries::entry_words;
use plan::{PartitionPart, parts};
use scatter::{ScatterScratch, sample, scatter};
use side::{InputSide, Shape};
use streams::Streams;

const DOING: &str = "joining partitions";

/// A join of all records of one store with each other, or of two stores. Bitmaps have `W` words.
#[derive(Debug)]
pub struct PartitionJoin<const W: usize> {
    sides: Vec<InputSide>,
    sizes: RecordSizes,
    shared_tokens: usize,
    budget: usize,
    /// The entries of the partitions.
    streams: Streams,
    state: State,
    /// The parts that are loaded, and the units of work on them that are still to be done.
    pieces: Vec<PartitionPiece<W>>,
    units: VecDeque<(usize, CompareUnit)>,
    /// The number of words of the loaded parts, and of units that they had.
    loaded: [u64; 2],
    candidates: Vec<Candidate>,
    verification: Option<Verification>,
    counts: Counts,
}

/// How far a join is.
#[derive(Debug)]
enum State {
    /// Nothing is done.
    New,
    /// The entries of the records before `from` of a side are written.
    Writing { cut: PartitionCut, side: usize, from: usize, share: usize, space: ScatterScratch },
    /// The entries of all parts but these are compared, or are being compared.
    Comparing { cut: PartitionCut, todo: VecDeque<PartitionPart>, total: u64 },
}

impl<const W: usize> PartitionJoin<W> {
    /// Prepares a join that holds about as many bytes as the budget says, and at least the entries
    /// of one token and the sets of a few records.
    pub fn new(sets: JoinedSets, files: &dyn TempFiles) -> Result<Self> {
        let JoinedSets { left, right, shared_tokens, predicate, budget, .. } = sets;
        let bounds = Bounds::new(predicate);
        let runs = left.runs()?.into_owned();
        let right_runs = right.as_ref().map(RecordStore::runs).transpose()?.map(Cow::into_owned);
        let of_join = SizesOfJoin { bounds: &bounds, left: &runs, right: right_runs.as_ref() };
        let (reaches, indexing) = (of_join.reaches()?, of_join.indexing_prefixes()?);
        let none = |indexing: &[u32]| memory::filled(0, indexing.len(), DOING);
        let mut probing = none(runs.sizes())?;
        probing.iter_mut().zip(&reaches).for_each(|(prefix, reach)| *prefix = reach.prefix);
        let sides = match right.zip(right_runs) {
            None => vec![InputSide { store: left, shape: Shape { runs, indexing, probing } }],
            Some((right, right_runs)) => {
                let (no_indexing, no_probing) = (none(&probing)?, none(&indexing)?);
                let lefts = Shape { runs, indexing: no_indexing, probing };
                let rights = Shape { runs: right_runs, indexing, probing: no_probing };
                vec![InputSide { store: left, shape: lefts }, InputSide { store: right, shape: rights }]
            }
        };
        Ok(Self {
            sides,
            sizes: RecordSizes { predicate, reaches },
            shared_tokens,
            budget,
            streams: Streams::new(files)?,
            state: State::New,
            pieces: Vec::new(),
            units: VecDeque::new(),
            loaded: [0; 2],
            candidates: Vec::new(),
            verification: None,
            counts: Counts::default(),
        })
    }

    /// Chooses the partitions.
    fn begin(&mut self, executor: &dyn Executor) -> Result<State> {
        /// More tokens than this at a time are read no faster.
        const MOST_AT_ONCE: usize = 1 << 24;
        let entry = entry_words(W) * size_of::<u64>();
        let mut histogram = Histogram::new(self.shared_tokens);
        let scale = sample(&mut self.sides, &mut histogram, self.budget, executor)?;
        let cut = PartitionCut::new(&histogram, scale, entry, self.budget / 16);
        self.streams.open(2 * cut.tokens.len())?;
        // The bytes of entries for each byte of tokens.
        let [tokens, entries] = histogram.sampled;
        let each = (entries * entry as u64) as f64 / (tokens.max(1) * size_of::<u32>() as u64) as f64;
        let share = ((self.budget / 4) as f64 / (1.0 + each)) as usize;
        let share = share.min(MOST_AT_ONCE);
        Ok(State::Writing { cut, side: 0, from: 0, share, space: ScatterScratch::default() })
    }

    /// Does one step of what comes before the comparisons.
    fn prepare(&mut self, executor: &dyn Executor) -> Result<()> {
        match &mut self.state {
            State::New => self.state = self.begin(executor)?,
            State::Writing { cut, side, from, share, space } => {
                if let Some(own) = self.sides.get_mut(*side) {
                    if *from < own.shape.runs.records() {
                        *from = scatter::<W>(own, *from, *share, cut, &mut self.streams, space, executor)?;
                    } else {
                        (*side, *from) = (*side + 1, 0);
                    }
                    return Ok(());
                }
                let most = (self.budget / 4).max(2 * cut.target);
                let todo = parts::<W>(&mut self.streams, cut, &self.sizes, &self.sides, most, executor)?;
                let total = todo.iter().map(PartitionPart::words).sum();
                self.state = State::Comparing { cut: std::mem::take(cut), todo: todo.into(), total };
            }
            State::Comparing { .. } => {}
        }
        Ok(())
    }

    /// Loads the next parts, as many as fit into a quarter of the budget, and at least one.
    fn load(&mut self, executor: &dyn Executor) -> Result<()> {
        let State::Comparing { cut, todo, .. } = &mut self.state else { return Ok(()) };
        self.pieces.clear();
        let most = (self.budget / 4 / size_of::<u64>()) as u64;
        let mut words = 0;
        while let Some(part) = todo.front() {
            if words + part.words() > most && !self.pieces.is_empty() {
                break;
            }
            words += part.words();
            let [indexed, probing] = part.streams.clone();
            let mut read = |(stream, words): (usize, std::ops::Range<u64>)| {
                self.streams.read(stream, words.start, (words.end - words.start) as usize, executor)
            };
            let raw = [read(indexed)?, read(probing)?];
            let (tokens, with_itself) = (cut.tokens[part.partition].clone(), part.with_itself);
            memory::push(&mut self.pieces, PartitionPiece::new(tokens, raw, with_itself), DOING)?;
            todo.pop_front();
        }
        executor::each(executor, &mut self.pieces, PartitionPiece::prepare)?;
        let mut units = Vec::new();
        for (number, piece) in self.pieces.iter_mut().enumerate() {
            let of_piece = std::mem::take(&mut piece.units).into_iter().map(|unit| (number, unit));
            memory::append(&mut units, of_piece, DOING)?;
        }
        self.units = units.into();
        self.loaded = [words, self.units.len() as u64];
        Ok(())
    }

    /// Compares the entries of some units, and keeps the candidates.
    fn compare(&mut self, executor: &dyn Executor) -> Result<()> {
        const UNITS: usize = 64;
        let enough = self.most_candidates() / UNITS + 1;
        let count = self.units.len().min(UNITS);
        let mut units: Vec<_> = (self.units.drain(..count))
            .map(|(number, unit)| (number, UnitComparison::new(&self.pieces[number], unit, enough)))
            .collect();
        let sizes = &self.sizes;
        let shapes: Vec<&Shape> = self.sides.iter().map(|side| &side.shape).collect();
        executor::each(executor, &mut units, |(_, unit), stop| unit.work(sizes, &shapes, stop))?;
        for (number, unit) in units.into_iter().rev() {
            if let Some(rest) = unit.rest() {
                self.units.push_front((number, rest));
            }
            self.counts.add(&unit.counts);
            memory::extend(&mut self.candidates, &unit.candidates, DOING)?;
        }
        Ok(())
    }

    /// Returns the number of candidates that are verified together.
    fn most_candidates(&self) -> usize {
        self.budget / 8 / size_of::<Candidate>()
    }
}

impl<const W: usize> RecordJoin for PartitionJoin<W> {
    /// The order of the pairs depends only on the records and the budget.
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        if let Some(verification) = &mut self.verification {
            let found =
                verification.next(&mut self.sides, &self.sizes.predicate, self.budget / 4, executor)?;
            self.counts.add(&found.counts);
            if verification.is_done() {
                self.candidates = self.verification.take().map_or_else(Vec::new, Verification::into_space);
            }
            return Ok(Some(found.pairs));
        }
        let State::Comparing { todo, .. } = &self.state else {
            self.prepare(executor)?;
            return Ok(Some(Vec::new()));
        };
        let ended = self.units.is_empty() && todo.is_empty();
        if self.candidates.len() > self.most_candidates() || ended && !self.candidates.is_empty() {
            if ended {
                self.pieces = Vec::new();
            }
            let candidates = std::mem::take(&mut self.candidates);
            self.verification = Some(Verification::new(candidates, executor)?);
        } else if ended {
            return Ok(None);
        } else if self.units.is_empty() {
            self.load(executor)?;
        } else {
            self.compare(executor)?;
        }
        Ok(Some(Vec::new()))
    }

    fn counts(&self) -> Counts {
        self.counts
    }

    fn progress(&self) -> f64 {
        /// The share of the work that the partitions are, before they are compared.
        const WRITING: f64 = 0.3;
        match &self.state {
            State::New => 0.0,
            State::Writing { side, from, .. } => {
                let records = |side: &InputSide| side.shape.runs.records();
                let done: usize = self.sides[..*side].iter().map(records).sum::<usize>() + from;
                WRITING * done as f64 / self.sides.iter().map(records).sum::<usize>().max(1) as f64
            }
            State::Comparing { todo, total, .. } => {
                let [words, units] = self.loaded;
                let loaded = words as f64 * self.units.len() as f64 / units.max(1) as f64;
                let left = todo.iter().map(PartitionPart::words).sum::<u64>() as f64 + loaded;
                WRITING + (1.0 - WRITING) * (1.0 - left / (*total).max(1) as f64)
            }
        }
    }

    fn bytes(&self) -> usize {
        let space = if let State::Writing { space, .. } = &self.state { space.bytes() } else { 0 };
        space
            + self.streams.bytes()
            + self.sides.iter().map(InputSide::bytes).sum::<usize>()
            + self.pieces.iter().map(PartitionPiece::bytes).sum::<usize>()
            + memory::bytes(&self.candidates)
            + self.verification.as_ref().map_or(0, Verification::bytes)
    }

    fn take_sets(&mut self) -> Option<JoinedSets> {
        let Self { shared_tokens, budget, sizes: RecordSizes { predicate, .. }, .. } = *self;
        let ([side], State::New, true) = (&mut self.sides[..], &self.state, predicate.is_symmetric()) else {
            return None;
        };
        let (left, algorithm) = (side.store.take_all(), Algorithm::Auto);
        let weights = TokenWeights::default();
        Some(JoinedSets { left, right: None, shared_tokens, weights, predicate, algorithm, budget })
    }
}
