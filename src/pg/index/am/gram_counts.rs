//! Counts how many elements the rows of a group share with a sought string.

use std::cell::Cell;

use crate::pg::index::storage::list_reader::Run;
use crate::pg::index::storage::segment::COLLECTING;
use crate::pg::server::error::or_raise;
use neardup_core::memory;

/// The number of plain rows that one piece of a list can have.
const SPAN: usize = 1 << 16;

/// The greatest number of counts whose memory is kept for the next search. The system would have to
/// empty new memory.
const KEPT: usize = 1 << 20;

thread_local! {
    static SPARE: Cell<Vec<u16>> = const { Cell::new(Vec::new()) };
}

/// How many elements the rows of a group share with the sought string.
pub(super) struct Counts {
    /// The row whose count comes first, and the end of the rows that are counted.
    first: u32,
    end: u32,
    /// The number of elements at which a row is reached.
    least: u16,
    /// The greatest count.
    pub most: u16,
    counts: Vec<u16>,
}

impl Default for Counts {
    fn default() -> Self {
        Self { first: 0, end: 0, least: 0, most: 0, counts: SPARE.take() }
    }
}

impl Drop for Counts {
    fn drop(&mut self) {
        if self.counts.capacity() <= KEPT {
            SPARE.set(std::mem::take(&mut self.counts));
        }
    }
}

impl Counts {
    /// Starts to count for the rows from `first` to `end`.
    pub(super) fn begin(&mut self, first: u32, end: u32, least: u16) {
        self.counts.clear();
        (self.first, self.end, self.least, self.most) = (first, end, least, 0);
    }

    /// Returns the count of a row.
    pub(super) fn of(&self, row: u32) -> u16 {
        // Rows before the first have numbers that wrap around.
        self.counts.get(row.wrapping_sub(self.first) as usize).copied().unwrap_or(0)
    }

    /// Makes room for counts up to this number.
    fn extend(&mut self, length: usize) {
        if self.counts.len() < length {
            let more = length - self.counts.len();
            or_raise(memory::reserve(&mut self.counts, more, COLLECTING));
            self.counts.resize(length, 0);
        }
    }

    /// Adds an element that rows share, and to `reached` the rows that are reached by it.
    pub(super) fn add(&mut self, run: &Run<'_>, weight: u16, reached: &mut Vec<u32>) {
        let number = match run {
            Run::Rows(rows) => rows.len(),
            Run::Plain(_, distances) => distances.len(),
        };
        or_raise(memory::reserve(reached, number, COLLECTING));
        match *run {
            Run::Plain(from, distances)
                if from >= self.first && u64::from(from) + SPAN as u64 <= self.end.into() =>
            {
                let at = (from - self.first) as usize;
                self.extend(at + SPAN);
                let Some(counts) = self.counts[at..].first_chunk_mut::<SPAN>() else { return };
                let (least, mut most) = (self.least, self.most);
                for &distance in distances {
                    let distance = u16::from_le_bytes(distance);
                    let count = &mut counts[usize::from(distance)];
                    let before = *count;
                    let now = before.saturating_add(weight);
                    *count = now;
                    most = most.max(now);
                    if before < least && now >= least {
                        reached.push(from + u32::from(distance));
                    }
                }
                self.most = most;
            }
            Run::Plain(from, distances) => {
                let row = |&distance| from + u32::from(u16::from_le_bytes(distance));
                distances.iter().map(row).for_each(|row| self.add_row(row, weight, reached));
            }
            Run::Rows(rows) => rows.iter().for_each(|&row| self.add_row(row, weight, reached)),
        }
    }

    fn add_row(&mut self, row: u32, weight: u16, reached: &mut Vec<u32>) {
        if !(self.first..self.end).contains(&row) {
            return;
        }
        let at = (row - self.first) as usize;
        self.extend(at + 1);
        let before = self.counts[at];
        let now = before.saturating_add(weight);
        self.counts[at] = now;
        self.most = self.most.max(now);
        if before < self.least && now >= self.least {
            reached.push(row);
        }
    }
}
