//! The exact join of distinct sets (docs/design/algorithms.md section 8): prefix and size filter,
//! then the filters of the chosen algorithm, then verification.
//!
//! The index is complete before the first probe, and in a self-join a record is paired only with
//! records before it. So tasks are independent of each other, and any number of threads gives the
//! same pairs and the same counts.

pub mod bitmap;
pub mod bitmap_join;
pub mod blocks;
pub mod bounds;
pub mod engine;
pub mod inputs;
pub mod list;
pub mod near_pairs;
pub mod partitions;
pub mod positional;
pub mod posting;
pub mod postings;
pub mod set_join;

use std::collections::VecDeque;
use std::ops::Range;

use crate::error::Result;
use crate::executor::{self, Executor, Pool};
use crate::joins::{Algorithm, Counts, RecordPair};
use crate::memory;
use crate::set_index::bitmap::Width;
use bitmap_join::BitmapJoin;
use bounds::largest_but_few;
use engine::{Engine, ProbeScratch};
use inputs::Inputs;
use near_pairs::FoundPairs;
use positional::{Filters, Positional};
use postings::Postings;

const DOING: &str = "joining";

/// A join in progress.
#[derive(Debug)]
pub struct PrefixJoin {
    inputs: Inputs,
    engine: Box<dyn Engine>,
    /// The tasks that are still to be done.
    todo: VecDeque<Range<usize>>,
    /// The amount of work when the join began.
    total: usize,
    /// The number of tasks of the last batch.
    units: usize,
    /// The number of pairs that a batch may have.
    most_pairs: usize,
    /// The number of pairs of the last batch.
    last_pairs: usize,
    scratch: Pool<ProbeScratch>,
    counts: Counts,
}

impl PrefixJoin {
    /// Prepares the join: builds the index of the records to be found. The pairs of a batch take a
    /// small part of `budget` bytes.
    pub fn new(inputs: Inputs, algorithm: Algorithm, budget: usize, executor: &dyn Executor) -> Result<Self> {
        const LEAST_PAIRS: usize = 1 << 10;
        const MOST_PAIRS: usize = 1 << 22;
        // The pairs are held twice for a moment, in lists that may be half empty.
        let most_pairs = (budget / 32 / size_of::<RecordPair>()).clamp(LEAST_PAIRS, MOST_PAIRS);
        let engine = engine(&inputs, algorithm, executor)?;
        let todo = VecDeque::from(engine.plan(&inputs)?);
        let total = todo.iter().map(Range::len).sum();
        let (scratch, counts) = (Pool::default(), Counts::default());
        Ok(Self { inputs, engine, todo, total, units: 2, most_pairs, last_pairs: 0, scratch, counts })
    }

    /// Returns the next pairs, in an order that depends only on the records, or `None` when the
    /// join is done. A batch may be empty. Its size is bounded regardless of the number of pairs.
    pub fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        const LARGEST_BATCH: usize = 64;
        /// A task ends at this number of pairs, so that its thread may go on with another one.
        const MOST_OF_A_TASK: usize = 1 << 16;
        if self.todo.is_empty() {
            return Ok(None);
        }
        // The first batches are small, so that the first pairs come soon. Later batches are larger,
        // because larger batches cost less per pair.
        // A task may find more pairs than are enough, because it ends between two probes. So
        // batches become smaller again where there are very many pairs.
        self.units = match self.last_pairs > self.most_pairs / 2 {
            true => (self.units / 2).max(1),
            false => (2 * self.units).min(LARGEST_BATCH),
        };
        let units = self.todo.len().min(self.units);
        let enough = (self.most_pairs / units).min(MOST_OF_A_TASK);
        let mut units: Vec<(Range<usize>, FoundPairs)> =
            self.todo.drain(..units).map(|todo| (todo, FoundPairs::up_to(enough))).collect();
        executor::each(executor, &mut units, |(todo, found), stop| {
            let new = || Ok(ProbeScratch::default());
            self.scratch.with(new, |scratch| self.engine.work(&self.inputs, todo, scratch, stop, found))
        })?;
        let mut batch = Vec::new();
        memory::reserve(&mut batch, units.iter().map(|(_, found)| found.pairs.len()).sum(), DOING)?;
        for (todo, found) in units {
            batch.extend_from_slice(&found.pairs);
            self.counts.add(&found.counts);
            if !todo.is_empty() {
                self.todo.push_back(todo);
            }
        }
        self.last_pairs = batch.len();
        Ok(Some(batch))
    }

    /// Returns what the filters have counted so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Returns the share of the work that is done, 0 to 1.
    pub fn progress(&self) -> f64 {
        let todo: usize = self.todo.iter().map(Range::len).sum();
        1.0 - todo as f64 / self.total.max(1) as f64
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.inputs.bytes() + self.engine.bytes() + self.scratch.bytes(ProbeScratch::bytes)
    }
}

