//! Finds the rows of segments that may have a run in common with a text.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::Range;

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

/// Up to so many rows, reading their texts takes less time than reading more lists.
const FEW: u64 = 16;
/// So many rows of a list are read to spare the text of one row.
const ROWS_A_TEXT: u64 = 256;

/// Calls `visit` with the rows of segments that may have a run in common with the query: those that
/// have one of the anchors that the query follows, or if these are many, all anchors of a run.
/// `signatures` are the signatures of all its anchors, in ascending order.
pub(super) fn search_runs(
    segments: &[Segment],
    signatures: &[u64],
    anchors: &QueryAnchors,
    mut visit: impl FnMut(u32, Row, &[u8]),
) -> Looked<()> {
    let mut counts: Vec<Vec<u64>> = Vec::new();
    for segment in segments {
        let mut rows = Vec::new();
        for &signature in signatures {
            pgrx::check_for_interrupts!();
            or_raise(memory::push(&mut rows, count(segment, signature)?, COLLECTING));
        }
        or_raise(memory::push(&mut counts, rows, COLLECTING));
    }
    // Every signature of an anchor is in the list.
    let numbers = anchors.anchors.iter().map(|anchor| signatures.binary_search(&anchor.hash).unwrap_or(0));
    let numbers: Vec<usize> = numbers.collect();
    let mut costs = Vec::new();
    for &n in &numbers {
        let sum = counts.iter().map(|rows| rows[n]).sum();
        or_raise(memory::push(&mut costs, sum, COLLECTING));
    }
    let Some(mut followed) = or_raise(anchors.cheapest(&costs)) else { return Ok(()) };
    followed.retain(|&n| costs[n] > 0);
    let most = followed.iter().map(|&n| costs[n]).fold(0, u64::saturating_add);
    let ranges = if most > FEW { or_raise(anchors.ranges()) } else { Vec::new() };
    for (segment, counts) in segments.iter().zip(&counts) {
        let mut found = RoaringBitmap::new();
        if most > FEW {
            let lists = Lists { segment, anchors, numbers: &numbers, counts, read: BTreeMap::new() };
            lists.with_all_of_a_range(&ranges, &mut found)?;
        } else {
            for &n in &followed {
                collect(segment, anchors.anchors[n].hash, &mut found)?;
            }
        }
        segment.look(found, &mut visit)?;
    }
    Ok(())
}

/// The lists of the anchors of a query in a segment.
struct Lists<'a> {
    segment: &'a Segment,
    anchors: &'a QueryAnchors,
    /// For each anchor, the number of its signature.
    numbers: &'a [usize],
    /// For each signature, the number of rows that have it.
    counts: &'a [u64],
    /// The lists that were read, by the number of the anchor.
    read: BTreeMap<usize, RoaringBitmap>,
}

impl Lists<'_> {
    /// Adds the rows that have all anchors of one of the ranges, which ascend. Very long lists are
    /// passed over, so some of the rows may lack some anchors.
    fn with_all_of_a_range(mut self, ranges: &[Range<usize>], found: &mut RoaringBitmap) -> Looked<()> {
        let mut order: Vec<usize> = Vec::new();
        for range in ranges {
            // Ranges overlap, and what only earlier ones have is not needed any more.
            self.read = self.read.split_off(&range.start);
            let rows = |n: usize| self.counts[self.numbers[n]];
            order.clear();
            or_raise(memory::reserve(&mut order, range.len(), COLLECTING));
            order.extend(range.clone());
            order.sort_unstable_by_key(|&n| rows(n));
            if order.first().is_none_or(|&n| rows(n) == 0) {
                continue;
            }
            let mut rest: Option<RoaringBitmap> = None;
            for &n in &order {
                let left = rest.as_ref().map_or(u64::MAX, RoaringBitmap::len);
                if left == 0 || self.counts[self.numbers[n]] / ROWS_A_TEXT > left {
                    break;
                }
                let list = self.list(n)?;
                match &mut rest {
                    Some(rest) => *rest &= list,
                    None => rest = Some(list.clone()),
                }
            }
            if let Some(rest) = rest {
                *found |= rest;
            }
        }
        Ok(())
    }

    /// Returns the rows that have an anchor.
    fn list(&mut self, n: usize) -> Looked<&RoaringBitmap> {
        match self.read.entry(n) {
            Entry::Occupied(list) => Ok(list.into_mut()),
            Entry::Vacant(place) => {
                let mut rows = RoaringBitmap::new();
                collect(self.segment, self.anchors.anchors[n].hash, &mut rows)?;
                Ok(place.insert(rows))
            }
        }
    }
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
