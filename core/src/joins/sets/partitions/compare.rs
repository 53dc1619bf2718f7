//! The comparison of the lists of one token after the other, by bitmaps, sizes and positions.

use std::collections::VecDeque;
use std::ops::Range;

use super::candidates::Candidate;
use super::entries::EntryLists;
use super::side::Shape;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::sets::size_runs::SizeRuns;
use crate::joins::Counts;
use crate::joins::sets::reach::Reach;
use crate::memory;
use crate::simd::planes::{self, PlanesKernel};
use crate::verify::predicate::Predicate;

const DOING: &str = "joining partitions";

/// What a comparison needs to know of the records: their sizes.
#[derive(Debug)]
pub(super) struct RecordSizes {
    pub(super) predicate: Predicate,
    /// For each run of equal sizes of the records that probe, the records that they may be paired
    /// with.
    pub(super) reaches: Vec<Reach>,
}

/// The entries of a partition, or of a part of it.
#[derive(Debug)]
pub(super) struct PartitionPiece<const W: usize> {
    tokens: Range<u32>,
    /// The entries that are indexed, and the entries that probe, before they are sorted.
    raw: [Vec<u64>; 2],
    indexed: EntryLists<W>,
    probing: EntryLists<W>,
    /// Whether the indexed entries probe, too.
    with_itself: bool,
    /// The tasks.
    pub(super) units: VecDeque<CompareUnit>,
}

/// A task: to compare some probes of a piece with its indexed entries.
#[derive(Debug, Clone)]
pub(super) struct CompareUnit {
    /// Whether the probes are indexed entries.
    with_itself: bool,
    /// The probes that are still to be compared, as places among all postings.
    todo: Range<usize>,
}

impl<const W: usize> PartitionPiece<W> {
    /// Creates a piece of the entries of these tokens.
    pub(super) fn new(tokens: Range<u32>, raw: [Vec<u64>; 2], with_itself: bool) -> Self {
        let (indexed, probing) = (EntryLists::default(), EntryLists::default());
        Self { tokens, raw, indexed, probing, with_itself, units: VecDeque::new() }
    }

    /// Sorts the entries and splits the work into units.
    pub(super) fn prepare(&mut self, stop: &Stop) -> Result<()> {
        self.indexed = EntryLists::new(&self.raw[0], &self.tokens, stop)?;
        self.probing = EntryLists::new(&self.raw[1], &self.tokens, stop)?;
        self.raw = [Vec::new(), Vec::new()];
        if self.with_itself {
            self.plan(true)?;
        }
        self.plan(false)
    }

    fn probes(&self, with_itself: bool) -> &EntryLists<W> {
        if with_itself { &self.indexed } else { &self.probing }
    }

    /// Splits the comparisons of some probes into ranges of about equal work.
    fn plan(&mut self, with_itself: bool) -> Result<()> {
        const COMPARISONS_A_UNIT: usize = 1 << 20;
        /// The cost of a probe in addition to its comparisons, given as a number of comparisons.
        const PROBE: usize = 16;
        let mut units = std::mem::take(&mut self.units);
        let probes = self.probes(with_itself);
        let (mut from, mut work) = (0, 0);
        for index in 0..probes.tokens() {
            let list = probes.range(index);
            let each = PROBE + self.indexed.range(index).len() / 2;
            let mut at = list.start;
            while at < list.end {
                let fit = (COMPARISONS_A_UNIT.saturating_sub(work) / each).max(1).min(list.end - at);
                at += fit;
                work += fit * each;
                if work >= COMPARISONS_A_UNIT || at == probes.postings.len() {
                    memory::attempt(DOING, || units.try_reserve(1))?;
                    units.push_back(CompareUnit { with_itself, todo: from..at });
                    (from, work) = (at, 0);
                }
            }
        }
        self.units = units;
        Ok(())
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.raw.iter().map(memory::bytes).sum::<usize>() + self.indexed.bytes() + self.probing.bytes()
    }
}

/// The work on a unit.
pub(super) struct UnitComparison<'a, const W: usize> {
    piece: &'a PartitionPiece<W>,
    unit: CompareUnit,
    /// The number of candidates after which the unit is left for later.
    enough: usize,
    pub(super) candidates: Vec<Candidate>,
    pub(super) counts: Counts,
}

impl<'a, const W: usize> UnitComparison<'a, W> {
    /// Prepares the work on a unit of a piece.
    pub(super) fn new(piece: &'a PartitionPiece<W>, unit: CompareUnit, enough: usize) -> Self {
        Self { piece, unit, enough, candidates: Vec::new(), counts: Counts::default() }
    }

