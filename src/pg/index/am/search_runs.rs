//! Finds the rows of segments that may have a run in common with a text.

use roaring::RoaringBitmap;

use crate::pg::index::layout::items::Row;
use crate::pg::index::pages::buffer::Looked;
use crate::pg::index::storage::list_reader::Part;
use crate::pg::index::storage::segment::{COLLECTING, Segment};
use crate::pg::server::error::or_raise;
use neardup_core::joins::search::runs::cover::QueryAnchors;
use neardup_core::memory;

/// The number of row numbers of a list that are read at a time.
const WINDOW: u32 = 1 << 16;

/// Calls `visit` with the rows of segments that have one of the anchors that the query follows.
/// `signatures` are the signatures of all its anchors, in ascending order.
pub(super) fn search_runs(
    segments: &[Segment],
    signatures: &[u64],
    anchors: &QueryAnchors,
    mut visit: impl FnMut(u32, Row, &[u8]),
) -> Looked<()> {
    let mut rows = Vec::new();
    for &signature in signatures {
        pgrx::check_for_interrupts!();
        let mut sum = 0;
        for segment in segments {
            sum += count(segment, signature)?;
        }
        or_raise(memory::push(&mut rows, sum, COLLECTING));
    }
    // Every signature of an anchor is in the list.
    let cost = |signature: u64| signatures.binary_search(&signature).map_or(0, |n| rows[n]);
    let mut costs = Vec::new();
    for anchor in &anchors.anchors {
        or_raise(memory::push(&mut costs, cost(anchor.hash), COLLECTING));
    }
    let Some(mut followed) = or_raise(anchors.cheapest(&costs)) else { return Ok(()) };
    followed.retain(|&n| costs[n] > 0);
    for segment in segments {
        let mut found = RoaringBitmap::new();
        for &n in &followed {
            collect(segment, anchors.anchors[n].hash, &mut found)?;
        }
        segment.look(found, &mut visit)?;
    }
    Ok(())
}

/// Returns the class of a signature in a segment's lists.
fn class_of(segment: &Segment, signature: u64) -> u64 {
    signature >> (u64::BITS - segment.class_bits())
}

/// Returns the number of rows of a segment that have a signature.
fn count(segment: &Segment, signature: u64) -> Looked<u64> {
    let class = class_of(segment, signature);
    Part::of_class(segment, class)?.count_of(class)
}

/// Adds the rows of a segment that have a signature.
fn collect(segment: &Segment, signature: u64, found: &mut RoaringBitmap) -> Looked<()> {
    let class = class_of(segment, signature);
    let mut part = Part::of_class(segment, class)?;
    let (mut rows, mut end) = (Vec::new(), 0_u32);
    let mut more = part.find(class)?;
    while more {
        pgrx::check_for_interrupts!();
        end = end.saturating_add(WINDOW);
        rows.clear();
        more = part.rows_before(end, &mut rows)? && end < u32::MAX;
        found.extend(&rows);
    }
    Ok(())
}
