//! Counts how many of some lists the rows of a segment are in.

use std::cell::Cell;
use std::ops::{Range, RangeInclusive};

use crate::pg::index::pages::buffer::Looked;
use crate::pg::index::storage::list_reader::{GlancedLists, PartReader, PieceRows};
use crate::pg::index::storage::segment::{COLLECTING, Segment};
use crate::pg::server::error::or_raise;
use neardup_core::error;
use neardup_core::memory;

/// The number of plain rows that one piece of a list can have.
const SPAN: usize = 1 << 16;

/// The greatest number of counts whose memory is kept for the next search. The system would have to
/// empty new memory.
const KEPT: usize = 1 << 20;

thread_local! {
    static SPARE: Cell<Vec<u16>> = const { Cell::new(Vec::new()) };
}

/// The sums of the weights of the lists that each row of a window is in.
pub(super) struct RowCounts {
    /// The row whose count comes first, and the end of the rows that are counted.
    first: u32,
    end: u32,
    /// The count at which a row is reached.
    least: u16,
    /// The greatest count.
    pub most: u16,
    /// Set if no count can be greater than 16 bits hold.
    is_small: bool,
    counts: Vec<u16>,
    /// The rows that are reached.
    pub reached: Vec<u32>,
}

impl Default for RowCounts {
    fn default() -> Self {
        let counts = SPARE.take();
        Self { first: 0, end: 0, least: 0, most: 0, is_small: true, counts, reached: Vec::new() }
    }
}

impl Drop for RowCounts {
    fn drop(&mut self) {
        if self.counts.capacity() <= KEPT {
            SPARE.set(std::mem::take(&mut self.counts));
        }
    }
}

impl RowCounts {
    /// Starts to count for the rows of a window, of which none can have a greater count than `all`.
    pub(super) fn begin(&mut self, window: Range<u32>, least: u16, all: u32) {
        self.counts.clear();
        self.reached.clear();
        (self.first, self.end, self.least, self.most) = (window.start, window.end, least.max(1), 0);
        self.is_small = all <= u16::MAX.into();
    }

    /// Returns the count of a row.
    pub(super) fn count(&self, row: u32) -> u16 {
        // Rows before the first have numbers that wrap around.
        self.counts.get(row.wrapping_sub(self.first) as usize).copied().unwrap_or(0)
    }

    /// Adds some rows of a list, and collects those that are reached by it.
    pub(super) fn add(&mut self, run: &PieceRows<'_>, weight: u16) -> error::Result<()> {
        match *run {
            PieceRows::Plain(from, distances)
                if self.is_small
                    && from >= self.first
                    && u64::from(from) + SPAN as u64 <= self.end.into() =>
            {
                memory::reserve(&mut self.reached, distances.len(), COLLECTING)?;
                let at = (from - self.first) as usize;
                memory::lengthen(&mut self.counts, 0, at + SPAN, COLLECTING)?;
                let Some(counts) = self.counts[at..].first_chunk_mut::<SPAN>() else { return Ok(()) };
                let (least, mut most) = (self.least, self.most);
                for &distance in distances {
                    let distance = u16::from_le_bytes(distance);
                    let count = &mut counts[usize::from(distance)];
                    // The sums do not wrap around. The difference does for a row that was reached
                    // before, and then it is at least `weight`.
                    let missing = (least - 1).wrapping_sub(*count);
                    *count = count.wrapping_add(weight);
                    most = most.max(*count);
                    if missing < weight {
                        self.reached.push(from + u32::from(distance));
                    }
                }
                self.most = most;
                Ok(())
            }
            PieceRows::Plain(from, distances) => {
                let row = |&distance: &[u8; 2]| from + u32::from(u16::from_le_bytes(distance));
                distances.iter().map(row).try_for_each(|row| self.add_rows(&[row], weight))
            }
            PieceRows::Rows(rows) => self.add_rows(rows, weight),
        }
    }

    /// Adds those of some rows of a list, which ascend, that are in the window.
    pub(super) fn add_rows(&mut self, rows: &[u32], weight: u16) -> error::Result<()> {
        let rows = &rows[rows.partition_point(|&row| row < self.first)..];
        let rows = &rows[..rows.partition_point(|&row| row < self.end)];
        let Some(&last) = rows.last() else { return Ok(()) };
        memory::lengthen(&mut self.counts, 0, (last - self.first) as usize + 1, COLLECTING)?;
        let Self { first, least, mut most, ref mut counts, ref mut reached, .. } = *self;
        for &row in rows {
            let count = &mut counts[(row - first) as usize];
            let before = *count;
            *count = before.saturating_add(weight);
            most = most.max(*count);
            if before < least && *count >= least {
                memory::push(reached, row, COLLECTING)?;
            }
        }
        self.most = most;
        Ok(())
    }
}

