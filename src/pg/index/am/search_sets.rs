//! Finds rows whose sets may be in a ball. docs/design/signature-index.md, "Sets", explains why the
//! search misses no row in the ball.

use std::collections::BTreeMap;

use super::live_segments::living;
use crate::pg::index::layout::items::{HeapRow, Item};
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::sets::item::{Outline, SetItem, differs};
use crate::pg::index::families::sets::probe::SetProbe;
use crate::pg::index::pages::buffer::{Looked, OpenIndex};
use crate::pg::index::storage::list_reader::PartReader;
use crate::pg::index::storage::pending::{self, PendingPages};
use crate::pg::index::storage::segment::{COLLECTING, Segment};
use crate::pg::server::error::or_raise;
use neardup_core::error;
use neardup_core::joins::search::keys::{KeyScratch, bitmap, prefix_classes};
use neardup_core::memory;

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
            bitmap(&self.probe.tokens, &mut bits);
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
            let unlike = unlike(&self.probe.tokens, &tokens);
            self.tokens = tokens;
            u32::try_from(unlike).unwrap_or(u32::MAX)
        };
        Ok((apart <= allowed).then(|| self.probe.reach.most_similar(set.size, u32::MAX, apart)))
    }
}

/// Counts the tokens that are in only one of two sets.
fn unlike(mut one: &[u32], mut other: &[u32]) -> u64 {
    let mut count = 0;
    while let ([a, rest @ ..], [b, others @ ..]) = (one, other) {
        count += u64::from(a != b);
        if a <= b {
            one = rest;
        }
        if b <= a {
            other = others;
        }
    }
    count + one.len() as u64 + other.len() as u64
}

/// Calls `each` with every row whose set may be in a ball and with an upper bound of its
/// similarity, perhaps more than once.
pub(super) fn search_sets(
    index: OpenIndex,
    keys: &ClassKeys,
    probe: &SetProbe,
    each: &mut dyn FnMut(HeapRow, f64),
) -> Looked<()> {
    let mut query = BallQuery { probe, bitmaps: BTreeMap::new(), tokens: Vec::new() };
    // The pending pages are read before the directory, so that a row that is moving from the
    // pending pages to a segment is seen.
    let mut pages = PendingPages::all(index, &Directory::read(index).meta);
    while let Some((block, contents)) = pages.next()? {
        for item in pending::items(index, block, &contents) {
            keys.check(index, block, &item);
            if !item.row.has(HeapRow::DEAD | HeapRow::NULL | HeapRow::EMPTY)
                && let Some(similar) = or_raise(query.may_have(&item))
            {
                each(item.row, similar);
            }
        }
    }
    let directory = Directory::read(index);
    let now = keys.now(index, &directory.meta);
    let keys = now.as_ref().unwrap_or(keys);
    let Some(settled) = keys.sets.as_ref().and_then(|sets| sets.settled.as_ref()) else { return Ok(()) };
    let (tokens, length) = (&probe.tokens, probe.reach.probes());
    let (mut scratch, mut classes) = (KeyScratch::default(), Vec::new());
    let bits = settled.class_bits;
    or_raise(prefix_classes(tokens, &settled.order, length, bits, &mut scratch, &mut classes));
    let bitmap = query.bitmap(settled.words).to_vec();
    let mut counts = or_raise(memory::filled(0_u16, WINDOW as usize, COLLECTING));
    for segment in living(index, &directory, keys)? {
        HitCounting { segment: &segment, probe, bitmap: &bitmap, counts: &mut counts }
            .rows(&classes, each)?;
    }
    Ok(())
}

/// Adds `weight` to the hits of each of these rows, in a window that begins at row `start`. Appends
/// to `reached` the rows whose hits thereby reach `least`.
fn count(
    counts: &mut [u16],
    start: u32,
    rows: &[u32],
    weight: u16,
    least: u16,
    reached: &mut Vec<u32>,
) -> error::Result<()> {
    for &row in rows {
        let count = &mut counts[(row - start) as usize];
        let before = *count;
        *count = before.saturating_add(weight);
        if before < least && *count >= least {
            memory::push(reached, row, COLLECTING)?;
        }
    }
    Ok(())
}

/// Counts, in one segment, how many of the looked-up tokens each row has.
struct HitCounting<'a> {
    segment: &'a Segment,
    probe: &'a SetProbe,
    bitmap: &'a [u64],
    counts: &'a mut Vec<u16>,
}

