//! The state of a search for strings in a segment.

use std::cell::Cell;

use super::reading::{FoundRow, Taker, WantedRows};
use super::row_counts::RowCounts;
use crate::pg::index::families::grams::item::{counts_of, sizes_of, start_of};
use crate::pg::index::families::probe::{GramProbe, step_of};
use crate::pg::index::layout::items::HeapRow;
use crate::pg::index::pages::buffer::Looked;
use crate::pg::index::storage::segment::{COLLECTING, Segment};
use crate::pg::server::error::or_raise;
use neardup_core::error::Result;
use neardup_core::memory;
use neardup_core::search::edit_ball::{EditBall, characters};
use neardup_core::search::edit_bounds::EditBounds;
use neardup_core::verify::edit::similarity;

/// The number of rows whose common elements are counted at a time.
pub(super) const WINDOW: u32 = 1 << 24;
/// At most this many rows are looked at before [`Taker::settle`] is called.
pub(super) const UNSETTLED: usize = 1 << 12;

/// A search of a segment.
pub(super) struct SegmentSearch<'a> {
    pub segment: &'a Segment,
    pub probe: &'a GramProbe,
    /// Compares the starts of strings, if the ball is one by edit distance.
    pub edits: Option<&'a Edits>,
    /// The distinct elements of the sought string, and how often it has each.
    pub weights: &'a [(u32, u16)],
    pub wanted: WantedRows,
    /// The greatest step of a distance that is still wanted.
    pub greatest: u64,
    /// How many elements each row of a group is known to share.
    pub counts: RowCounts,
    /// A buffer for rows to be looked at.
    pub rows: Vec<u32>,
}

impl SegmentSearch<'_> {
    /// Gives those of the rows in the buffer, which ascend, to `taker` that are wanted as far as
    /// the index tells. `shared` returns how many elements a row shares, or fewer.
    pub(super) fn give(
        &mut self,
        shared: impl Fn(&RowCounts, u32) -> u32,
        taker: &mut dyn Taker,
    ) -> Looked<()> {
        let Self { segment, probe, edits, greatest, counts, rows, .. } = self;
        for rows in rows.chunks(UNSETTLED) {
            segment.look(rows.iter().copied(), |number, row, head| {
                if !row.has(HeapRow::DEAD | HeapRow::NULL)
                    && let Some(found) = judge(probe, *edits, row, head, shared(counts, number), *greatest)
                {
                    *greatest = taker.row(found);
                }
            })?;
            *greatest = taker.settle().unwrap_or(*greatest);
        }
        Ok(())
    }

    /// Makes room in the buffer for so many rows.
    pub(super) fn clear_rows(&mut self, count: usize) {
        self.rows.clear();
        or_raise(memory::reserve(&mut self.rows, count, COLLECTING));
    }
}

/// Compares the strings of rows with the middle of a ball by edit distance.
pub(super) struct Edits {
    bounds: EditBounds,
    /// For a string of so many characters, a step, and the least distance that the string cannot
    /// have if it is in the ball and not farther than the step.
    ends: [Cell<(u64, u32)>; 256],
}

impl Edits {
    /// Prepares the comparison.
    pub(super) fn new(ball: &EditBall<'_>) -> Result<Self> {
        // No step is so great.
        Ok(Self { bounds: EditBounds::new(ball)?, ends: [const { Cell::new((u64::MAX - 1, 0)) }; 256] })
    }

    #[inline]
    fn end(&self, characters: u32, greatest: u64) -> u32 {
        let find =
            || self.bounds.end_of_distances(characters, |similar| u64::from(step_of(similar)) <= greatest);
        let Some(known) = self.ends.get(characters as usize) else { return find() };
        if known.get().0 != greatest {
            known.set((greatest, find()));
        }
        known.get().1
    }
}

/// Returns what is known of a row with these bytes next to it that shares `shared` elements, or
/// perhaps fewer. Returns None if the row is not in the ball or, by edit distance, farther than the
/// step `greatest`.
pub(super) fn judge(
    probe: &GramProbe,
    edits: Option<&Edits>,
    row: HeapRow,
    head: &[u8],
    shared: u32,
    greatest: u64,
) -> Option<FoundRow<'static>> {
    let string = sizes_of(head);
    let (Some(edits), Some(demand)) = (edits, probe.demand.edit()) else {
        let accepted = probe.demand.accepts(string, shared);
        return accepted
            .then(|| FoundRow::near(row, step_of(probe.demand.similarity(string, shared)).into()));
    };
    let (end, bounds) = (edits.end(string.characters, greatest), &edits.bounds);
    // What takes least time comes first.
    let by_counts = bounds.least_by_counts(&counts_of(head), string.characters);
    if by_counts >= end {
        return None;
    }
    let by_grams = demand.distance(string, shared);
    if by_grams >= end {
        return None;
    }
    let start = start_of(head);
    let distance = bounds.least_by_start(start, string.characters).max(by_counts).max(by_grams);
    let is_exact = bounds.is_exact() && characters(start) == string.characters;
    let step = || step_of(similarity(distance, bounds.longer(string.characters))).into();
    (distance < end).then(|| FoundRow { is_exact, ..FoundRow::near(row, step()) })
}
