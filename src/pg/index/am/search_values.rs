//! Finds the rows whose minhash sketches agree with a target in many values, by the lists of the
//! target's values.
//!
//! A row that differs from the target in at most *d* values is in at least *L* − *d* of any *L* of
//! the target's lists. The search reads the shortest lists, at least *d* + 1 of them, counts in how
//! many each row is, and compares the sketches of the rows that are in enough of them
//! (T-occurrence; Li, Lu and Lu, ICDE 2008). If all lists are short, it finds even the most distant
//! rows.

use std::cmp::Reverse;
use std::ops::Range;

use super::reading::{FoundRow, SearchEnd, Taker, WantedRows, in_segments, read_pending};
use super::row_counts::{CountedLists, OpenLists, RowCounts, in_windows};
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::options::StorageOptions;
use crate::pg::index::families::value_lists::signatures;
use crate::pg::index::layout::items::HeapRow;
use crate::pg::index::pages::buffer::{Looked, OpenIndex};
use crate::pg::index::storage::list_reader::PartReader;
use crate::pg::index::storage::segment::{COLLECTING, Segment};
use crate::pg::server::error::or_raise;
use neardup_core::memory;

/// So many rows of lists are read in any case, and all of them in memory.
const CHEAP: u64 = 1 << 15;
/// The number of lists that are read in addition to those that are needed, if these are long. A row
/// must then be in as many more lists, and fewer rows are compared.
const EXTRA: usize = 8;
/// If enough lists have at most so many rows, the search does not look for shorter ones.
const SHORT: u64 = 256;
/// The number of rows that are counted at a time in long lists.
const WINDOW: u32 = 1 << 16;
/// The number of rows that are compared before the search asks again which rows are still wanted.
const COMPARED: usize = 64;
/// Marks a row that must not be compared.
const NO_SKETCH: u16 = HeapRow::DEAD | HeapRow::NULL | HeapRow::EMPTY;

/// The sketch that a search is for.
pub(super) struct SoughtSketch<'a> {
    /// The sketch.
    pub sketch: &'a [u8],
    /// The largest number of values that may differ.
    pub most: u32,
    /// The rows that are wanted beside those: see [`WantedRows`].
    pub wanted: WantedRows,
}

/// Gives rows to `taker` with their sketches and the number of values in which these differ from
/// the sought one, perhaps more than once. The sketch of a pending row may be empty if more values
/// differ than `sought.most`.
pub(super) fn search_values(
    index: OpenIndex,
    keys: &ClassKeys,
    sought: &SoughtSketch<'_>,
    taker: &mut dyn Taker,
) -> Looked<SearchEnd> {
    let mut greatest = u64::MAX;
    let mut give = |row: HeapRow, sketch: &[u8], difference: u32| {
        taker.row(FoundRow { row, sketch, key: Some(difference.into()), is_exact: true })
    };
    let mut later = Vec::new();
    read_pending(index, keys, |items| {
        for item in items.filter(|item| !item.row.has(NO_SKETCH)) {
            let difference = keys.difference(sought.sketch, item.bytes);
            if difference <= sought.most {
                greatest = give(item.row, item.bytes, difference);
            } else if sought.wanted != WantedRows::All {
                or_raise(memory::push(&mut later, (item.row, difference), COLLECTING));
            }
        }
        true
    })?;
    in_segments(index, keys, |keys, segments| {
        let lists = ValueLists::count(index, &segments, sought)?;
        let choice = lists.choose(keys.meta.width, sought);
        for (row, difference) in later {
            if difference <= choice.reached {
                greatest = give(row, &[], difference);
            }
        }
        let mut search = ValueSearch { keys, sought, choice, greatest, left_out: false, give: &mut give };
        if lists.rows(&search.choice.positions) <= CHEAP {
            search.by_hits(&segments, &lists)?;
        } else {
            search.in_windows(&segments, &lists)?;
        }
        Ok(SearchEnd { reached: Some(search.choice.reached), left_out: search.left_out })
    })
}

/// The lists of a target's values.
struct ValueLists {
    classes: Vec<u64>,
    /// The lists of the values that were looked at, which are the first ones.
    counted: CountedLists,
    /// The greatest number of rows of a list that is searched.
    limit: u64,
}

/// The lists that a search reads.
struct Choice {
    /// The positions of their values.
    positions: Vec<usize>,
    /// The search finds all rows that differ in at most this many values.
    reached: u32,
    /// The number of lists that such a row is in, at least.
    hits: usize,
    /// True if a row with *h* hits differs in at least the number of lists minus *h* values.
    bounded: bool,
}

impl ValueLists {
    /// Looks at the lists, but not at all of them if fewer are enough and short.
    fn count(index: OpenIndex, segments: &[Segment], sought: &SoughtSketch<'_>) -> Looked<Self> {
        let mut classes = Vec::new();
        // Each segment has the same group and as many bits of a class.
        let class = |signature| segments.first().map_or(0, |segment| segment.class(signature));
        signatures(sought.sketch, |signature| classes.push(class(signature)));
        let limit = Some(StorageOptions::read(index).stop_limit()).filter(|&limit| limit > 0);
        let enough = match sought.wanted {
            WantedRows::All | WantedRows::Nearest if limit.is_none() => {
                (sought.most as usize).saturating_add(1 + EXTRA)
            }
            _ => classes.len(),
        };
        let limit = limit.unwrap_or(u64::MAX);
        let mut short = 0;
        let ranges = classes.iter().map(|&class| class..=class);
        let counted = CountedLists::new(segments, ranges, u64::MAX, |rows| {
            short += usize::from(rows <= SHORT);
            short < enough
        })?;
        Ok(Self { classes, counted, limit })
    }

