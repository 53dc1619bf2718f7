//! Finds the rows whose minhash sketches agree with a target in many values, by the lists of the
//! target's values.
//!
//! A row that differs from the target in at most *d* values is in at least *L* − *d* of any *L* of
//! the target's lists. The search reads the shortest lists, at least *d* + 1 of them, counts in how
//! many each row is, and compares the sketches of the rows that are in enough of them
//! (T-occurrence; Li, Lu and Lu, ICDE 2008). If all lists are short, it finds even the most distant
//! rows.

use std::cmp::Reverse;

use super::live_segments::living;
use crate::pg::index::layout::items::HeapRow;
use crate::pg::index::layout::meta::Directory;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::options::StorageOptions;
use crate::pg::index::families::probe::Target;
use crate::pg::index::families::value_lists::{BITS, signatures};
use crate::pg::index::pages::buffer::{Looked, OpenIndex};
use crate::pg::index::storage::list_reader::PartReader;
use crate::pg::index::storage::pending::{self, PendingPages};
use crate::pg::index::storage::segment::{COLLECTING, Segment};
use crate::pg::server::error::or_raise;
use neardup_core::memory;

/// Lists of at most so many rows are kept when their rows are counted.
const KEPT: u64 = 64;
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

/// A search for sketches near a target.
pub(super) struct SketchTarget<'a> {
    /// The target.
    pub target: &'a Target,
    /// The largest number of values that may differ.
    pub most: u32,
    /// The rows that are welcome if they cost little to find, although more values differ.
    pub more: More,
}

/// Rows that differ in more values than the largest number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum More {
    /// None.
    Nothing,
    /// Those that the lists find which are looked at in any case.
    Some,
    /// All rows with any value in common.
    All,
}

/// What a search found.
pub(super) struct FoundSketches {
    /// The search found all rows that differ in at most this many values.
    pub reached: u32,
    /// True if some of these rows were left out because they were not wanted.
    pub left_out: bool,
}

/// Calls `each` with rows, their sketches and the number of values in which these differ from the
/// target, perhaps more than once. The sketch of a pending row may be empty if more values differ
/// than `sought.most`. `each` returns the greatest number of such values of the rows that are still
/// wanted.
pub(super) fn search_values(
    index: OpenIndex,
    keys: &ClassKeys,
    sought: &SketchTarget<'_>,
    each: &mut dyn FnMut(HeapRow, &[u8], u32) -> u32,
) -> Looked<FoundSketches> {
    let Target::Sketch(sketch) = sought.target else {
        return Ok(FoundSketches { reached: sought.most, left_out: false });
    };
    let mut wanted = u32::MAX;
    // The pending pages are read before the directory, so that a row that is moving from the
    // pending pages to a segment is seen.
    let mut later = Vec::new();
    let mut pages = PendingPages::all(index, &Directory::read(index).meta);
    while let Some((block, contents)) = pages.next()? {
        for item in pending::items(index, block, &contents) {
            keys.check(index, block, &item);
            if item.row.has(NO_SKETCH) {
                continue;
            }
            let difference = keys.difference(sought.target, item.row, item.bytes);
            if difference <= sought.most {
                wanted = each(item.row, item.bytes, difference);
            } else if sought.more != More::Nothing {
                or_raise(memory::push(&mut later, (item.row, difference), COLLECTING));
            }
        }
    }
    let directory = Directory::read(index);
    let segments = living(index, &directory, keys)?;
    let lists = ValueLists::count(index, &segments, sketch, sought)?;
    let choice = lists.choose(keys.meta.width, sought);
    for (row, difference) in later {
        if difference <= choice.reached {
            wanted = each(row, &[], difference);
        }
    }
    let mut search = ValueSearch { keys, sought, choice, wanted, left_out: false, each };
    if lists.rows(&search.choice.positions) <= CHEAP {
        search.by_hits(&segments, &lists)?;
    } else {
        search.in_windows(&segments, &lists)?;
    }
    Ok(FoundSketches { reached: search.choice.reached, left_out: search.left_out })
}

