//! Finds rows whose strings may be similar to a given string, by the grams of their characters. The
//! strings that are most similar come first, and the search ends where no better ones can follow.
//! docs/design/signature-index.md, "Grams", explains why it misses no row.

use std::cell::Cell;
use std::ops::Range;

use super::reading::{FoundRow, Taker, WantedRows, in_segments, read_pending};
use super::row_counts::RowCounts;
use crate::pg::index::families::grams::item::{GramItem, counts_of, sizes_of, start_of};
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::probe::{GramProbe, step_of};
use crate::pg::index::layout::items::{HeapRow, Item};
use crate::pg::index::pages::buffer::{Looked, OpenIndex};
use crate::pg::index::storage::list_reader::PartReader;
use crate::pg::index::storage::segment::{COLLECTING, Segment};
use crate::pg::index::storage::sort::place_of_size;
use crate::pg::server::error::or_raise;
use neardup_core::error::Result;
use neardup_core::memory;
use neardup_core::search::edit_ball::{EditBall, characters};
use neardup_core::search::edit_bounds::EditBounds;
use neardup_core::search::grams::{MOST_ELEMENTS, common, signature, sizes, spaced};
use neardup_core::verify::edit::similarity;

/// The largest number of lists that are open at the same time. Each list keeps one page in memory.
const OPEN: usize = 256;
/// Of an ordered search, at least this many rows of a group are looked at together.
const TOGETHER: u32 = 64;
/// The number of rows whose common elements are counted at a time.
const WINDOW: u32 = 1 << 24;
/// At most this many rows are looked at before [`Taker::settle`] is called.
const UNSETTLED: usize = 1 << 12;

/// Gives every row whose string may be in a ball to `taker`.
pub(super) fn search_grams(
    index: OpenIndex,
    keys: &ClassKeys,
    probe: &GramProbe,
    wanted: WantedRows,
    taker: &mut dyn Taker,
) -> Looked<()> {
    let mut greatest = u64::MAX;
    let edits = or_raise(probe.ball().map(|ball| Edits::new(&ball)).transpose());
    let edits = edits.as_ref();
    let mut elements = Vec::new();
    read_pending(index, keys, |items| {
        for Item { row, bytes } in items {
            if row.has(HeapRow::NULL) || row.has(HeapRow::EMPTY) && probe.demand.edit().is_none() {
                continue;
            }
            let Some(string) = GramItem::read(row, bytes) else { continue };
            let shared = if row.has(HeapRow::SPLIT) {
                u32::MAX
            } else if probe.demand.accepts(string.sizes, u32::MAX) {
                elements.clear();
                elements.extend(string.elements());
                common(&elements, &probe.elements)
            } else {
                continue;
            };
            if let Some(found) = judge(probe, edits, row, string.head, shared, greatest) {
                greatest = taker.row(found);
            }
        }
        greatest = taker.settle().unwrap_or(greatest);
        true
    })?;
    let weight = |same: &[u32]| (same[0], u16::try_from(same.len()).unwrap_or(u16::MAX));
    let weights = or_raise(memory::collect(probe.elements.chunk_by(u32::eq).map(weight), COLLECTING));
    in_segments(index, keys, |_, segments| {
        for segment in &segments {
            let (counts, rows, weights) = (RowCounts::default(), Vec::new(), &weights);
            let mut search = SegmentSearch { segment, probe, edits, weights, wanted, greatest, counts, rows };
            search.run(taker)?;
            greatest = search.greatest;
        }
        Ok(())
    })
}

/// A search of a segment.
struct SegmentSearch<'a> {
    segment: &'a Segment,
    probe: &'a GramProbe,
    /// Compares the starts of strings, if the ball is one by edit distance.
    edits: Option<&'a Edits>,
    /// The distinct elements of the sought string, and how often it has each.
    weights: &'a [(u32, u16)],
    wanted: WantedRows,
    /// The greatest step of a distance that is still wanted.
    greatest: u64,
    /// How many elements each row of a group is known to share.
    counts: RowCounts,
    /// A buffer for rows to be looked at.
    rows: Vec<u32>,
}

