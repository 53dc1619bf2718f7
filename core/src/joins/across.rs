//! Leaves out the pairs of rows of one source. The rows of a record are divided by their sources
//! first, so what is a pair is decided once for all rows of a record that are of one source.

use super::pairs::{PairedRecords, Pairs};
use super::{Counts, RecordJoin, RecordPair};
use crate::error::{Error, Result};
use crate::executor::{self, Executor, Stop};
use crate::features::sets::members::Members;
use crate::memory;

const DOING: &str = "dividing rows by their sources";

/// The number of a row that has no source, and is in no pair.
const NONE: u32 = u32::MAX;

impl Pairs {
    /// Leaves out the pairs of rows with equal numbers, and those of rows without a number
    /// (`u32::MAX`). `numbers` has the number of each row; the rows of the right table follow those
    /// of the left one.
    pub(crate) fn across(self, numbers: &[u32], executor: &dyn Executor) -> Result<Self> {
        let Self { join, mut records, .. } = self;
        let (left, right) = (std::mem::take(&mut records.left), records.right.take());
        let mut sides = [Some(left), right].map(|members| (members, DividedRecords::default()));
        executor::each(executor, &mut sides, |(members, parts), stop| match members {
            Some(members) => {
                *parts = DividedRecords::new(members, numbers, stop)?;
                Ok(())
            }
            None => Ok(()),
        })?;
        let has_right = sides[1].0.is_some();
        let [(_, mut left), (_, mut right)] = sides;
        let members = (std::mem::take(&mut left.members), std::mem::take(&mut right.members));
        let parts = (left, has_right.then_some(right));
        let join = AcrossJoin { join, parts, records, next_equal: 0, batch: Vec::new(), next: 0, at: (0, 0) };
        Ok(Self::of_records(Box::new(join), members.0, has_right.then_some(members.1), Vec::new()))
    }
}

/// The records of a table, divided into parts: the rows of one record and one source.
#[derive(Debug, Default)]
pub(crate) struct DividedRecords {
    /// The rows of each part.
    pub members: Members,
    /// The first part of each record, and the end of the last one's.
    pub firsts: Vec<u32>,
    /// The source of each part.
    pub sources: Vec<u32>,
}

impl DividedRecords {
    /// Divides records by the numbers of their rows' sources.
    pub(crate) fn new(records: &Members, numbers: &[u32], stop: &Stop) -> Result<Self> {
        const CHECK_EVERY: usize = 1 << 12;
        let number = |row: u32| numbers.get(row as usize).copied().unwrap_or(NONE);
        let mut divided = Self::default();
        memory::reserve(&mut divided.firsts, records.len() + 1, DOING)?;
        let (mut rows, mut part) = (Vec::new(), Vec::new());
        for record in 0..records.len() {
            stop.check_every(record, CHECK_EVERY)?;
            divided.firsts.push(divided.sources.len() as u32);
            rows.clear();
            let known = records.rows(record).iter().map(|&row| (number(row), row));
            memory::append(&mut rows, known.filter(|&(source, _)| source != NONE), DOING)?;
            executor::sort_unstable_by(&mut rows, stop, &Ord::cmp)?;
            for rows in rows.chunk_by(|a, b| a.0 == b.0) {
                part.clear();
                memory::append(&mut part, rows.iter().map(|&(_, row)| row), DOING)?;
                divided.members.push(&part)?;
                memory::push(&mut divided.sources, rows[0].0, DOING)?;
            }
        }
        if u32::try_from(divided.sources.len()).is_err() {
            return Err(Error::TooMany { what: "different documents", limit: u32::MAX.into() });
        }
        divided.firsts.push(divided.sources.len() as u32);
        Ok(divided)
    }

    /// Returns the parts of a record.
    fn parts(&self, record: u32) -> std::ops::Range<u32> {
        self.firsts[record as usize]..self.firsts[record as usize + 1]
    }

    fn source(&self, part: u32) -> u32 {
        self.sources[part as usize]
    }

    fn bytes(&self) -> usize {
        memory::bytes(&self.firsts) + memory::bytes(&self.sources)
    }
}

/// Makes pairs of parts of records from pairs of records.
#[derive(Debug)]
struct AcrossJoin {
    join: Box<dyn RecordJoin>,
    /// The parts of the records of the only or left table, and those of the right table.
    parts: (DividedRecords, Option<DividedRecords>),
    /// Of the records, only those whose rows form pairs with each other, and the next of them.
    records: PairedRecords,
    next_equal: usize,
    /// The pairs of records that are being divided, the next of them, and the next parts of its two
    /// records.
    batch: Vec<RecordPair>,
    next: usize,
    at: (u32, u32),
}

impl AcrossJoin {
    /// Returns the next pairs of records to divide. A record whose rows form pairs with each other
    /// comes as a pair with itself.
    fn records(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        const EQUAL: usize = 1 << 12;
        let rest = &self.records.equal[self.next_equal..];
        if rest.is_empty() {
            return self.join.next_batch(executor);
        }
        let batch = (self.next_equal..).zip(rest).take(EQUAL).map(|(place, &record)| RecordPair {
            left: record,
            right: record,
            similarity: self.records.similarity(place),
        });
        let batch = memory::collect(batch, DOING)?;
        self.next_equal += batch.len();
        Ok(Some(batch))
    }
}

impl RecordJoin for AcrossJoin {
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>> {
        const BATCH: usize = 1 << 14;
        /// The number of pairs of parts that are looked at in a batch.
        const LOOKS: usize = 1 << 18;
        executor.check_interrupts()?;
        if self.next == self.batch.len() {
            let Some(batch) = self.records(executor)? else { return Ok(None) };
            (self.batch, self.next, self.at) = (batch, 0, (0, 0));
        }
        let (mut found, mut looked) = (Vec::new(), 0);
        let (left_parts, right_parts) = &self.parts;
        let is_self = right_parts.is_none();
        let right_parts = right_parts.as_ref().unwrap_or(left_parts);
        while let Some(&RecordPair { left, right, similarity }) = self.batch.get(self.next) {
            let (lefts, rights) = (left_parts.parts(left), right_parts.parts(right));
            let (n, m) = self.at;
            let (one, other) = (lefts.start + n, rights.start + m);
            looked += 1;
            if one >= lefts.end {
                (self.next, self.at) = (self.next + 1, (0, 0));
            } else if other >= rights.end {
                // The parts of one record are paired once.
                let is_same = is_self && left == right;
                self.at = (n + 1, if is_same { n + 2 } else { 0 });
            } else {
                self.at.1 += 1;
                if left_parts.source(one) != right_parts.source(other) {
                    memory::push(&mut found, RecordPair { left: one, right: other, similarity }, DOING)?;
                }
            }
            if found.len() >= BATCH || looked >= LOOKS {
                break;
            }
        }
        Ok(Some(found))
    }

    fn counts(&self) -> Counts {
        self.join.counts()
    }

    fn progress(&self) -> f64 {
        self.join.progress()
    }

    fn bytes(&self) -> usize {
        let (left, right) = &self.parts;
        self.join.bytes()
            + left.bytes()
            + right.as_ref().map_or(0, DividedRecords::bytes)
            + self.records.bytes()
            + memory::bytes(&self.batch)
    }
}