    /// Adds the rows of the list of a value in a segment to `few` if they were kept, or else
    /// returns the list, if there is one.
    fn read<'a>(
        &self,
        segment: &'a Segment,
        n: usize,
        position: usize,
        few: &mut Vec<u32>,
    ) -> Looked<Option<PartReader<'a>>> {
        let Some(kept) = &self.counted.lists[n][position].few else {
            return PartReader::list_of(segment, self.classes[position]);
        };
        or_raise(memory::append(few, kept.iter().map(|&(_, row)| row), COLLECTING));
        Ok(None)
    }

    /// Returns the number of rows in the lists of these values.
    fn rows(&self, positions: &[usize]) -> u64 {
        positions.iter().map(|&n| self.counted.sums[n]).fold(0, u64::saturating_add)
    }

    /// Chooses the lists to read for sketches of `values` values, among those that were looked at.
    fn choose(&self, values: u32, sought: &SoughtSketch<'_>) -> Choice {
        let mut positions: Vec<usize> =
            (0..self.counted.sums.len()).filter(|&n| self.counted.sums[n] <= self.limit).collect();
        positions.sort_by_key(|&n| self.counted.sums[n]);
        if positions.len() < self.counted.sums.len() {
            // The owner of the index accepts that rows are lost.
            return Choice { positions, reached: values.saturating_sub(1), hits: 1, bounded: false };
        }
        let (mut cheap, mut sum) = (0, 0_u64);
        while let Some(&n) = positions.get(cheap) {
            sum = sum.saturating_add(self.counted.sums[n]);
            if sum > CHEAP {
                break;
            }
            cheap += 1;
        }
        let needed = (sought.most as usize).saturating_add(1).min(positions.len());
        let is_cheap = cheap >= needed;
        positions.truncate(if is_cheap { cheap } else { needed + EXTRA });
        let lists = positions.len() as u32;
        let goes_on = is_cheap && sought.wanted != WantedRows::All;
        let reached = if goes_on { lists - 1 } else { sought.most.min(lists - 1) };
        Choice { positions, reached, hits: (lists - reached) as usize, bounded: true }
    }
}

/// A search that knows which lists it reads.
struct ValueSearch<'a> {
    keys: &'a ClassKeys,
    sought: &'a SoughtSketch<'a>,
    choice: Choice,
    /// The greatest difference that is still wanted.
    greatest: u64,
    left_out: bool,
    give: &'a mut dyn FnMut(HeapRow, &[u8], u32) -> u64,
}

impl ValueSearch<'_> {
    /// Reports whether rows with so many hits may still be wanted.
    fn wants(&mut self, hits: usize) -> bool {
        let least = if self.choice.bounded { self.choice.positions.len().saturating_sub(hits) } else { 0 };
        let wants = least as u64 <= self.greatest;
        self.left_out |= !wants;
        wants
    }

    /// Compares the sketches of rows, whose numbers ascend.
    fn compare(&mut self, segment: &Segment, rows: &[u32]) -> Looked<()> {
        let (keys, sought, reached) = (self.keys, self.sought.sketch, self.choice.reached);
        segment.look(rows.iter().copied(), |_, row, sketch| {
            if row.has(NO_SKETCH) {
                return;
            }
            let difference = keys.difference(sought, sketch);
            if difference <= reached {
                self.greatest = (self.give)(row, sketch, difference);
            }
        })
    }

    /// Compares the rows that are in the most lists first.
    fn by_hits(&mut self, segments: &[Segment], lists: &ValueLists) -> Looked<()> {
        // The numbers of hits, the segments and the rows, the row with the most hits first.
        let mut found: Vec<(Reverse<usize>, usize, u32)> = Vec::new();
        let mut rows = Vec::new();
        for (n, segment) in segments.iter().enumerate() {
            rows.clear();
            for &position in &self.choice.positions {
                pgrx::check_for_interrupts!();
                if let Some(mut part) = lists.read(segment, n, position, &mut rows)? {
                    part.rows_before(u32::MAX, &mut rows)?;
                }
            }
            rows.sort_unstable();
            for same in rows.chunk_by(|a, b| a == b).filter(|same| same.len() >= self.choice.hits) {
                or_raise(memory::push(&mut found, (Reverse(same.len()), n, same[0]), COLLECTING));
            }
        }
        found.sort_unstable();
        for same in found.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            for some in same.chunks(COMPARED) {
                if !self.wants(some[0].0.0) {
                    return Ok(());
                }
                rows.clear();
                rows.extend(some.iter().map(|&(_, _, row)| row));
                self.compare(&segments[some[0].1], &rows)?;
            }
        }
        Ok(())
    }

    /// Counts the lists of each row in windows of rows, and compares the rows of one window after
    /// another.
    fn in_windows(&mut self, segments: &[Segment], lists: &ValueLists) -> Looked<()> {
        for (n, segment) in segments.iter().enumerate() {
            let (mut few, mut long) = (Vec::new(), OpenLists::default());
            for &position in &self.choice.positions {
                if let Some(part) = lists.read(segment, n, position, &mut few)? {
                    long.push(part, 1);
                }
            }
            few.sort_unstable();
            let least = u16::try_from(self.choice.hits).unwrap_or(u16::MAX);
            let add = |counts: &mut RowCounts, window: Range<u32>| {
                or_raise(counts.add_rows(&few, 1));
                long.count(counts, window.end).map(|more| more || few.last() >= Some(&window.end))
            };
            in_windows(segment.about.rows, WINDOW, least, add, |counts| {
                let mut reached = counts.reached.clone();
                reached.retain(|&row| self.wants(counts.count(row).into()));
                reached.chunks(COMPARED).try_for_each(|some| self.compare(segment, some))
            })?;
        }
        Ok(())
    }
}
