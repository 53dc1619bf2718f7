//! The state of a search for strings in a segment.

use super::gram_counts::Counts;
use crate::pg::index::opclass::grams::GramProbe;
use crate::pg::index::storage::segment::Segment;

/// The number of rows whose common elements are counted at a time.
pub(super) const WINDOW: u32 = 1 << 24;

/// What a search wants: every row in the ball, or rows in the order of their distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    All,
    Nearest,
}

/// A search of a segment.
pub(super) struct Search<'a> {
    pub segment: &'a Segment,
    pub probe: &'a GramProbe,
    /// The distinct elements of the sought string, and how often it has each.
    pub weights: &'a [(u32, u16)],
    pub wanted: Wanted,
    /// The greatest step of a distance that is still wanted.
    pub greatest: u64,
    /// How many elements each row of a group is known to share.
    pub counts: Counts,
    /// The rows of a group that share enough elements.
    pub reached: Vec<u32>,
    /// A buffer for the rows of a list.
    pub rows: Vec<u32>,
}
