//! The rows of the records of a join: those that have the same set, text or signature.
//!
//! Most records have one row. So a record's rows are found by the few records before it that have
//! more, and take little more than the four bytes of each row.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::executor::{self, Stop};
use crate::memory;
use crate::simd::prefetch::prefetch;

const DOING: &str = "listing the rows of records";

/// The number of records in a word.
const BITS: usize = u64::BITS as usize;

/// The rows of each record.
#[derive(Debug, Default)]
pub struct Members {
    rows: Vec<u32>,
    records: usize,
    /// For each 64 records, a bit for each that has not exactly one row, and the number of such
    /// records before them.
    others: Vec<[u64; 2]>,
    /// How much later the rows of a record end than if all records had one row, modulo 2³²: first
    /// without any record, then for each record that has not exactly one row. Rows are numbered
    /// with 32 bits, so their places have no more.
    shifts: Vec<u32>,
}

impl Members {
    /// Creates the members of records. `ends` has the end of each record's rows.
    pub fn new(rows: Vec<u32>, ends: impl IntoIterator<Item = u32>) -> Result<Self> {
        let mut members = Self { rows, ..Self::default() };
        ends.into_iter().try_for_each(|end| members.close_at(end))?;
        debug_assert_eq!(members.end(), members.rows.len());
        Ok(members)
    }

    /// Creates the members of records from a part of the rows of all tables. `starts` has the start
    /// of each record's rows among all rows, and the end of the last record's rows.
    pub(crate) fn of_part(
        rows: impl Iterator<Item = u32>,
        starts: &[usize],
        doing: &'static str,
    ) -> Result<Self> {
        if u32::try_from(starts.len()).is_err() {
            return Err(Error::TooMany { what: "different documents", limit: u32::MAX.into() });
        }
        let ends = starts.iter().skip(1).map(|end| (end - starts[0]) as u32);
        Self::new(memory::collect(rows, doing)?, ends)
    }

    /// Returns the rows of a record. The records of the right table, if there is one, follow those
    /// of the left table.
    pub fn of_either<'a>(left: &'a Self, right: Option<&'a Self>, record: u32) -> &'a [u32] {
        match (right, (record as usize).checked_sub(left.len())) {
            (Some(right), Some(record)) => right.rows(record),
            _ => left.rows(record as usize),
        }
    }

    /// Returns the number of records.
    pub fn len(&self) -> usize {
        self.records
    }

    /// Returns the rows of a record.
    #[inline]
    pub fn rows(&self, record: usize) -> &[u32] {
        &self.rows[self.range(record)]
    }

    #[inline]
    fn range(&self, record: usize) -> Range<usize> {
        let [others, before] = self.others[record / BITS];
        let bit = record % BITS;
        let before = before as usize + (others & !(u64::MAX << bit)).count_ones() as usize;
        let up_to = before + (others >> bit & 1) as usize;
        let [before, up_to] = [before, up_to].map(|n| self.shifts[n]);
        (record as u32).wrapping_add(before) as usize..(record as u32 + 1).wrapping_add(up_to) as usize
    }

    /// Returns the end of the last record's rows.
    fn end(&self) -> usize {
        let shift = self.shifts.last().copied().unwrap_or(0);
        (self.records as u32).wrapping_add(shift) as usize
    }

    /// Adds a record, whose rows end at a place among all rows.
    #[inline]
    fn close_at(&mut self, end: u32) -> Result<()> {
        if self.records.is_multiple_of(BITS) {
            if self.records == 0 {
                memory::refill(&mut self.shifts, [0], DOING)?;
            }
            memory::push(&mut self.others, [0, self.shifts.len() as u64 - 1], DOING)?;
        }
        if end as usize != self.end() + 1 {
            memory::push(&mut self.shifts, end.wrapping_sub(self.records as u32 + 1), DOING)?;
            self.others[self.records / BITS][0] |= 1 << (self.records % BITS);
        }
        self.records += 1;
        Ok(())
    }

    /// Adds the members of further records, whose row numbers differ by `from`, modulo 2³².
    pub(crate) fn append(&mut self, others: &Self, from: u32) -> Result<()> {
        let before = self.rows.len();
        memory::append(&mut self.rows, others.rows.iter().map(|row| row.wrapping_add(from)), DOING)?;
        (0..others.len()).try_for_each(|record| self.close_at((before + others.range(record).end) as u32))
    }

    /// Adds a record.
    pub(crate) fn push(&mut self, rows: &[u32]) -> Result<()> {
        memory::extend(&mut self.rows, rows, DOING)?;
        self.close_at(self.rows.len() as u32)
    }

    /// Gives all rows other numbers.
    pub(crate) fn replace(&mut self, number: impl Fn(u32) -> u32) {
        self.rows.iter_mut().for_each(|row| *row = number(*row));
    }

    /// Orders the rows of each record by their keys.
    pub fn sort_each(&mut self, keys: &[u64], stop: &Stop) -> Result<()> {
        for record in 0..self.len() {
            let range = self.range(record);
            let key = |row: u32| (keys[row as usize], row);
            executor::sort_unstable_by(&mut self.rows[range], stop, &|&a, &b| key(a).cmp(&key(b)))?;
        }
        Ok(())
    }

    /// Prefetches the place of the rows of a record.
    #[inline]
    pub fn prefetch_range(&self, record: u32) {
        prefetch(&self.others, record as usize / BITS);
    }

    /// Prefetches the rows of a record, if the record exists.
    #[inline]
    pub fn prefetch(&self, record: u32) {
        if (record as usize) < self.records {
            prefetch(&self.rows, self.range(record as usize).start);
        }
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.rows) + memory::bytes(&self.others) + memory::bytes(&self.shifts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_record_has_its_rows(
            counts in prop::collection::vec(prop_oneof![6 => Just(1usize), 1 => 0..4usize], 0..300),
            from in any::<u32>(),
        ) {
            let mut next = 0;
            let records: Vec<Vec<u32>> = counts.iter().map(|&count| {
                next += count as u32;
                (next - count as u32..next).rev().collect()
            }).collect();
            let mut pushed = Members::default();
            records.iter().for_each(|rows| pushed.push(rows).unwrap());
            let mut end = 0;
            let ends = records.iter().map(|rows| {
                end += rows.len() as u32;
                end
            });
            let made = Members::new(records.concat(), ends).unwrap();
            let mut appended = Members::default();
            appended.append(&pushed, 0).unwrap();
            appended.append(&made, from).unwrap();
            prop_assert_eq!(appended.len(), 2 * records.len());
            for (record, rows) in records.iter().enumerate() {
                prop_assert_eq!(pushed.rows(record), &rows[..]);
                prop_assert_eq!(made.rows(record), &rows[..]);
                prop_assert_eq!(appended.rows(record), &rows[..]);
                let moved: Vec<u32> = rows.iter().map(|row| row.wrapping_add(from)).collect();
                prop_assert_eq!(appended.rows(records.len() + record), &moved[..]);
                prop_assert_eq!(Members::of_either(&pushed, Some(&made), (records.len() + record) as u32), &rows[..]);
            }
            let keys: Vec<u64> = (0..next.into()).collect();
            pushed.sort_each(&keys, &Stop::default()).unwrap();
            for (record, rows) in records.iter().enumerate() {
                prop_assert!(pushed.rows(record).iter().eq(rows.iter().rev()));
            }
        }
    }
}
