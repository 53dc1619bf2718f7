//! The exact join of distinct sets (algorithms.md section 8): prefix and size filter, then what the
//! chosen algorithm adds, then verification.
//!
//! The index is built whole before the first probe, over the short indexing prefixes; a probe of a
//! self-join reads only postings of records before its own. So probes are independent of each
//! other, and any number of threads gives the same pairs and the same counts.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Mutex;

use super::bitmap::words_for;
use super::bounds::Side;
use super::positional::{Filters, Positional};
use super::sides::{Needs, Sides};
use super::streaming::Streaming;
use crate::error::Result;
use crate::features::order::{Ordered, Records};
use crate::memory;
use crate::verify::measure::Predicate;
use crate::workers::{self, Stop, Workers};

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
    /// Pairs that share a token of their prefixes, whose sizes go together, and whose bitmaps do
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
    /// Candidates whose tokens were compared.
    pub verified: u64,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.candidates += other.candidates;
        self.pruned_by_size += other.pruned_by_size;
        self.pruned_by_bitmap += other.pruned_by_bitmap;
        self.pruned_by_position += other.pruned_by_position;
        self.pruned_by_suffix += other.pruned_by_suffix;
        self.verified += other.verified;
    }
}

/// An index, and how it is probed.
pub trait Prober: Debug + Send + Sync {
    /// Finds all partners of one record of the left side.
    fn probe(
        &self,
        sides: &Sides,
        probe: usize,
        scratch: &mut Scratch,
        stop: &Stop,
        pairs: &mut Vec<RecordPair>,
        counts: &mut Counts,
    ) -> Result<()>;

    /// Bytes on the heap.
    fn bytes(&self) -> usize;
}

/// Space for one probe after the other.
#[derive(Debug)]
pub struct Scratch {
    /// What the present probe needs of its partners.
    pub needs: Needs,
    /// A number for each indexed record: a count that [`Scratch::forget`] clears, or a stamp.
    pub marks: Vec<u32>,
    /// The records met by the present probe.
    pub touched: Vec<u32>,
    /// The stamp of the present probe.
    pub stamp: u32,
}

impl Scratch {
    fn new(sides: &Sides) -> Result<Self> {
        let marks = memory::filled(0, sides.indexed().len(), DOING)?;
        Ok(Self { needs: Needs::new(sides)?, marks, touched: Vec::new(), stamp: 0 })
    }

    /// Goes on to a stamp that no mark has.
    pub fn next_stamp(&mut self) {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            self.marks.fill(0);
            self.stamp = 1;
        }
    }

    /// Makes ready for the next probe, in time proportional to what the last one touched.
    fn forget(&mut self) {
        for record in self.touched.drain(..) {
            self.marks[record as usize] = 0;
        }
    }

    fn bytes(&self) -> usize {
        self.needs.bytes() + memory::bytes(&self.marks) + memory::bytes(&self.touched)
    }
}

/// A join on its way.
#[derive(Debug)]
pub struct PrefixJoin {
    sides: Sides,
    prober: Box<dyn Prober>,
    /// Ranges of probes that are still to be made.
    todo: VecDeque<Range<usize>>,
    spare: Vec<Scratch>,
    counts: Counts,
}

impl PrefixJoin {
    /// Prepares the join: builds the index of the right table, or of the only one.
    pub fn new(
        ordered: Ordered,
        predicate: Predicate,
        algorithm: Algorithm,
        workers: &dyn Workers,
    ) -> Result<Self> {
        const PROBES_A_UNIT: usize = 256;
        let sides = Sides::new(ordered, predicate)?;
        let prober = prober(&sides, algorithm, workers)?;
        let probes = sides.left().len();
        let todo =
            (0..probes).step_by(PROBES_A_UNIT).map(|from| from..probes.min(from + PROBES_A_UNIT)).collect();
        Ok(Self { sides, prober, todo, spare: Vec::new(), counts: Counts::default() })
    }

