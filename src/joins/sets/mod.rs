//! The exact join of distinct sets (docs/design/algorithms.md section 8): prefix and size filter, then what the
//! chosen algorithm adds, then verification.
//!
//! The index is built whole before the first probe; in a self-join a record is paired only with
//! records before it. So pieces of work are independent of each other, and any number of threads
//! gives the same pairs and the same counts.

pub mod bitmap;
pub mod bitmap_join;
pub mod blocks;
pub mod bounds;
pub mod inputs;
pub mod popcount;
pub mod positional;
pub mod postings;
pub mod suffix;

use std::collections::VecDeque;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Mutex;

use crate::error::Result;
use crate::memory;
use crate::workers::{self, Stop, Workers};
use bitmap::words_for;
use bitmap_join::Streaming;
use bounds::Side;
use inputs::{Needs, Sides};
use positional::{Filters, List, Positional};
use postings::Lists;

const DOING: &str = "joining";

/// How candidates are found. The pairs are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Bitmaps where they tell records apart, else what suits the data.
    #[default]
    Auto,
    /// Prefix and size filter (Bayardo, Ma, Srikant, WWW 2007).
    AllPairs,
    /// And the positional filter.
    PpJoin,
    /// And the suffix filter, split so many times.
    PpJoinPlus(u32),
}

/// A pair of records that passes. In a self-join both are of the only table and `right` comes first
/// in the order of sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordPair {
    /// The record that probed.
    pub left: u32,
    /// The record that was found.
    pub right: u32,
    /// The similarity that is reported.
    pub similarity: f64,
}

/// What the filters did, in pairs of distinct records where nothing else is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pairs that share a token of their prefixes, whose sizes go together, and whose bitmaps do, too,
    /// where there are bitmaps.
    pub candidates: u64,
    /// Postings passed over because the sizes do not go together.
    pub pruned_by_size: u64,
    /// Postings whose bitmap ruled their record out.
    pub pruned_by_bitmap: u64,
    /// Candidates that the positions of a shared token ruled out.
    pub pruned_by_position: u64,
    /// Candidates that the suffix filter ruled out.
    pub pruned_by_suffix: u64,
    /// Candidates whose filtered sketches were too short.
    pub pruned_by_sketch: u64,
    /// Candidates whose tokens were compared, or whose texts were aligned.
    pub verified: u64,
    /// Signatures of too many documents, which were dropped.
    pub stop_signatures: u64,
    /// How many documents these had.
    pub stop_documents: u64,
    /// Buckets of signatures that too many records share, expanded in part.
    pub hot_buckets: u64,
    /// Records in these.
    pub hot_records: u64,
}

impl Counts {
    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.candidates += other.candidates;
        self.pruned_by_size += other.pruned_by_size;
        self.pruned_by_bitmap += other.pruned_by_bitmap;
        self.pruned_by_position += other.pruned_by_position;
        self.pruned_by_suffix += other.pruned_by_suffix;
        self.pruned_by_sketch += other.pruned_by_sketch;
        self.verified += other.verified;
        self.stop_signatures += other.stop_signatures;
        self.stop_documents += other.stop_documents;
        self.hot_buckets += other.hot_buckets;
        self.hot_records += other.hot_records;
    }
}

/// An index, and a way to find all pairs by it.
pub trait Engine: Debug + Send + Sync {
    /// All the work, in pieces of numbers that mean something to the engine.
    fn plan(&self, sides: &Sides) -> Result<VecDeque<Range<usize>>>;

    /// Does a piece of work, until it is done or enough pairs are found; `todo` becomes what is left
    /// of it, also after an error.
    fn work(
        &self,
        sides: &Sides,
        todo: &mut Range<usize>,
        scratch: &mut Scratch,
        stop: &Stop,
        found: &mut Found,
    ) -> Result<()>;

    /// Bytes on the heap.
    fn bytes(&self) -> usize;
}

/// What a piece of work found.
#[derive(Debug, Default)]
pub struct Found {
    /// The pairs, in the order they were found.
    pub pairs: Vec<RecordPair>,
    /// What the filters did.
    pub counts: Counts,
}

impl Found {
    /// Whether there are so many pairs that they should be handed on first.
    #[inline]
    pub fn is_enough(&self) -> bool {
        const ENOUGH: usize = 1 << 16;
        self.pairs.len() >= ENOUGH
    }
}

/// Space that one piece of work uses after the other.
#[derive(Debug)]
pub struct Scratch {
    /// What the present probe needs of its partners.
    pub needs: Needs,
    /// A count for each indexed record that the present probe met; zero between probes.
    pub marks: Vec<u32>,
    /// The records met by the present probe.
    pub touched: Vec<u32>,
    /// The lists of the present probe.
    pub lists: Vec<List>,
    /// Places of bitmaps that are near.
    pub near: Vec<u32>,
    /// Bitmaps of a list, one behind the other.
    pub bitmaps: Vec<u64>,
}

impl Scratch {
    fn new() -> Self {
        let (marks, touched, lists, near, bitmaps) = Default::default();
        Self { needs: Needs::default(), marks, touched, lists, near, bitmaps }
    }

    fn bytes(&self) -> usize {
        self.needs.bytes()
            + memory::bytes(&self.marks)
            + memory::bytes(&self.touched)
            + memory::bytes(&self.lists)
            + memory::bytes(&self.near)
            + memory::bytes(&self.bitmaps)
    }
}

