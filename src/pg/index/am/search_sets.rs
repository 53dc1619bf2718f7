//! Finds rows whose sets may be in a ball. docs/design/signature-index.md, "Sets", explains why the
//! search misses no row in the ball.

use std::collections::BTreeMap;
use std::ops::Range;

use super::reading::{FoundRow, Taker, in_segments, read_pending};
use super::row_counts::{OpenLists, RowCounts, in_windows};
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::probe::{SetProbe, step_of};
use crate::pg::index::families::sets::item::{Outline, SetItem, differs};
use crate::pg::index::layout::items::{HeapRow, Item};
use crate::pg::index::pages::buffer::{Looked, OpenIndex};
use crate::pg::index::storage::list_reader::PartReader;
use crate::pg::index::storage::segment::Segment;
use crate::pg::server::error::or_raise;
use neardup_core::error;
use neardup_core::search::keys::{KeyScratch, OrderedTokens, bitmap, prefix_classes};

/// The number of rows whose hits are counted at a time.
const WINDOW: u32 = 1 << 16;
/// The largest number of lists that are read at the same time. Each list keeps one page in memory.
const KEPT: usize = 256;
/// The number of rows whose hits are counted at a time if there are more than [`KEPT`] lists. The
/// lists are then read one after another.
const LARGE_WINDOW: u32 = 1 << 22;

/// A ball to search for.
struct BallQuery<'a> {
    probe: &'a SetProbe,
    /// The bitmaps of the ball's set, by their number of words.
    bitmaps: BTreeMap<usize, Vec<u64>>,
    /// A buffer for the tokens of a row.
    tokens: Vec<u32>,
}

impl BallQuery<'_> {
    /// Returns the bitmap of the ball's set that has this many words.
    fn bitmap(&mut self, words: usize) -> &[u64] {
        self.bitmaps.entry(words).or_insert_with(|| {
            let mut bits = vec![0; words];
            bitmap(&self.probe.tokens, self.probe.reach.weights(), &mut bits);
            bits
        })
    }

    /// Returns an upper bound of the similarity of a pending set, or None if the set cannot be in
    /// the ball.
    fn may_have(&mut self, item: &Item<'_>) -> error::Result<Option<f64>> {
        let Some(set) = SetItem::read(item.row, item.bytes) else { return Ok(None) };
        let reach = &self.probe.reach;
        let Some(allowed) = reach.bits(set.size) else { return Ok(None) };
        let apart = if let Some(known) = set.bitmap {
            differs(known, self.bitmap(known.len() / 8))
        } else if item.row.has(HeapRow::SPLIT) {
            0
        } else {
            let mut tokens = std::mem::take(&mut self.tokens);
            set.tokens(&mut tokens)?;
            let weigh = |token| reach.weights().map_or(1, |weights| weights.of_key(token));
            let unlike = unlike(&self.probe.tokens, &tokens, weigh);
            self.tokens = tokens;
            reach.bits_of(unlike)
        };
        Ok((apart <= allowed).then(|| self.probe.reach.most_similar(set.size, u32::MAX, apart)))
    }
}

/// Returns the weight of the tokens that are in only one of two sets.
fn unlike(mut one: &[u32], mut other: &[u32], weigh: impl Fn(u32) -> u32) -> u64 {
    let mut weight = 0;
    while let ([a, rest @ ..], [b, others @ ..]) = (one, other) {
        if a != b {
            weight += u64::from(weigh(*a.min(b)));
        }
        if a <= b {
            one = rest;
        }
        if b <= a {
            other = others;
        }
    }
    one.iter().chain(other).fold(weight, |weight, &token| weight + u64::from(weigh(token)))
}

/// Gives every row whose set may be in a ball to `taker`, perhaps more than once.
pub(super) fn search_sets(
    index: OpenIndex,
    keys: &ClassKeys,
    probe: &SetProbe,
    taker: &mut dyn Taker,
) -> Looked<()> {
    let mut query = BallQuery { probe, bitmaps: BTreeMap::new(), tokens: Vec::new() };
    read_pending(index, keys, |items| {
        for item in items.filter(|item| !item.row.has(HeapRow::NULL | HeapRow::EMPTY)) {
            if let Some(similar) = or_raise(query.may_have(&item)) {
                taker.row(FoundRow::near(item.row, step_of(similar).into()));
            }
        }
        true
    })?;
    in_segments(index, keys, |keys, segments| {
        let Some(settled) = keys.sets().and_then(|sets| sets.settled.as_ref()) else { return Ok(()) };
        let (tokens, weight) = (&probe.tokens, probe.reach.probes());
        let (mut scratch, mut classes) = (KeyScratch::default(), Vec::new());
        let (order, bits) = (&settled.order, settled.class_bits);
        let ordered = OrderedTokens { order, weights: probe.reach.weights() };
        or_raise(prefix_classes(tokens, ordered, weight, bits, &mut scratch, &mut classes));
        let bitmap = query.bitmap(settled.words);
        segments.iter().try_for_each(|segment| HitCounting { segment, probe, bitmap }.rows(&classes, taker))
    })
}

