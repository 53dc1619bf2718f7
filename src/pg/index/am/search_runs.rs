//! Finds the rows of segments that may have a run in common with a text.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use roaring::RoaringBitmap;

use super::row_counts::CountedLists;
use crate::pg::index::layout::items::HeapRow;
use crate::pg::index::pages::buffer::Looked;
use crate::pg::index::storage::list_reader::{GlancedLists, PartReader};
use crate::pg::index::storage::segment::{COLLECTING, Segment};
use crate::pg::server::error::or_raise;
use neardup_core::memory;
use neardup_core::search::runs::cover::{QueryAnchors, QueryRuns};
use neardup_core::search::runs::signature::{Accepted, common_sides, greatest, of_anchor};

/// Up to so many rows, reading their texts takes less time than reading more lists.
const FEW: u64 = 2;
/// So many rows of a list are read to spare the text of one row.
const ROWS_A_TEXT: u64 = 256;
/// So many rows of short lists are kept when the rows of lists are counted.
const KEPT_IN_ALL: u64 = 1 << 18;

/// Calls `visit` with the rows of segments that may have a run in common with the query: those that
/// have one of the anchors that the query follows, or if these are some, all anchors of a run.
/// `hashes` are the parts of signatures that the anchors alone decide, in ascending order.
pub(super) fn search_runs(
    segments: &[Segment],
    hashes: &[u64],
    anchors: &QueryAnchors,
    mut visit: impl FnMut(u32, HeapRow, &[u8]),
) -> Looked<()> {
    let Some(any) = segments.first() else { return Ok(()) };
    let ranges = hashes.iter().map(|&hash| {
        let (first, last) = classes(any, hash);
        first..=last
    });
    let CountedLists { lists: counted, sums } = CountedLists::new(segments, ranges, KEPT_IN_ALL, |_| true)?;
    // Every anchor has its hash in the list.
    let number = |signature: &u64| hashes.binary_search(&of_anchor(*signature)).unwrap_or(0);
    let numbers: Vec<usize> = anchors.signatures.iter().map(number).collect();
    let costs: Vec<u64> = or_raise(memory::collect(numbers.iter().map(|&n| sums[n]), COLLECTING));
    let Some(mut followed) = or_raise(anchors.cheapest(&costs)) else { return Ok(()) };
    followed.retain(|&n| costs[n] > 0);
    let most = followed.iter().map(|&n| costs[n]).fold(0, u64::saturating_add);
    let runs = if most > FEW { or_raise(anchors.runs()) } else { Vec::new() };
    for (segment, counted) in segments.iter().zip(&counted) {
        let mut found = RoaringBitmap::new();
        let mut lists = AnchorLists { segment, anchors, numbers: &numbers, counted, read: BTreeMap::new() };
        if most > FEW {
            lists.add_parts(&followed, &mut found)?;
            lists.add_runs(&runs, &mut found)?;
        } else {
            for &n in &followed {
                found |= lists.rows(n, Accepted::ANY)?;
            }
        }
        segment.look(found, &mut visit)?;
    }
    Ok(())
}

/// The lists of the anchors of a query in a segment.
struct AnchorLists<'a> {
    segment: &'a Segment,
    anchors: &'a QueryAnchors,
    /// For each anchor, the number of its hash.
    numbers: &'a [usize],
    /// For each hash, its lists. A row counts once for each of its signatures with this anchor.
    counted: &'a [GlancedLists],
    /// The lists that were read, by the number of the anchor: for each value of [`common_sides`],
    /// the rows that have these sides of the anchor in common with the query.
    read: BTreeMap<usize, [RoaringBitmap; 4]>,
}

