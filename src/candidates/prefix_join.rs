//! The exact join of distinct sets: prefix, size and positional filter, then verification (PPJoin;
//! ppjoin-similarity-joins.txt, sections 3 and 4; algorithms.md section 8).
//!
//! The index is built whole before the first probe, over the short indexing prefixes; a probe of a
//! self-join reads only postings of records before its own. So probes are independent of each
//! other, and any number of threads gives the same pairs and the same counts.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Mutex;

use super::bounds::{Bounds, Side};
use super::index::{Index, Posting};
use crate::error::Result;
use crate::features::order::{Ordered, Records};
use crate::memory;
use crate::verify::measure::Predicate;
use crate::verify::overlap::shared_at_least;
use crate::workers::{self, Stop, Workers};

const DOING: &str = "joining";

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

/// What the filters did, in pairs of distinct records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pairs that share a token of their prefixes and whose sizes go together.
    pub candidates: u64,
    /// Postings passed over because the sizes do not go together.
    pub pruned_by_size: u64,
    /// Candidates that the positions of a shared token ruled out.
    pub pruned_by_position: u64,
    /// Candidates whose tokens were compared.
    pub verified: u64,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.candidates += other.candidates;
        self.pruned_by_size += other.pruned_by_size;
        self.pruned_by_position += other.pruned_by_position;
        self.verified += other.verified;
    }
}

/// A join on its way.
#[derive(Debug)]
pub struct PrefixJoin {
    sides: Sides,
    /// Ranges of probes that are still to be made, in order.
    todo: VecDeque<Range<usize>>,
    spare: Vec<Scratch>,
    counts: Counts,
}

/// What probes read.
#[derive(Debug)]
struct Sides {
    left: Records,
    right: Option<Records>,
    bounds: Bounds,
    index: Index,
    /// The different sizes of the indexed records, ascending, and each record's place among them.
    sizes: Vec<u32>,
    size_of: Vec<u32>,
    /// The length of the indexing prefix for each of `sizes`.
    prefixes: Vec<u32>,
}

/// Space for one probe after the other.
#[derive(Debug, Default)]
struct Scratch {
    /// Shared tokens found so far of each indexed record, [`PRUNED`] for those ruled out.
    overlaps: Vec<u32>,
    touched: Vec<u32>,
    /// Least overlaps of the present probe's size with each of [`Sides::sizes`].
    least: Vec<u32>,
    least_for: Option<u32>,
}

const PRUNED: u32 = u32::MAX;

impl PrefixJoin {
    /// Prepares the join: builds the index of the right table, or of the only one.
    pub fn new(ordered: Ordered, predicate: Predicate, workers: &dyn Workers) -> Result<Self> {
        let Ordered { left, right, shared_tokens, .. } = ordered;
        let bounds = Bounds::new(predicate);
        let largest_left = left.sizes().last().copied().unwrap_or(0);
        let indexed = right.as_ref().unwrap_or(&left);
        let mut sizes: Vec<u32> = Vec::new();
        let mut prefixes = Vec::new();
        let mut size_of = Vec::new();
        memory::reserve(&mut size_of, indexed.len(), DOING)?;
        for &size in indexed.sizes() {
            if sizes.last() != Some(&size) {
                let least_partner = match right {
                    Some(_) => bounds.partner_sizes(Side::Right, size, largest_left).map(|p| *p.start()),
                    // Who probes is not smaller.
                    None => Some(size),
                };
                let prefix = least_partner.map_or(0, |least| bounds.prefix(Side::Right, size, least));
                memory::push(&mut sizes, size, DOING)?;
                memory::push(&mut prefixes, prefix, DOING)?;
            }
            size_of.push(sizes.len() as u32 - 1);
        }
        let prefix = |record: usize| prefixes[size_of[record] as usize];
        let index = Index::build(indexed, shared_tokens, prefix, workers)?;
        const PROBES_A_UNIT: usize = 256;
        let probes = left.len();
        let todo =
            (0..probes).step_by(PROBES_A_UNIT).map(|from| from..probes.min(from + PROBES_A_UNIT)).collect();
        let sides = Sides { left, right, bounds, index, sizes, size_of, prefixes };
        Ok(Self { sides, todo, spare: Vec::new(), counts: Counts::default() })
    }

