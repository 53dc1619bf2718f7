//! Counts how many elements the rows of a group share with a sought string.

use std::cell::Cell;

use crate::pg::index::storage::list_reader::PieceRows;
use crate::pg::index::storage::segment::COLLECTING;
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

/// How many elements the rows of a group share with the sought string.
pub(super) struct GramCounts {
    /// The row whose count comes first, and the end of the rows that are counted.
    first: u32,
    end: u32,
    /// The number of elements at which a row is reached.
    least: u16,
    /// The greatest count.
    pub most: u16,
    /// Set if no count can be greater than 16 bits hold.
    is_small: bool,
    counts: Vec<u16>,
}

impl Default for GramCounts {
    fn default() -> Self {
        Self { first: 0, end: 0, least: 0, most: 0, is_small: true, counts: SPARE.take() }
    }
}

impl Drop for GramCounts {
    fn drop(&mut self) {
        if self.counts.capacity() <= KEPT {
            SPARE.set(std::mem::take(&mut self.counts));
        }
    }
}

impl GramCounts {
    /// Starts to count for the rows from `first` to `end`, of which none can share more than `all`.
    pub(super) fn begin(&mut self, first: u32, end: u32, least: u16, all: u32) {
        self.counts.clear();
        (self.first, self.end, self.least, self.most) = (first, end, least.max(1), 0);
        self.is_small = all <= u16::MAX.into();
    }

    /// Returns the count of a row.
    pub(super) fn count(&self, row: u32) -> u16 {
        // Rows before the first have numbers that wrap around.
        self.counts.get(row.wrapping_sub(self.first) as usize).copied().unwrap_or(0)
    }

    /// Makes room for counts up to this number.
    fn extend(&mut self, length: usize) -> error::Result<()> {
        if self.counts.len() < length {
            let more = length - self.counts.len();
            memory::reserve(&mut self.counts, more, COLLECTING)?;
            self.counts.resize(length, 0);
        }
        Ok(())
    }

    /// Adds an element that rows share, and to `reached` the rows that are reached by it.
    pub(super) fn add(
        &mut self,
        run: &PieceRows<'_>,
        weight: u16,
        reached: &mut Vec<u32>,
    ) -> error::Result<()> {
        let number = match run {
            PieceRows::Rows(rows) => rows.len(),
            PieceRows::Plain(_, distances) => distances.len(),
        };
        memory::reserve(reached, number, COLLECTING)?;
        match *run {
            PieceRows::Plain(from, distances)
                if self.is_small
                    && from >= self.first
                    && u64::from(from) + SPAN as u64 <= self.end.into() =>
            {
                let at = (from - self.first) as usize;
                self.extend(at + SPAN)?;
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
                        reached.push(from + u32::from(distance));
                    }
                }
                self.most = most;
            }
            PieceRows::Plain(from, distances) => {
                let row = |&distance| from + u32::from(u16::from_le_bytes(distance));
                distances.iter().map(row).try_for_each(|row| self.add_row(row, weight, reached))?;
            }
            PieceRows::Rows(rows) => rows.iter().try_for_each(|&row| self.add_row(row, weight, reached))?,
        }
        Ok(())
    }

    fn add_row(&mut self, row: u32, weight: u16, reached: &mut Vec<u32>) -> error::Result<()> {
        if !(self.first..self.end).contains(&row) {
            return Ok(());
        }
        let at = (row - self.first) as usize;
        self.extend(at + 1)?;
        let before = self.counts[at];
        let now = before.saturating_add(weight);
        self.counts[at] = now;
        self.most = self.most.max(now);
        if before < self.least && now >= self.least {
            reached.push(row);
        }
        Ok(())
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
            let (mut expected, mut reached) = (Vec::new(), Vec::new());
            let (mut rows, mut plain) = (GramCounts::default(), GramCounts::default());
            rows.begin(7, 1 << 20, least, u32::MAX);
            plain.begin(7, 1 << 20, least, all);
            for (list, weight) in &lists {
                rows.add(&PieceRows::Rows(list), *weight, &mut expected).unwrap();
                let distances: Vec<[u8; 2]> =
                    list.iter().map(|row| ((row - list[0]) as u16).to_le_bytes()).collect();
                plain.add(&PieceRows::Plain(list[0], &distances), *weight, &mut reached).unwrap();
            }
            assert_eq!(reached, expected, "{least}");
            assert_eq!(plain.most, rows.most);
            assert!((0..2100).all(|row| plain.count(row) == rows.count(row)), "{least}");
        }
    }
}