    /// Returns what is left of the unit.
    pub(super) fn rest(&self) -> Option<CompareUnit> {
        Some(self.unit.clone()).filter(|unit| !unit.todo.is_empty())
    }

    /// Finds candidates until the unit is done or there are enough of them.
    pub(super) fn work(&mut self, sizes: &RecordSizes, shapes: &[&Shape], stop: &Stop) -> Result<()> {
        let probes = self.piece.probes(self.unit.with_itself);
        if self.unit.todo.is_empty() {
            return Ok(());
        }
        let mut index = probes.index_of(self.unit.todo.start);
        let mut near = Vec::new();
        let kernel = planes::kernel::<W>();
        while self.unit.todo.start < self.unit.todo.end && self.candidates.len() < self.enough {
            let list = probes.range(index);
            if self.piece.indexed.range(index).is_empty() {
                stop.check()?;
                self.unit.todo.start = list.end.min(self.unit.todo.end);
            } else if list.end > self.unit.todo.start {
                self.join_lists(index, kernel, sizes, shapes, &mut near, stop)?;
            }
            index += 1;
        }
        Ok(())
    }

    /// Compares the probes of one token, one after the other, with the indexed entries of the same
    /// token.
    fn join_lists(
        &mut self,
        index: usize,
        kernel: PlanesKernel<W>,
        sizes: &RecordSizes,
        shapes: &[&Shape],
        near: &mut Vec<u32>,
        stop: &Stop,
    ) -> Result<()> {
        let Self { piece, unit, candidates, counts, .. } = self;
        let probes = piece.probes(unit.with_itself);
        let is_self_join = shapes.len() == 1;
        let [lefts, rights] = [&shapes[0].runs, &shapes[shapes.len() - 1].runs];
        let own = probes.range(index);
        let own_planes = probes.planes(&own);
        let range = piece.indexed.range(index);
        let planes = piece.indexed.planes(&range);
        let list = &piece.indexed.postings[range];
        let token = piece.indexed.token(index);
        memory::reserve(near, list.len() + planes::IN_ADVANCE, DOING)?;
        // Each probe is at least as large as the one before it, so both ends of the range of
        // possible partners move up.
        let (mut from, mut to) = (0, 0);
        let mut run = None;
        while unit.todo.start < own.end.min(unit.todo.end) && candidates.len() < self.enough {
            stop.check()?;
            let at = unit.todo.start;
            let probe = probes.postings[at];
            unit.todo.start += 1;
            if is_self_join && list[0].record >= probe.record {
                continue;
            }
            let size_run =
                run.map_or_else(|| lefts.run_of(probe.record), |run| lefts.run_from(run, probe.record));
            run = Some(size_run);
            let reach = sizes.reaches[size_run];
            let end = if is_self_join { probe.record } else { reach.end };
            from += list[from..].partition_point(|posting| posting.record < reach.first);
            to = to.max(from);
            to += list[to..].iter().take_while(|posting| posting.record < end).count();
            if from == to {
                continue;
            }
            near.clear();
            stop.work(to - from);
            let bitmap = std::array::from_fn(|w| own_planes[w][at - own.start]);
            kernel(&bitmap, &planes.map(|plane| &plane[from..to]), reach.differ, from as u32, near);
            counts.pruned_by_bitmap += (to - from - near.len()) as u64;
            let before = probe.before_probe();
            let size = lefts.sizes()[size_run];
            for &place in near.iter() {
                let posting = list[place as usize];
                // A pair that shares a rarer token is found at that token. Similar records mostly
                // share one of the tokens just before this token, too.
                if posting.met_before(&before) {
                    continue;
                }
                let rest = size - probe.place_at_least();
                if is_near_enough(rights, posting.record, rest, posting.place_at_least(), size, sizes) {
                    let candidate = Candidate { left: probe.record, right: posting.record, token };
                    memory::push(candidates, candidate, DOING)?;
                } else {
                    counts.candidates += 1;
                    counts.pruned_by_position += 1;
                }
            }
        }
        Ok(())
    }
}

/// Reports whether the tokens from a shared token on suffice, if no rarer token is shared. The
/// probe has `size` tokens, `rest` of them from the shared token on; the partner has `place`
/// tokens before it.
#[inline]
fn is_near_enough(
    rights: &SizeRuns,
    partner: u32,
    rest: u32,
    place: u32,
    size: u32,
    sizes: &RecordSizes,
) -> bool {
    let other = rights.size(partner);
    let least = sizes.predicate.least_overlap(size, other);
    least.is_some_and(|least| rest.min(other - place) >= least)
}