    /// The next pairs, in an order that depends on the records alone; none when the join is done. A
    /// batch may be empty. Its
    /// size is bounded, whatever the number of pairs: a few million pairs at most.
    pub fn next_batch(&mut self, workers: &dyn Workers) -> Result<Option<Vec<RecordPair>>> {
        const UNITS_A_BATCH: usize = 64;
        struct Unit {
            probes: Range<usize>,
            pairs: Vec<RecordPair>,
            counts: Counts,
        }
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
        let take = || spare.lock().map_or_else(|_| None, |mut spare| spare.pop());
        workers::each(workers, &mut units, |unit, stop| {
            const ENOUGH: usize = 1 << 16;
            let mut scratch = match take() {
                Some(scratch) => scratch,
                None => self.sides.scratch()?,
            };
            while !unit.probes.is_empty() && unit.pairs.len() < ENOUGH {
                let (kept, counts) = (unit.pairs.len(), unit.counts);
                let probe = unit.probes.start;
                let probed = self.sides.probe(probe, &mut scratch, stop, &mut unit.pairs, &mut unit.counts);
                scratch.forget();
                if let Err(error) = probed {
                    // The probe is made again from its beginning.
                    unit.pairs.truncate(kept);
                    unit.counts = counts;
                    return Err(error);
                }
                unit.probes.start += 1;
            }
            if let Ok(mut spare) = spare.lock() {
                spare.push(scratch);
            }
            Ok(())
        })?;
        self.spare = spare.into_inner().unwrap_or_default();
        let mut batch = Vec::new();
        memory::reserve(&mut batch, units.iter().map(|unit| unit.pairs.len()).sum(), DOING)?;
        for unit in units.into_iter() {
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
        self.sides.bounds.predicate()
    }

    /// The records that probe.
    pub fn left(&self) -> &Records {
        &self.sides.left
    }

    /// The records that are found: of the right table, or of the only one.
    pub fn right(&self) -> &Records {
        self.sides.right.as_ref().unwrap_or(&self.sides.left)
    }

    /// Whether a table is joined with itself.
    pub fn is_self_join(&self) -> bool {
        self.sides.right.is_none()
    }

    /// The share of probes that are made, 0 to 1.
    pub fn progress(&self) -> f64 {
        let todo: usize = self.todo.iter().map(Range::len).sum();
        1.0 - todo as f64 / self.sides.left.len().max(1) as f64
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let Sides { left, right, index, sizes, size_of, prefixes, .. } = &self.sides;
        left.bytes()
            + right.as_ref().map_or(0, Records::bytes)
            + index.bytes()
            + memory::bytes(sizes)
            + memory::bytes(size_of)
            + memory::bytes(prefixes)
            + self.spare.iter().map(Scratch::bytes).sum::<usize>()
    }
}

impl Scratch {
    /// Makes ready for the next probe, in time proportional to what the last one touched.
    fn forget(&mut self) {
        for record in self.touched.drain(..) {
            self.overlaps[record as usize] = 0;
        }
    }

    fn bytes(&self) -> usize {
        memory::bytes(&self.overlaps) + memory::bytes(&self.touched) + memory::bytes(&self.least)
    }
}

impl Sides {
    fn indexed(&self) -> &Records {
        self.right.as_ref().unwrap_or(&self.left)
    }

    fn scratch(&self) -> Result<Scratch> {
        Ok(Scratch {
            overlaps: memory::filled(0, self.indexed().len(), DOING)?,
            least: memory::filled(0, self.sizes.len(), DOING)?,
            ..Scratch::default()
        })
    }

    /// The indexed records that a probe may be paired with by their size, and before itself in a
    /// self-join.
    fn partners(&self, probe: usize) -> Option<Range<u32>> {
        let largest = self.sizes.last().copied().unwrap_or(0);
        let sizes = self.bounds.partner_sizes(Side::Left, self.left.size(probe), largest)?;
        let all = self.indexed().sizes();
        let from = all.partition_point(|size| size < sizes.start());
        let to = match self.right {
            Some(_) => all.partition_point(|size| size <= sizes.end()),
            None => probe,
        };
        // Records are numbered with 32 bits.
        (from < to).then_some(from as u32..to as u32)
    }