/// Counts, in one segment, how many of the looked-up tokens each row has.
struct HitCounting<'a> {
    segment: &'a Segment,
    probe: &'a SetProbe,
    bitmap: &'a [u64],
}

impl HitCounting<'_> {
    /// Returns the hits that each row of a split set has more than are counted, because its other
    /// hits are spread over several rows of the index: so many that one more reaches it.
    fn of_split(&self) -> u32 {
        self.probe.reach.least_hits().saturating_sub(1).max(1)
    }

    /// Gives the rows that may be in the ball to `taker`.
    fn rows(&self, classes: &[(u32, u32)], taker: &mut dyn Taker) -> Looked<()> {
        let (segment, rows) = (self.segment, self.segment.about.rows);
        let least = self.probe.reach.least_hits().max(1) as u16;
        let look = |counts: &RowCounts| self.look(counts, taker);
        let weight = |weight: u32| u16::try_from(weight).unwrap_or(u16::MAX);
        let classes = classes.iter().map(|&(class, weight)| (Some(class), weight));
        let classes = classes.chain([(None, self.of_split())]);
        let after = u64::BITS - segment.class_bits();
        let list = |class: Option<u32>| match class {
            Some(class) => PartReader::list_of(segment, segment.class(u64::from(class) << after)),
            None => PartReader::list_of_split(segment),
        };
        if classes.clone().count() <= KEPT + 1 {
            let mut lists = OpenLists::default();
            for (class, times) in classes {
                if let Some(part) = list(class)? {
                    lists.push(part, weight(times));
                }
            }
            return in_windows(rows, WINDOW, least, |counts, window| lists.count(counts, window.end), look);
        }
        // For the ball of a long document, lists are read one after another for each large window.
        let mut found = Vec::new();
        let add = |counts: &mut RowCounts, window: Range<u32>| {
            for (class, times) in classes.clone() {
                let Some(mut part) = list(class)? else { continue };
                let (mut bound, mut more) = (0, true);
                while more && bound < window.end {
                    bound = window.end.min(bound.saturating_add(WINDOW));
                    found.clear();
                    more = part.rows_before(bound, &mut found)?;
                    or_raise(counts.add_rows(&found, weight(times)));
                }
            }
            Ok(true)
        };
        in_windows(rows, LARGE_WINDOW, least, add, look)
    }

    /// Gives the rows of a window that have enough hits to `taker`.
    fn look(&self, counts: &RowCounts, taker: &mut dyn Taker) -> Looked<()> {
        self.segment.look(counts.reached.iter().copied(), |number, row, bytes| {
            if !row.has(HeapRow::DEAD | HeapRow::NULL | HeapRow::EMPTY)
                && let Some(similar) = self.accepts(row, Outline::read(bytes), counts.count(number))
            {
                taker.row(FoundRow::near(row, step_of(similar).into()));
            }
        })
    }

    /// Returns an upper bound of the similarity of a row with this many hits, or None if the row
    /// cannot be in the ball.
    fn accepts(&self, row: HeapRow, set: Outline<'_>, hits: u16) -> Option<f64> {
        let reach = &self.probe.reach;
        let (need, bits) = (reach.need(set.size)?, reach.bits(set.size)?);
        if row.has(HeapRow::SPLIT) {
            // The other hits of the set are in other rows of the index, and a split set has no
            // bitmap.
            return (u32::from(hits) > self.of_split()).then(|| reach.most_similar(set.size, u32::MAX, 0));
        }
        // A saturated count may mean any number of hits.
        let hits = if hits == u16::MAX { u32::MAX } else { hits.into() };
        let apart = set.differs(self.bitmap);
        (hits >= need && apart <= bits).then(|| reach.most_similar(set.size, hits, apart))
    }
}

#[cfg(test)]
mod tests {
    use super::unlike;

    #[test]
    fn pg_tokens_of_one_set_only_are_counted() {
        let count = |one: &[u32], other: &[u32]| unlike(one, other, |_| 1);
        assert_eq!(count(&[1, 2, 2, 5], &[2, 3, 5, 5]), 4);
        assert_eq!(count(&[], &[1, 1]), 2);
        assert_eq!(count(&[7], &[7]), 0);
        assert_eq!(unlike(&[1, 2, 9], &[2, 3], |token| token), 13);
    }
}