impl AnchorLists<'_> {
    /// Adds the rows that have all anchors of some of the runs, which ascend, with the sides that
    /// are in the runs. Very long lists are passed over, so some of the rows may lack some anchors.
    fn add_runs(&mut self, all: &[QueryRuns], found: &mut RoaringBitmap) -> Looked<()> {
        let mut order: Vec<usize> = Vec::new();
        for runs in all {
            // What only earlier runs have is not needed any more.
            self.read = self.read.split_off(&runs.anchors.start);
            let rows = |n: usize| self.counted[self.numbers[n]].rows;
            or_raise(memory::refill(&mut order, runs.anchors.clone(), COLLECTING));
            order.sort_unstable_by_key(|&n| rows(n));
            if order.first().is_none_or(|&n| rows(n) == 0) {
                continue;
            }
            let mut rest: Option<RoaringBitmap> = None;
            for &n in &order {
                let left = rest.as_ref().map_or(u64::MAX, RoaringBitmap::len);
                if left == 0 || self.counted[self.numbers[n]].rows / ROWS_A_TEXT > left {
                    break;
                }
                let rows = self.rows(n, self.anchors.accepted(runs, n))?;
                rest = Some(match rest {
                    Some(rest) => rest & rows,
                    None => rows,
                });
            }
            if let Some(rest) = rest {
                *found |= rest;
            }
        }
        Ok(())
    }

    /// Adds the rows that hold a part of a long text, if they have one of these anchors. The other
    /// anchors of a run may be in other rows of the index.
    fn add_parts(&mut self, followed: &[usize], found: &mut RoaringBitmap) -> Looked<()> {
        let (mut parts, mut rows) = (RoaringBitmap::new(), Vec::new());
        let mut part = PartReader::of_split(self.segment)?;
        while part.next(&mut rows)?.is_some() {
            parts.extend(&rows);
        }
        if !parts.is_empty() {
            for &n in followed {
                *found |= self.rows(n, Accepted::ANY)? & &parts;
            }
            self.read.clear();
        }
        Ok(())
    }

    /// Returns the rows that have an anchor with accepted sides.
    fn rows(&mut self, n: usize, accepted: Accepted) -> Looked<RoaringBitmap> {
        let lists = match self.read.entry(n) {
            Entry::Occupied(lists) => lists.into_mut(),
            Entry::Vacant(place) => {
                let mut lists: [RoaringBitmap; 4] = Default::default();
                let sought = self.anchors.signatures[n];
                let mut add = |signature, rows: &[u32]| {
                    // The rows of a piece ascend.
                    let sorted = RoaringBitmap::from_sorted_iter(rows.iter().copied());
                    lists[common_sides(sought, signature)] |= sorted.unwrap_or_default();
                };
                match &self.counted[self.numbers[n]].few {
                    Some(few) => {
                        for &(class, row) in few {
                            lists[common_sides(sought, self.segment.signature(class))].insert(row);
                        }
                    }
                    None => each_list(self.segment, sought, &mut add)?,
                }
                place.insert(lists)
            }
        };
        let mut rows = RoaringBitmap::new();
        for (common, list) in lists.iter().enumerate().filter(|(_, list)| !list.is_empty()) {
            if accepted.has(common) {
                rows |= list;
            }
        }
        Ok(rows)
    }
}

/// Returns the first and the last class of an anchor in a segment's lists. All classes of an anchor
/// are in one part, as there are fewer parts than hashes of anchors.
fn classes(segment: &Segment, signature: u64) -> (u64, u64) {
    (segment.class(of_anchor(signature)), segment.class(greatest(signature)))
}

/// Calls `each` with the rows of a segment that have an anchor, by their signatures.
fn each_list(segment: &Segment, signature: u64, mut each: impl FnMut(u64, &[u32])) -> Looked<()> {
    let (first, last) = classes(segment, signature);
    let mut part = PartReader::of_class(segment, first)?;
    part.skip_to(first)?;
    let mut rows = Vec::new();
    while let Some(class) = part.next(&mut rows)?.filter(|&class| class <= last) {
        pgrx::check_for_interrupts!();
        each(segment.signature(class), &rows);
    }
    Ok(())
}