/// A list of the rows of a group that have an element.
struct GramList<'a> {
    /// None if the list is opened when it is read.
    part: Option<PartReader<'a>>,
    class: u64,
    /// The number of elements of the sought string whose list this is.
    weight: u16,
    /// The number of rows, or fewer if there are very many.
    rows: u32,
    /// The first row, or 0 if the list is not open.
    first: u32,
}

impl SegmentSearch<'_> {
    /// Gives those of the rows in the buffer, which ascend, to `taker` that are wanted as far as
    /// the index tells. `shared` returns how many elements a row shares, or fewer.
    fn give(&mut self, shared: impl Fn(&RowCounts, u32) -> u32, taker: &mut dyn Taker) -> Looked<()> {
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
    fn clear_rows(&mut self, count: usize) {
        self.rows.clear();
        or_raise(memory::reserve(&mut self.rows, count, COLLECTING));
    }

    fn run(&mut self, taker: &mut dyn Taker) -> Looked<()> {
        let all = self.segment.about.rows;
        let groups = self.probe.demand.groups();
        for start in (0..all).step_by(WINDOW as usize) {
            for &group in groups.iter().filter(|&&group| *sizes(group).start() <= MOST_ELEMENTS) {
                pgrx::check_for_interrupts!();
                let greatest = self.greatest;
                let is_wanted = |similarity| u64::from(step_of(similarity)) <= greatest;
                // A string of which elements are stored has few enough for 16 bits.
                if let Some(least) = self.probe.demand.least_shared(group, is_wanted)
                    && let Ok(least) = u16::try_from(least)
                {
                    self.count(start, group, least.max(1))?;
                    self.visit(group, least.max(1), taker)?;
                    if least == 0 {
                        self.visit_others(start, group, taker)?;
                    }
                }
            }
        }
        self.visit_spaced(taker)?;
        self.long_strings(taker)
    }

    /// Counts the elements that the rows of a group share with the sought string, and collects the
    /// rows that share at least `least`.
    fn count(&mut self, start: u32, group: u32, least: u16) -> Looked<()> {
        let segment = self.segment;
        let lists = open(segment, self.weights, group)?;
        // How many elements a row can share that are in the lists that were not read yet, and how
        // many a row shares of the lists that were read.
        let mut rest: u32 = lists.iter().map(|list| u32::from(list.weight)).sum();
        let first = lists.iter().map(|list| list.first).min().unwrap_or(0);
        self.counts.begin(start.max(first)..start.saturating_add(WINDOW), least, rest);
        for list in lists {
            if u32::from(self.counts.most) + rest < least.into() {
                self.counts.reached.clear();
                break;
            }
            rest -= u32::from(list.weight);
            let opened = match list.part {
                None => PartReader::list_of(segment, list.class)?,
                part => part,
            };
            let Some(mut part) = opened else { continue };
            while part.each_run(|run| or_raise(self.counts.add(&run, list.weight)))? {}
        }
        Ok(())
    }

    /// Gives the rows of a group that were reached to `taker`, those that share most elements
    /// first.
    fn visit(&mut self, group: u32, least: u16, taker: &mut dyn Taker) -> Looked<()> {
        let Self { probe, wanted, counts, .. } = &*self;
        let (probe, wanted) = (*probe, *wanted);
        let most = counts.reached.iter().map(|&row| counts.count(row)).max().unwrap_or(0);
        let mut with = or_raise(memory::filled(0_u32, usize::from(most) + 1, COLLECTING));
        counts.reached.iter().for_each(|&row| with[usize::from(counts.count(row))] += 1);
        let mut high = most;
        while high >= least {
            let similar = probe.demand.greatest(group, high.into());
            if similar.is_none_or(|similar| u64::from(step_of(similar)) > self.greatest) {
                break;
            }
            let (mut low, mut together) = (high, with[usize::from(high)]);
            while low > least && (wanted == WantedRows::All || together < TOGETHER) {
                low -= 1;
                together += with[usize::from(low)];
            }
            self.clear_rows(together as usize);
            let Self { counts, rows, .. } = self;
            rows.extend(counts.reached.iter().filter(|&&row| (low..=high).contains(&counts.count(row))));
            rows.sort_unstable();
            self.give(|counts, row| counts.count(row).into(), taker)?;
            high = low - 1;
        }
        Ok(())
    }

    /// Gives the rows of a group to `taker` that share nothing with the sought string, as far as
    /// they were counted, if such rows are still wanted.
    fn visit_others(&mut self, start: u32, group: u32, taker: &mut dyn Taker) -> Looked<()> {
        let Some(best) = self.probe.demand.greatest(group, 0) else { return Ok(()) };
        if u64::from(step_of(best)) > self.greatest {
            return Ok(());
        }
        let rows = self.rows_of_place(1 + group as usize)?;
        let rows = rows.start.max(start)..rows.end.min(start.saturating_add(WINDOW));
        for first in rows.clone().step_by(UNSETTLED) {
            if u64::from(step_of(best)) > self.greatest {
                break;
            }
            self.clear_rows(UNSETTLED);
            let Self { counts, rows: buffer, .. } = self;
            let some = first..rows.end.min(first.saturating_add(UNSETTLED as u32));
            buffer.extend(some.filter(|&row| counts.count(row) == 0));
            self.give(|_, _| 0, taker)?;
        }
        Ok(())
    }

    /// By edit distance, gives the rows without grams to `taker`, and those of whose strings grams
    /// leave out white space.
    fn visit_spaced(&mut self, taker: &mut dyn Taker) -> Looked<()> {
        let Some(demand) = self.probe.demand.edit() else { return Ok(()) };
        for group in demand.groups_of_spaced() {
            let class = self.segment.class(spaced(group));
            let mut part = PartReader::of_class(self.segment, class)?;
            part.skip_to(class)?;
            while part.next(&mut self.rows)? == Some(class) {
                self.give(|_, _| u32::MAX, taker)?;
            }
        }
        let without = self.rows_of_place(0)?;
        for first in without.clone().step_by(UNSETTLED) {
            self.clear_rows(UNSETTLED);
            self.rows.extend(first..without.end.min(first.saturating_add(UNSETTLED as u32)));
            self.give(|_, _| u32::MAX, taker)?;
        }
        Ok(())
    }

    /// Gives the rows to `taker` of which the index has no elements, if their sizes allow it.
    fn long_strings(&mut self, taker: &mut dyn Taker) -> Looked<()> {
        let mut part = PartReader::of_split(self.segment)?;
        while part.next(&mut self.rows)?.is_some() {
            self.give(|_, _| u32::MAX, taker)?;
        }
        Ok(())
    }

    /// Returns the rows of a place in the order of rows.
    fn rows_of_place(&self, place: usize) -> Looked<Range<u32>> {
        Ok(self.first_of_place(place)?..self.first_of_place(place + 1)?)
    }

    /// Returns the first row of a place, or of a later one.
    fn first_of_place(&self, place: usize) -> Looked<u32> {
        let (mut low, mut high) = (0, self.segment.about.rows);
        while low < high {
            let middle = low + (high - low) / 2;
            let mut found = 0;
            let segment = self.segment;
            segment.look_at_all([middle], |_, _, bytes| found = place_of_size(segment.sketch(bytes)))?;
            if found < place {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }
}

/// Opens the lists of a group, the shortest first. If there are too many, they are not opened, and
/// in no particular order.
fn open<'a>(segment: &'a Segment, weights: &[(u32, u16)], group: u32) -> Looked<Vec<GramList<'a>>> {
    let mut lists = Vec::new();
    or_raise(memory::reserve(&mut lists, weights.len(), COLLECTING));
    for &(element, weight) in weights {
        let class = segment.class(signature(group, element));
        if weights.len() > OPEN {
            lists.push(GramList { part: None, class, weight, rows: 0, first: 0 });
            continue;
        }
        if let Some(mut part) = PartReader::list_of(segment, class)? {
            let rows = part.rows_of_this();
            let first = part.first()?.unwrap_or(0);
            lists.push(GramList { part: Some(part), class, weight, rows, first });
        }
    }
    lists.sort_by_key(|list| list.rows);
    Ok(lists)
}

/// Compares the strings of rows with the middle of a ball by edit distance.
struct Edits {
    bounds: EditBounds,
    /// For a string of so many characters, a step, and the least distance that the string cannot
    /// have if it is in the ball and not farther than the step.
    ends: [Cell<(u64, u32)>; 256],
}

impl Edits {
    /// Prepares the comparison.
    fn new(ball: &EditBall<'_>) -> Result<Self> {
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
fn judge(
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