/// The list of a value in a segment.
struct ValueList {
    /// The number of its rows.
    rows: u64,
    /// The rows, if they are few.
    few: Option<Vec<u32>>,
}

/// The lists of a target's values.
struct ValueLists {
    classes: Vec<u64>,
    /// For each segment, the lists of the values that were looked at, which are the first ones.
    lists: Vec<Vec<ValueList>>,
    /// For each of these values, the number of rows that have it.
    sums: Vec<u64>,
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
    fn count(
        index: OpenIndex,
        segments: &[Segment],
        sketch: &[u8],
        sought: &SketchTarget<'_>,
    ) -> Looked<Self> {
        let mut classes = Vec::new();
        signatures(sketch, |signature| classes.push(signature >> (u64::BITS - BITS)));
        let limit = Some(StorageOptions::read(index).stop_limit()).filter(|&limit| limit > 0);
        let enough = match sought.more {
            More::Nothing | More::Some if limit.is_none() => (sought.most as usize).saturating_add(1 + EXTRA),
            _ => classes.len(),
        };
        let limit = limit.unwrap_or(u64::MAX);
        let mut short = 0;
        let mut sums: Vec<u64> = Vec::new();
        let mut lists: Vec<Vec<ValueList>> = segments.iter().map(|_| Vec::new()).collect();
        for &class in &classes {
            if short >= enough {
                break;
            }
            let mut sum = 0;
            for (segment, lists) in segments.iter().zip(&mut lists) {
                pgrx::check_for_interrupts!();
                let list = list(segment, class)?;
                sum += list.rows;
                or_raise(memory::push(lists, list, COLLECTING));
            }
            sums.push(sum);
            short += usize::from(sum <= SHORT);
        }
        Ok(Self { classes, lists, sums, limit })
    }

    /// Returns the number of rows in the lists of these values.
    fn rows(&self, positions: &[usize]) -> u64 {
        positions.iter().map(|&n| self.sums[n]).fold(0, u64::saturating_add)
    }

    /// Chooses the lists to read for sketches of `values` values, among those that were looked at.
    fn choose(&self, values: u32, sought: &SketchTarget<'_>) -> Choice {
        let mut positions: Vec<usize> =
            (0..self.sums.len()).filter(|&n| self.sums[n] <= self.limit).collect();
        positions.sort_by_key(|&n| self.sums[n]);
        if positions.len() < self.sums.len() {
            // The owner of the index accepts that rows are lost.
            return Choice { positions, reached: values.saturating_sub(1), hits: 1, bounded: false };
        }
        let (mut cheap, mut sum) = (0, 0_u64);
        while let Some(&n) = positions.get(cheap) {
            sum = sum.saturating_add(self.sums[n]);
            if sum > CHEAP {
                break;
            }
            cheap += 1;
        }
        let needed = (sought.most as usize).saturating_add(1).min(positions.len());
        let is_cheap = cheap >= needed;
        positions.truncate(if is_cheap { cheap } else { needed + EXTRA });
        let lists = positions.len() as u32;
        let goes_on = is_cheap && sought.more != More::Nothing;
        let reached = if goes_on { lists - 1 } else { sought.most.min(lists - 1) };
        Choice { positions, reached, hits: (lists - reached) as usize, bounded: true }
    }
}

/// Looks at the list of a value in a segment.
fn list(segment: &Segment, class: u64) -> Looked<ValueList> {
    let mut part = PartReader::of_class(segment, class)?;
    part.skip_to(class)?;
    let (mut rows, mut few, mut piece) = (0_u64, Vec::new(), Vec::new());
    while let Some((_, count)) =
        part.next_of_few(KEPT.saturating_sub(rows), &mut piece)?.filter(|&(found, _)| found == class)
    {
        rows += count;
        or_raise(memory::extend(&mut few, &piece, COLLECTING));
    }
    Ok(ValueList { rows, few: (rows <= KEPT).then_some(few) })
}