/// Builds the engine of an algorithm, with its index.
fn engine(inputs: &Inputs, algorithm: Algorithm, executor: &dyn Executor) -> Result<Box<dyn Engine>> {
    let indexed = Postings::of_indexed(inputs, executor)?;
    let filters = match algorithm {
        Algorithm::AllPairs => Filters::Size,
        Algorithm::PpJoin => Filters::Positional,
        Algorithm::PpJoinPlus(depth) => Filters::Suffix(depth),
        Algorithm::Auto => {
            return match bitmap_words(inputs) {
                Some(1) => bitmap_join::<1>(inputs, indexed, executor),
                Some(2) => bitmap_join::<2>(inputs, indexed, executor),
                Some(4) => bitmap_join::<4>(inputs, indexed, executor),
                Some(_) => bitmap_join::<8>(inputs, indexed, executor),
                None => Ok(Box::new(Positional::new(indexed, Filters::Positional))),
            };
        }
    };
    Ok(Box::new(Positional::new(indexed, filters)))
}

/// Builds the engine with bitmaps of `W` words, unless a sample shows that bitmaps cost more than
/// they save. Counters are faster if records seldom meet, or if the same records meet again and
/// again.
fn bitmap_join<const W: usize>(
    inputs: &Inputs,
    indexed: Postings,
    executor: &dyn Executor,
) -> Result<Box<dyn Engine>> {
    const TOO_MANY_NEAR: f64 = 0.2;
    /// Records that probe with fewer tokens do not meet the same partners often.
    const SHORT_PREFIX: f64 = 8.0;
    /// The cost per flip of computing the bitmaps, and the cost per posting of building the lists
    /// of probes, each given as a number of comparisons.
    const A_FLIP: f64 = 0.03;
    const A_POSTING: f64 = 0.1;
    let sample = BitmapJoin::<W>::sample(inputs, &indexed, executor)?;
    let made = A_FLIP * inputs.all_flips() as f64 + A_POSTING * sample.postings;
    // Where tokens weigh, prefixes are of few rare tokens.
    let again = inputs.weights.each().is_none()
        && sample.near > TOO_MANY_NEAR * sample.comparisons
        && sample.postings > SHORT_PREFIX * inputs.left().len() as f64;
    // Comparisons grow with the square of the number of records, and the rest with the number.
    if again || sample.comparisons * executor.scale() < made {
        return Ok(Box::new(Positional::new(indexed, Filters::Positional)));
    }
    Ok(Box::new(BitmapJoin::<W>::new(inputs, indexed, executor)?))
}

/// Returns the number of words that bitmaps need to rule out unrelated records, for the record
/// sizes of nearly all postings, or `None` if no bitmap is wide enough. Larger sets may differ in
/// more tokens and need wider bitmaps. Where tokens weigh, few records meet, and bitmaps that are
/// too narrow for the largest ones are better than none.
fn bitmap_words(inputs: &Inputs) -> Option<usize> {
    let records = inputs.indexed();
    let postings = |record: usize| inputs.indexing_prefix(record).len() as u64;
    let size = largest_but_few((0..records.len()).map(|record| (records.size(record), postings(record))))?;
    inputs.bitmap_words(size).or_else(|| inputs.weights.each().map(|_| Width::IN_MEMORY.most()))
}
