//! The comparison of the lists of one token after the other, by bitmaps, sizes and positions.

use std::cell::Cell;
use std::ops::Range;

use super::candidates::Candidate;
use super::entries::EntryLists;
use super::side::Shape;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::sets::records::SizeRuns;
use crate::joins::Counts;
use crate::joins::sets::bounds::Reach;
use crate::joins::sets::list::{TokenList, TokenProbe, plan_units};
use crate::memory;
use crate::simd::planes;
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
    pub(super) units: Vec<CompareUnit>,
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
        Self { tokens, raw, indexed, probing, with_itself, units: Vec::new() }
    }

    /// Sorts the entries and splits the work into units.
    pub(super) fn prepare(&mut self, stop: &Stop) -> Result<()> {
        self.indexed = EntryLists::new(&self.raw[0], &self.tokens, stop)?;
        self.probing = EntryLists::new(&self.raw[1], &self.tokens, stop)?;
        self.raw = [Vec::new(), Vec::new()];
        for with_itself in if self.with_itself { &[true, false][..] } else { &[false] } {
            let probes = self.probes(*with_itself);
            let planned = plan_units(
                probes.tokens(),
                |index| probes.start(index),
                |index| self.indexed.range(index).len(),
            )?;
            let planned = planned.into_iter().map(|todo| CompareUnit { with_itself: *with_itself, todo });
            memory::append(&mut self.units, planned, DOING)?;
        }
        Ok(())
    }

    fn probes(&self, with_itself: bool) -> &EntryLists<W> {
        if with_itself { &self.indexed } else { &self.probing }
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
        let Self { piece, unit: CompareUnit { with_itself, todo }, enough, candidates, counts } = self;
        let probes = piece.probes(*with_itself);
        let mut near = Vec::new();
        let kernel = planes::kernel::<W>();
        let mut index = if todo.start < todo.end { probes.index_of(todo.start) } else { 0 };
        while todo.start < todo.end && candidates.len() < *enough {
            let (own, range) = (probes.range(index), piece.indexed.range(index));
            let mut own_todo = todo.start..own.end.min(todo.end);
            if range.is_empty() {
                stop.check()?;
                own_todo.start = own_todo.end;
            }
            let own_planes = probes.planes(&own);
            let planes = piece.indexed.planes(&range);
            let list = TokenList { postings: &piece.indexed.postings[range], planes };
            let is_self_join = shapes.len() == 1;
            let [lefts, rights] = [&shapes[0].runs, &shapes[shapes.len() - 1].runs];
            let run = Cell::new(None);
            let probe = |at: usize| {
                let posting = probes.postings[at];
                let record = posting.record;
                let of_probe =
                    run.get().map_or_else(|| lefts.run_of(record), |run| lefts.run_from(run, record));
                run.set(Some(of_probe));
                let reach = sizes.reaches[of_probe];
                let end = if is_self_join { record } else { reach.end };
                let bitmap = own_planes.map(|plane| plane[at - own.start]);
                TokenProbe { posting, reach: Reach { end, ..reach }, bitmap }
            };
            let result = list.join(&mut own_todo, kernel, &mut near, stop, probe, |probe, near, pruned| {
                counts.pruned_by_bitmap += pruned;
                let probe = probe.posting;
                let before = probe.before_probe();
                let size = run.get().map_or(0, |run| lefts.sizes()[run]);
                for &place in near {
                    let posting = list.postings[place as usize];
                    // A pair that shares a rarer token is found at that token. Similar records
                    // mostly share one of the tokens just before this token, too.
                    if posting.met_before(&before) {
                        continue;
                    }
                    let rest = size - probe.place_at_least();
                    if is_near_enough(rights, posting.record, rest, posting.place_at_least(), size, sizes) {
                        let token = piece.indexed.token(index);
                        let candidate = Candidate { left: probe.record, right: posting.record, token };
                        memory::push(candidates, candidate, DOING)?;
                    } else {
                        counts.candidates += 1;
                        counts.pruned_by_position += 1;
                    }
                }
                Ok(candidates.len() >= *enough)
            });
            todo.start = own_todo.start;
            result?;
            index += 1;
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