    /// The next pairs, in an order that depends on the records alone; none when the join is done. A
    /// batch may be empty. Its size is bounded, whatever the number of pairs: a few million pairs at
    /// most.
    pub fn next_batch(&mut self, workers: &dyn Workers) -> Result<Option<Vec<RecordPair>>> {
        const UNITS_A_BATCH: usize = 64;
        if self.todo.is_empty() {
            return Ok(None);
        }
        let units = self.todo.len().min(UNITS_A_BATCH);
        let mut units: Vec<Unit> = self
            .todo
            .drain(..units)
            .map(|probes| Unit { probes, pairs: Vec::new(), counts: Counts::default() })
            .collect();
        let spare = Mutex::new(std::mem::take(&mut self.spare));
        workers::each(workers, &mut units, |unit, stop| {
            let scratch = spare.lock().map_or_else(|_| None, |mut spare| spare.pop());
            let mut scratch = scratch.map_or_else(|| Scratch::new(&self.sides), Ok)?;
            unit.work(&self.sides, &*self.prober, &mut scratch, stop)?;
            if let Ok(mut spare) = spare.lock() {
                spare.push(scratch);
            }
            Ok(())
        })?;
        self.spare = spare.into_inner().unwrap_or_default();
        let mut batch = Vec::new();
        memory::reserve(&mut batch, units.iter().map(|unit| unit.pairs.len()).sum(), DOING)?;
        for unit in units {
            batch.extend_from_slice(&unit.pairs);
            self.counts.add(&unit.counts);
            if !unit.probes.is_empty() {
                self.todo.push_back(unit.probes);
            }
        }
        Ok(Some(batch))
    }

    /// What the filters did so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Which pairs are in.
    pub fn predicate(&self) -> &Predicate {
        self.sides.bounds().predicate()
    }

    /// The records that probe.
    pub fn left(&self) -> &Records {
        self.sides.left()
    }

    /// The records that are found: of the right table, or of the only one.
    pub fn right(&self) -> &Records {
        self.sides.indexed()
    }

    /// Whether a table is joined with itself.
    pub fn is_self_join(&self) -> bool {
        self.sides.is_self_join()
    }

    /// The share of probes that are made, 0 to 1.
    pub fn progress(&self) -> f64 {
        let todo: usize = self.todo.iter().map(Range::len).sum();
        1.0 - todo as f64 / self.sides.left().len().max(1) as f64
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.sides.bytes() + self.prober.bytes() + self.spare.iter().map(Scratch::bytes).sum::<usize>()
    }
}

/// Some probes, and what they found.
struct Unit {
    probes: Range<usize>,
    pairs: Vec<RecordPair>,
    counts: Counts,
}

impl Unit {
    /// Makes the probes, or so many that there are enough pairs.
    fn work(&mut self, sides: &Sides, prober: &dyn Prober, scratch: &mut Scratch, stop: &Stop) -> Result<()> {
        const ENOUGH: usize = 1 << 16;
        while !self.probes.is_empty() && self.pairs.len() < ENOUGH {
            stop.check()?;
            let (kept, counts) = (self.pairs.len(), self.counts);
            let probe = self.probes.start;
            let probed = prober.probe(sides, probe, scratch, stop, &mut self.pairs, &mut self.counts);
            scratch.forget();
            if let Err(error) = probed {
                // The probe is made again from its beginning.
                self.pairs.truncate(kept);
                self.counts = counts;
                return Err(error);
            }
            self.probes.start += 1;
        }
        Ok(())
    }
}

/// The index that the algorithm needs.
fn prober(sides: &Sides, algorithm: Algorithm, workers: &dyn Workers) -> Result<Box<dyn Prober>> {
    let filters = match algorithm {
        Algorithm::AllPairs => Filters::Size,
        Algorithm::PpJoin => Filters::Positional,
        Algorithm::PpJoinPlus(depth) => Filters::Suffix(depth),
        Algorithm::Auto => {
            return Ok(match bitmap_words(sides) {
                Some(1) => Box::new(Streaming::<1>::new(sides, workers)?),
                Some(2) => Box::new(Streaming::<2>::new(sides, workers)?),
                Some(4) => Box::new(Streaming::<4>::new(sides, workers)?),
                Some(_) => Box::new(Streaming::<8>::new(sides, workers)?),
                None => Box::new(Positional::new(sides, Filters::Positional, workers)?),
            });
        }
    };
    Ok(Box::new(Positional::new(sides, filters, workers)?))
}

/// How wide bitmaps have to be to rule out unrelated records of the size that most postings have;
/// none where no bitmap would.
fn bitmap_words(sides: &Sides) -> Option<usize> {
    let records = sides.indexed();
    let postings = |record: usize| sides.indexing_prefix(record).tokens.len() as u64;
    let half = (0..records.len()).map(postings).sum::<u64>() / 2;
    let mut seen = 0;
    let middle = (0..records.len()).find(|&record| {
        seen += postings(record);
        seen > half
    })?;
    let size = records.size(middle);
    let least = sides.bounds().least_overlap(Side::Left, size, size)?;
    words_for(size, 2 * (size - least))
}
