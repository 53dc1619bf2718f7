//! The state of a search for strings in a segment.

use std::cell::Cell;

use super::gram_counts::GramCounts;
use crate::pg::index::layout::items::HeapRow;
use crate::pg::index::families::grams::{GramProbe, counts_of, sizes_of, start_of};
use crate::pg::index::families::sets::probe::step_of;
use crate::pg::index::pages::buffer::Looked;
use crate::pg::index::storage::segment::Segment;
use neardup_core::error::Result;
use neardup_core::joins::search::edit_ball::{EditBall, characters};
use neardup_core::joins::search::edit_bounds::EditBounds;
use neardup_core::verify::edit::similarity;

/// The number of rows whose common elements are counted at a time.
pub(super) const WINDOW: u32 = 1 << 24;
/// At most this many rows are looked at before [`Taker::settle`] is called.
pub(super) const UNSETTLED: usize = 1 << 12;

/// What a search wants: every row in the ball, or rows in the order of their distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WantedRows {
    All,
    Nearest,
}

/// What takes the rows that a search finds.
pub(super) trait Taker {
    /// Takes a row whose string may be in the ball, perhaps more than once. Returns the greatest
    /// step of a distance that is still wanted. The page of the row is locked.
    fn row(&mut self, row: HeapRow, similar: Similar) -> u64;

    /// Is called again and again while no page is locked. Returns the greatest step of a distance
    /// that is still wanted if this has changed.
    fn settle(&mut self) -> Option<u64> {
        None
    }
}

impl<F: FnMut(HeapRow, f64) -> u64> Taker for F {
    fn row(&mut self, row: HeapRow, similar: Similar) -> u64 {
        self(row, similar.most)
    }
}

/// What the index tells of the similarity of a row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Similar {
    /// The greatest similarity that the row can have.
    pub most: f64,
    /// Set if this is its similarity.
    pub is_exact: bool,
}

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
    pub counts: GramCounts,
    /// The rows of a group that share enough elements.
    pub reached: Vec<u32>,
    /// A buffer for the rows of a list.
    pub rows: Vec<u32>,
}

impl SegmentSearch<'_> {
    /// Gives those of some rows to `each` that are wanted as far as the index tells. `shared`
    /// returns how many elements a row shares, or fewer.
    pub(super) fn give(
        &mut self,
        rows: impl IntoIterator<Item = u32>,
        shared: impl Fn(&GramCounts, u32) -> u32,
        each: &mut dyn Taker,
    ) -> Looked<()> {
        let Self { segment, probe, edits, greatest, counts, .. } = self;
        segment.look(rows, |number, row, head| {
            if !row.has(HeapRow::DEAD | HeapRow::NULL)
                && let Some(similar) = judge(probe, *edits, head, shared(counts, number), *greatest)
            {
                *greatest = each.row(row, similar);
            }
        })?;
        *greatest = each.settle().unwrap_or(*greatest);
        Ok(())
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
    head: &[u8],
    shared: u32,
    greatest: u64,
) -> Option<Similar> {
    let string = sizes_of(head);
    let (Some(edits), Some(demand)) = (edits, probe.demand.edit()) else {
        let accepted = probe.demand.accepts(string, shared);
        return accepted.then(|| Similar { most: probe.demand.similarity(string, shared), is_exact: false });
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
    (distance < end)
        .then(|| Similar { most: similarity(distance, bounds.longer(string.characters)), is_exact })
}