/// A join on its way.
#[derive(Debug)]
pub struct PrefixJoin {
    sides: Sides,
    engine: Box<dyn Engine>,
    /// The pieces of work that are still to be done.
    todo: VecDeque<Range<usize>>,
    /// How much work there was at first.
    total: usize,
    /// How many pieces the last batch was made of.
    units: usize,
    spare: Vec<Scratch>,
    counts: Counts,
}

impl PrefixJoin {
    /// Prepares the join: builds the index of the records that are found.
    pub fn new(sides: Sides, algorithm: Algorithm, workers: &dyn Workers) -> Result<Self> {
        let engine = engine(&sides, algorithm, workers)?;
        let todo = engine.plan(&sides)?;
        let total = todo.iter().map(Range::len).sum();
        Ok(Self { sides, engine, todo, total, units: 2, spare: Vec::new(), counts: Counts::default() })
    }

    /// The next pairs, in an order that depends on the records alone; none when the join is done. A
    /// batch may be empty. Its size is bounded, whatever the number of pairs: a few million pairs at
    /// most.
    pub fn next_batch(&mut self, workers: &dyn Workers) -> Result<Option<Vec<RecordPair>>> {
        const LARGEST_BATCH: usize = 64;
        if self.todo.is_empty() {
            return Ok(None);
        }
        // The first pairs come soon, the others with less effort.
        self.units = (2 * self.units).min(LARGEST_BATCH);
        let units = self.todo.len().min(self.units);
        let mut units: Vec<(Range<usize>, Found)> =
            self.todo.drain(..units).map(|todo| (todo, Found::default())).collect();
        let spare = Mutex::new(std::mem::take(&mut self.spare));
        workers::each(workers, &mut units, |(todo, found), stop| {
            let scratch = spare.lock().map_or_else(|_| None, |mut spare| spare.pop());
            let mut scratch = scratch.unwrap_or_else(Scratch::new);
            self.engine.work(&self.sides, todo, &mut scratch, stop, found)?;
            if let Ok(mut spare) = spare.lock() {
                spare.push(scratch);
            }
            Ok(())
        })?;
        self.spare = spare.into_inner().unwrap_or_default();
        let mut batch = Vec::new();
        memory::reserve(&mut batch, units.iter().map(|(_, found)| found.pairs.len()).sum(), DOING)?;
        for (todo, found) in units {
            batch.extend_from_slice(&found.pairs);
            self.counts.add(&found.counts);
            if !todo.is_empty() {
                self.todo.push_back(todo);
            }
        }
        Ok(Some(batch))
    }

    /// What the filters did so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The share of the work that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        let todo: usize = self.todo.iter().map(Range::len).sum();
        1.0 - todo as f64 / self.total.max(1) as f64
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.sides.bytes() + self.engine.bytes() + self.spare.iter().map(Scratch::bytes).sum::<usize>()
    }
}

/// The engine of an algorithm, with its index.
fn engine(sides: &Sides, algorithm: Algorithm, workers: &dyn Workers) -> Result<Box<dyn Engine>> {
    let indexed = Lists::of_indexed(sides, workers)?;
    let filters = match algorithm {
        Algorithm::AllPairs => Filters::Size,
        Algorithm::PpJoin => Filters::Positional,
        Algorithm::PpJoinPlus(depth) => Filters::Suffix(depth),
        Algorithm::Auto => {
            return match bitmap_words(sides) {
                Some(1) => streaming::<1>(sides, indexed, workers),
                Some(2) => streaming::<2>(sides, indexed, workers),
                Some(4) => streaming::<4>(sides, indexed, workers),
                Some(_) => streaming::<8>(sides, indexed, workers),
                None => Ok(Box::new(Positional::new(indexed, Filters::Positional))),
            };
        }
    };
    Ok(Box::new(Positional::new(indexed, filters)))
}

/// The engine with bitmaps of `W` words, unless a sample shows that these cost more than they spare: where
/// records seldom meet, and where the same ones meet again and again, counters are faster.
fn streaming<const W: usize>(
    sides: &Sides,
    indexed: Lists,
    workers: &dyn Workers,
) -> Result<Box<dyn Engine>> {
    const TOO_MANY_NEAR: f64 = 0.2;
    /// What bitmaps take to be made and lists of probes take to be built, in comparisons.
    const A_TOKEN: f64 = 0.15;
    const A_POSTING: f64 = 0.5;
    let sample = Streaming::<W>::sample(sides, &indexed);
    let made = A_TOKEN * sides.tokens() as f64 + A_POSTING * sample.postings;
    if sample.near > TOO_MANY_NEAR * sample.comparisons || sample.comparisons < made {
        return Ok(Box::new(Positional::new(indexed, Filters::Positional)));
    }
    Ok(Box::new(Streaming::<W>::new(sides, indexed, workers)?))
}

/// How wide bitmaps have to be to rule out unrelated records of nearly all sizes that postings have;
/// none where no bitmap would. Larger sets may differ in more tokens and need wider ones.
fn bitmap_words(sides: &Sides) -> Option<usize> {
    let records = sides.indexed();
    let postings = |record: usize| sides.indexing_prefix(record).tokens.len() as u64;
    let nearly_all = (0..records.len()).map(postings).sum::<u64>() / 20 * 19;
    let mut seen = 0;
    let large = (0..records.len()).find(|&record| {
        seen += postings(record);
        seen > nearly_all
    })?;
    let size = records.size(large);
    let least = sides.bounds().least_overlap(Side::Left, size, size)?;
    words_for(size, 2 * (size - least))
}
