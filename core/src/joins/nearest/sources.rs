//! A search across sources: the rows of a set that are of one source are a record of their own,
//! which is compared only with records of other sources.
//!
//! Records of one set follow each other. They are equal to each other, and are not searched for.

use std::sync::Arc;

use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::sets::members::Members;
use crate::features::sets::records::Records;
use crate::joins::across::DividedRecords;
use crate::memory;
use crate::simd::columns::{BitColumn, RECORDS};

const DOING: &str = "finding the nearest across sources";

/// The sources of records.
#[derive(Debug)]
pub struct Sources {
    /// For each set the ranks of its rows, ascending.
    sets: Members,
    /// The first record of each set, and the end of the last one's.
    firsts: Vec<u32>,
    /// The set and the source of each record, and the source of each row by its rank.
    set_of: Vec<u32>,
    sources: Vec<u32>,
    source_of_rank: Arc<Vec<u32>>,
    /// The records of each source, ascending.
    records: Members,
}

impl Sources {
    /// Divides the sets by the sources of their rows. `sets` has the ranks of the rows of each set,
    /// ascending, and `source_of_rank` the source of each row. Returns the ranks of the rows of
    /// each record.
    pub fn divide(
        sets: Members,
        source_of_rank: Arc<Vec<u32>>,
        executor: &dyn Executor,
    ) -> Result<(Members, Self)> {
        let mut parts = (DividedRecords::default(), Vec::new());
        executor::one(executor, &mut parts, |(divided, by_source), stop| {
            *divided = DividedRecords::new(&sets, &source_of_rank, stop)?;
            *by_source = memory::collect(divided.sources.iter().copied().zip(0..), DOING)?;
            executor::sort_unstable_by(by_source, stop, &Ord::cmp)
        })?;
        let (DividedRecords { members, firsts, sources }, by_source) = parts;
        let mut set_of = Vec::new();
        memory::reserve(&mut set_of, sources.len(), DOING)?;
        for (set, parts) in (0..).zip(firsts.windows(2)) {
            set_of.extend((parts[0]..parts[1]).map(|_| set));
        }
        let of_sources = by_source.last().map_or(0, |&(most, _)| most + 1);
        let start = |of: u32| by_source.partition_point(|&(source, _)| source < of) as u32;
        let records = memory::collect(by_source.iter().map(|&(_, record)| record), DOING)?;
        let records = Members::new(records, (1..=of_sources).map(start))?;
        Ok((members, Self { sets, firsts, set_of, sources, source_of_rank, records }))
    }

    /// Returns the first record of a set.
    pub fn first(&self, set: usize) -> usize {
        self.firsts[set] as usize
    }

    /// Returns the records of these sets.
    pub fn records(&self, mut sets: Records) -> Result<Records> {
        sets.repeated(&self.set_of)
    }

    /// Reports whether a record is searched for as one that is near another.
    pub fn are_compared(&self, record: usize, other: usize) -> bool {
        self.sources[record] != self.sources[other] && self.set_of[record] != self.set_of[other]
    }

    /// Removes the records of a block that are not compared with a record.
    pub fn remove(&self, record: usize, block: usize, found: &mut BitColumn) {
        let mut clear = |other: usize| found.0[other % RECORDS / 64] &= !(1 << (other % 64));
        let of_source = self.records.rows(self.sources[record] as usize);
        let first = of_source.partition_point(|&other| (other as usize) < block * RECORDS);
        let of_source = of_source[first..].iter().map(|&other| other as usize);
        of_source.take_while(|other| other / RECORDS == block).for_each(&mut clear);
        let set = self.set_of[record] as usize;
        let of_set = self.firsts[set] as usize..self.firsts[set + 1] as usize;
        (of_set.start.max(block * RECORDS)..of_set.end.min((block + 1) * RECORDS)).for_each(&mut clear);
    }

    /// Returns the ranks of the first `wanted` rows that have the set of a record and another
    /// source.
    pub fn equal_rows(&self, record: usize, wanted: usize) -> Result<Vec<u32>> {
        let rows = self.sets.rows(self.set_of[record] as usize).iter().copied();
        let others = rows.filter(|&rank| self.source_of_rank[rank as usize] != self.sources[record]);
        let mut first = Vec::new();
        for rank in others.take(wanted) {
            memory::push(&mut first, rank, DOING)?;
        }
        Ok(first)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        let numbers = [&self.firsts, &self.set_of, &self.sources, &self.source_of_rank];
        self.sets.bytes() + self.records.bytes() + numbers.map(memory::bytes).iter().sum::<usize>()
    }
}