/// A search that knows which lists it reads.
struct ValueSearch<'a> {
    keys: &'a ClassKeys,
    sought: &'a SketchTarget<'a>,
    choice: Choice,
    wanted: u32,
    left_out: bool,
    each: &'a mut dyn FnMut(HeapRow, &[u8], u32) -> u32,
}

impl ValueSearch<'_> {
    /// Reports whether rows with so many hits may still be wanted.
    fn wants(&mut self, hits: usize) -> bool {
        let least = if self.choice.bounded { self.choice.positions.len().saturating_sub(hits) } else { 0 };
        let wants = least as u64 <= u64::from(self.wanted);
        self.left_out |= !wants;
        wants
    }

    /// Compares the sketches of rows, whose numbers ascend.
    fn compare(&mut self, segment: &Segment, rows: &[u32]) -> Looked<()> {
        let (keys, target, reached) = (self.keys, self.sought.target, self.choice.reached);
        segment.look(rows.iter().copied(), |_, row, sketch| {
            if row.has(NO_SKETCH) {
                return;
            }
            let difference = keys.difference(target, row, sketch);
            if difference <= reached {
                self.wanted = (self.each)(row, sketch, difference);
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
                match &lists.lists[n][position].few {
                    Some(few) => or_raise(memory::extend(&mut rows, few, COLLECTING)),
                    None => {
                        let mut part = PartReader::of_class(segment, lists.classes[position])?;
                        if part.find(lists.classes[position])? {
                            part.rows_before(u32::MAX, &mut rows)?;
                        }
                    }
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
        let mut counts = or_raise(memory::filled(0_u16, WINDOW as usize, COLLECTING));
        for (segment, of_segment) in segments.iter().zip(&lists.lists) {
            let (mut few, mut parts) = (Vec::new(), Vec::new());
            for &position in &self.choice.positions {
                match &of_segment[position].few {
                    Some(rows) => or_raise(memory::extend(&mut few, rows, COLLECTING)),
                    None => {
                        let mut part = PartReader::of_class(segment, lists.classes[position])?;
                        if part.find(lists.classes[position])? {
                            or_raise(memory::push(&mut parts, (part, true), COLLECTING));
                        }
                    }
                }
            }
            few.sort_unstable();
            let (mut few, mut rows, mut reached) = (few.as_slice(), Vec::new(), Vec::new());
            for start in (0..segment.about.rows).step_by(WINDOW as usize) {
                pgrx::check_for_interrupts!();
                let end = start.saturating_add(WINDOW);
                rows.clear();
                let (now, rest) = few.split_at(few.partition_point(|&row| row < end));
                or_raise(memory::extend(&mut rows, now, COLLECTING));
                few = rest;
                self.count(start, &rows, &mut counts, &mut reached);
                for (part, more) in parts.iter_mut().filter(|(_, more)| *more) {
                    rows.clear();
                    *more = part.rows_before(end, &mut rows)?;
                    self.count(start, &rows, &mut counts, &mut reached);
                }
                reached.sort_unstable();
                reached.retain(|&row| self.wants(counts[(row - start) as usize].into()));
                for some in reached.chunks(COMPARED) {
                    self.compare(segment, some)?;
                }
                reached.clear();
                counts.fill(0);
            }
        }
        Ok(())
    }

    /// Counts a list for its rows. Appends to `reached` the rows that are now in enough lists.
    fn count(&self, start: u32, rows: &[u32], counts: &mut [u16], reached: &mut Vec<u32>) {
        for &row in rows {
            let count = &mut counts[(row - start) as usize];
            *count += 1;
            if usize::from(*count) == self.choice.hits {
                or_raise(memory::push(reached, row, COLLECTING));
            }
        }
    }
}