impl HitCounting<'_> {
    /// Returns the least number of hits that a row in the ball can have.
    fn least_hits(&self) -> u16 {
        self.probe.reach.least_hits().max(1) as u16
    }

    /// Calls `each` with the rows that may be in the ball.
    fn rows(&mut self, classes: &[(u32, u32)], each: &mut dyn FnMut(HeapRow, f64)) -> Looked<()> {
        if classes.len() > KEPT {
            return self.rows_of_many(classes, each);
        }
        let mut lists = Vec::new();
        for &(class, weight) in classes {
            let class = u64::from(class);
            let weight = u16::try_from(weight).unwrap_or(u16::MAX);
            let mut part = PartReader::of_class(self.segment, class)?;
            if part.find(class)? {
                or_raise(memory::push(&mut lists, (part, weight), COLLECTING));
            }
        }
        // The hits of a split set are spread over several rows of the index, so each of these rows
        // counts as hit once more.
        let mut split = PartReader::of_split(self.segment)?;
        if split.find_any()? {
            or_raise(memory::push(&mut lists, (split, 1), COLLECTING));
        }
        let least = self.least_hits();
        let (mut start, rows) = (0, self.segment.about.rows);
        let (mut found, mut reached) = (Vec::new(), Vec::new());
        while start < rows && !lists.is_empty() {
            let end = start.saturating_add(WINDOW);
            let mut any = false;
            let mut failed = None;
            lists.retain_mut(|(part, weight)| {
                found.clear();
                let more = match part.rows_before(end, &mut found) {
                    Ok(more) => more,
                    Err(moved) => {
                        failed = Some(moved);
                        false
                    }
                };
                any |= !found.is_empty();
                or_raise(count(self.counts, start, &found, *weight, least, &mut reached));
                more
            });
            if let Some(moved) = failed {
                return Err(moved);
            }
            reached.sort_unstable();
            self.look(start, &reached, each)?;
            reached.clear();
            if any {
                self.counts.fill(0);
            }
            start = end;
        }
        Ok(())
    }

    /// Does the same as [`Self::rows`] for the ball of a long document, with the memory of one
    /// large window and one list.
    fn rows_of_many(&self, classes: &[(u32, u32)], each: &mut dyn FnMut(HeapRow, f64)) -> Looked<()> {
        let (least, rows) = (self.least_hits(), self.segment.about.rows);
        let size = rows.min(LARGE_WINDOW) as usize;
        let mut counts = or_raise(memory::filled(0_u16, size, COLLECTING));
        let mut large = HitCounting { counts: &mut counts, ..*self };
        let (mut found, mut reached) = (Vec::new(), Vec::new());
        for start in (0..rows).step_by(LARGE_WINDOW as usize) {
            let end = rows.min(start.saturating_add(LARGE_WINDOW));
            let classes = classes.iter().map(|&(class, weight)| (Some(class), weight));
            for (class, weight) in classes.chain([(None, 1)]) {
                let (mut part, is_there);
                if let Some(class) = class {
                    part = PartReader::of_class(self.segment, class.into())?;
                    is_there = part.find(class.into())?;
                } else {
                    part = PartReader::of_split(self.segment)?;
                    is_there = part.find_any()?;
                }
                let (mut bound, mut more) = (0, is_there);
                while more && bound < end {
                    let from = bound;
                    bound = end.min(bound.saturating_add(WINDOW));
                    found.clear();
                    more = part.rows_before(bound, &mut found)?;
                    // The beginning of a large window is also the beginning of a step.
                    if from >= start {
                        let weight = u16::try_from(weight).unwrap_or(u16::MAX);
                        or_raise(count(large.counts, start, &found, weight, least, &mut reached));
                    }
                }
            }
            reached.sort_unstable();
            large.look(start, &reached, each)?;
            reached.clear();
            large.counts.fill(0);
        }
        Ok(())
    }

    /// Checks the rows of a window that have enough hits.
    fn look(&mut self, start: u32, rows: &[u32], each: &mut dyn FnMut(HeapRow, f64)) -> Looked<()> {
        self.segment.look(rows.iter().copied(), |number, row, bytes| {
            let hits = self.counts[(number - start) as usize];
            if !row.has(HeapRow::DEAD | HeapRow::NULL | HeapRow::EMPTY)
                && let Some(similar) = self.accepts(row, Outline::read(bytes), hits)
            {
                each(row, similar);
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
            return (hits > 1).then(|| reach.most_similar(set.size, u32::MAX, 0));
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
        assert_eq!(unlike(&[1, 2, 2, 5], &[2, 3, 5, 5]), 4);
        assert_eq!(unlike(&[], &[1, 1]), 2);
        assert_eq!(unlike(&[7], &[7]), 0);
    }
}
