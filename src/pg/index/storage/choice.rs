//! Chooses the segments that are merged into one.

use crate::pg::index::layout::format::{Descriptor, MOST_SEGMENTS};
use crate::pg::index::layout::items::SignaturePair;

/// The least number of segments of the same order of magnitude that are merged.
const FAN: usize = 8;
/// If an index has at least this many segments, an insert also merges large segments.
const CROWDED: usize = MOST_SEGMENTS - 2 * FAN;
/// The largest number of rows of a segment.
const MOST_ROWS: u64 = (SignaturePair::LIST - 1) as u64;

/// Chooses the segments that an insert merges: small segments that together have at most 16 times
/// `pages` pages. If there are too many segments, chooses the smallest ones, however large they
/// are.
pub(crate) fn of_insert(segments: &[Descriptor], pages: u64) -> Option<Vec<Descriptor>> {
    if segments.len() >= CROWDED {
        return smallest(segments);
    }
    let due = tier(segments)?;
    let all: u64 = due.iter().map(|segment| u64::from(segment.pages)).sum();
    (all <= 16 * pages).then_some(due)
}

/// Chooses the segments that VACUUM merges: the segments that are due or, if none are due, one
/// segment with many dead rows, which VACUUM then rewrites.
pub(crate) fn of_vacuum(segments: &[Descriptor]) -> Option<Vec<Descriptor>> {
    let decaying = segments.iter().find(|segment| segment.dead > 0 && segment.dead >= segment.rows / 5);
    tier(segments).or_else(|| decaying.map(|&segment| vec![segment]))
}

/// Chooses all segments, if merging them changes anything.
pub(crate) fn of_all(segments: &[Descriptor]) -> Option<Vec<Descriptor>> {
    let worth = segments.len() > 1 || segments.iter().any(|segment| segment.dead > 0);
    worth.then(|| fitting(segments.to_vec()))
}

/// Chooses the smallest segments, to make room in the directory.
pub(crate) fn smallest(segments: &[Descriptor]) -> Option<Vec<Descriptor>> {
    let mut sorted = segments.to_vec();
    sorted.sort_by_key(|segment| segment.pages);
    sorted.truncate(2 * FAN);
    let chosen = fitting(sorted);
    (chosen.len() > 1).then_some(chosen)
}

/// Returns the segments of the lowest order of magnitude that has enough of them.
fn tier(segments: &[Descriptor]) -> Option<Vec<Descriptor>> {
    let of = |segment: &Descriptor| segment.pages.max(1).ilog2() / 3;
    (0..=10).find_map(|tier| {
        let chosen: Vec<_> = segments.iter().copied().filter(|segment| of(segment) == tier).collect();
        let chosen = if chosen.len() >= FAN { fitting(chosen) } else { Vec::new() };
        (chosen.len() > 1).then_some(chosen)
    })
}

/// Returns the longest run of these segments, from the first one on, whose rows can be numbered in
/// one segment.
fn fitting(segments: Vec<Descriptor>) -> Vec<Descriptor> {
    let mut rows = 0;
    let fits = |segment: &Descriptor| {
        rows += u64::from(segment.rows);
        rows <= MOST_ROWS
    };
    segments.into_iter().take_while(fits).collect()
}