/// Calls `add` to count the rows of one window after another, as long as it reports that there are
/// more, and `look` with the counts of each.
pub(super) fn in_windows(
    rows: u32,
    size: u32,
    least: u16,
    mut add: impl FnMut(&mut RowCounts, Range<u32>) -> Looked<bool>,
    mut look: impl FnMut(&RowCounts) -> Looked<()>,
) -> Looked<()> {
    let mut counts = RowCounts::default();
    for start in (0..rows).step_by(size as usize) {
        pgrx::check_for_interrupts!();
        let window = start..rows.min(start.saturating_add(size));
        counts.begin(window.clone(), least, u32::MAX);
        let more = add(&mut counts, window)?;
        counts.reached.sort_unstable();
        look(&counts)?;
        if !more {
            break;
        }
    }
    Ok(())
}

/// Lists in several segments, with their numbers of rows.
pub(super) struct CountedLists {
    /// The lists of each segment.
    pub lists: Vec<Vec<GlancedLists>>,
    /// For each list, the number of its rows in all segments.
    pub sums: Vec<u64>,
}

impl CountedLists {
    /// Counts the rows of the lists of ranges of classes, while `goes_on` with the number of rows
    /// of the last one. The rows of short lists are kept, up to `most` rows in all.
    pub(super) fn new(
        segments: &[Segment],
        ranges: impl Iterator<Item = RangeInclusive<u64>>,
        most: u64,
        mut goes_on: impl FnMut(u64) -> bool,
    ) -> Looked<Self> {
        /// Of lists of at most so many rows, the rows are kept.
        const SHORT: u64 = 64;
        let mut lists: Vec<Vec<GlancedLists>> = segments.iter().map(|_| Vec::new()).collect();
        let (mut sums, mut kept) = (Vec::new(), 0);
        for range in ranges {
            let mut sum = 0;
            for (segment, lists) in segments.iter().zip(&mut lists) {
                pgrx::check_for_interrupts!();
                let short = if kept < most { SHORT } else { 0 };
                let list = PartReader::glance(segment, *range.start(), *range.end(), short)?;
                sum += list.rows;
                kept += list.few.as_ref().map_or(0, |few| few.len() as u64);
                or_raise(memory::push(lists, list, COLLECTING));
            }
            or_raise(memory::push(&mut sums, sum, COLLECTING));
            if !goes_on(sum) {
                break;
            }
        }
        Ok(Self { lists, sums })
    }
}

/// Lists of which the same windows are read, with their weights.
#[derive(Default)]
pub(super) struct OpenLists<'a> {
    lists: Vec<(Option<PartReader<'a>>, u16)>,
    rows: Vec<u32>,
}

impl<'a> OpenLists<'a> {
    /// Adds a list.
    pub(super) fn push(&mut self, list: PartReader<'a>, weight: u16) {
        or_raise(memory::push(&mut self.lists, (Some(list), weight), COLLECTING));
    }

    /// Counts the next rows of the lists, those before `end`. Reports whether there are more.
    pub(super) fn count(&mut self, counts: &mut RowCounts, end: u32) -> Looked<bool> {
        let mut more = false;
        for (list, weight) in &mut self.lists {
            let Some(part) = list else { continue };
            self.rows.clear();
            let goes_on = part.rows_before(end, &mut self.rows)?;
            or_raise(counts.add_rows(&self.rows, *weight));
            if !goes_on {
                *list = None;
            }
            more |= goes_on;
        }
        Ok(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plain rows are counted as others are, and each row is reached once.
    #[test]
    fn pg_plain_rows_are_counted_as_others() {
        let lists: Vec<(Vec<u32>, u16)> = (0..9_u32)
            .map(|n| ((7..2000).filter(|row| row * (n + 3) % 7 < 2 + n % 3).collect(), 1 + (n % 4) as u16))
            .collect();
        for (least, all) in [(0, 18), (1, 18), (5, 18), (9, 18), (20, 20), (9, u32::MAX), (u16::MAX, 65535)] {
            let (mut rows, mut plain) = (RowCounts::default(), RowCounts::default());
            rows.begin(7..1 << 20, least, u32::MAX);
            plain.begin(7..1 << 20, least, all);
            for (list, weight) in &lists {
                rows.add(&PieceRows::Rows(list), *weight).unwrap();
                let distances: Vec<[u8; 2]> =
                    list.iter().map(|row| ((row - list[0]) as u16).to_le_bytes()).collect();
                plain.add(&PieceRows::Plain(list[0], &distances), *weight).unwrap();
            }
            assert_eq!(plain.reached, rows.reached, "{least}");
            assert_eq!(plain.most, rows.most);
            assert!((0..2100).all(|row| plain.count(row) == rows.count(row)), "{least}");
        }
    }
}