    /// Finds all partners of one record of the left side.
    fn probe(
        &self,
        probe: usize,
        scratch: &mut Scratch,
        stop: &Stop,
        pairs: &mut Vec<RecordPair>,
        counts: &mut Counts,
    ) -> Result<()> {
        stop.check()?;
        let Some(partners) = self.partners(probe) else {
            return Ok(());
        };
        let size = self.left.size(probe);
        if scratch.least_for != Some(size) {
            self.fill_least_overlaps(size, &partners, scratch);
        }
        let tokens = self.left.tokens(probe);
        let lone = size - tokens.len() as u32;
        let least_partner = self.indexed().size(partners.start as usize);
        let prefix = self.bounds.prefix(Side::Left, size, least_partner).saturating_sub(lone) as usize;
        let prefix = prefix.min(tokens.len());
        for (position, &token) in (lone..).zip(&tokens[..prefix]) {
            let list = self.index.list(token);
            let from = list.partition_point(|posting| posting.record < partners.start);
            counts.pruned_by_size += from as u64;
            let list = &list[from..];
            let to = list.partition_point(|posting| posting.record < partners.end);
            self.count_shared(&list[..to], size - position, scratch, stop, counts)?;
        }
        for &partner in &scratch.touched {
            let found = scratch.overlaps[partner as usize];
            if found == PRUNED {
                continue;
            }
            stop.check()?;
            counts.verified += 1;
            let least = scratch.least[self.size_of[partner as usize] as usize];
            if let Some(shared) = self.verify(tokens, prefix, partner as usize, found, least) {
                let other = self.indexed().size(partner as usize);
                let similarity = self.bounds.predicate().similarity(shared, size, other);
                memory::push(pairs, RecordPair { left: probe as u32, right: partner, similarity }, DOING)?;
            }
        }
        Ok(())
    }

    /// Works the least overlaps out for all sizes of the partners; records of equal size, which
    /// follow one another, use them again.
    fn fill_least_overlaps(&self, size: u32, partners: &Range<u32>, scratch: &mut Scratch) {
        let last = match self.right {
            Some(_) => self.size_of[partners.end as usize - 1] as usize,
            None => self.sizes.partition_point(|&other| other < size),
        };
        for n in self.size_of[partners.start as usize] as usize..=last {
            let least = self.bounds.least_overlap(Side::Left, size, self.sizes[n]);
            scratch.least[n] = least.unwrap_or(PRUNED);
        }
        scratch.least_for = Some(size);
    }

    /// Counts one shared token for every posting, unless the tokens behind it, `rest` of the probe
    /// with this one, cannot reach the least overlap any more.
    fn count_shared(
        &self,
        list: &[Posting],
        rest: u32,
        scratch: &mut Scratch,
        stop: &Stop,
        counts: &mut Counts,
    ) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 12;
        let Scratch { overlaps, touched, least, .. } = scratch;
        for piece in list.chunks(CHECK_EVERY) {
            stop.check()?;
            memory::reserve(touched, piece.len(), DOING)?;
            for posting in piece {
                let overlap = &mut overlaps[posting.record as usize];
                if *overlap == PRUNED {
                    continue;
                }
                if *overlap == 0 {
                    counts.candidates += 1;
                    touched.push(posting.record);
                }
                let size = self.size_of[posting.record as usize] as usize;
                let possible = *overlap + rest.min(self.sizes[size] - posting.position);
                if possible >= least[size] {
                    *overlap += 1;
                } else {
                    *overlap = PRUNED;
                    counts.pruned_by_position += 1;
                }
            }
        }
        Ok(())
    }

    /// The shared tokens of a probe and a partner of which `found` are in both prefixes, if there
    /// are `least`. Starts behind the smaller of the two last prefix tokens: up to there all
    /// shared tokens are in both prefixes, so they are counted.
    fn verify(&self, tokens: &[u32], prefix: usize, partner: usize, found: u32, least: u32) -> Option<u32> {
        let others = self.indexed().tokens(partner);
        let size = self.size_of[partner] as usize;
        let lone = self.sizes[size] as usize - others.len();
        let other_prefix = (self.prefixes[size] as usize).saturating_sub(lone).min(others.len());
        let (last, other_last) = (tokens[prefix - 1], others[other_prefix - 1]);
        let (rest, other_rest) = if last < other_last {
            (&tokens[prefix..], &others[others[..other_prefix].partition_point(|&t| t <= last)..])
        } else {
            (&tokens[tokens[..prefix].partition_point(|&t| t <= other_last)..], &others[other_prefix..])
        };
        let more = shared_at_least(rest, other_rest, least.saturating_sub(found) as usize)?;
        Some(found + more as u32)
    }
}
