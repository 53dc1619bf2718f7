//! The places of records in a file. They take little more than a byte for each record, because the
//! number of its tokens follows from its size, and records are in ascending order of size.

use std::ops::Range;

use super::records::SizeRuns;
use crate::error::Result;
use crate::memory;

const DOING: &str = "placing records";

/// The sizes of records, and the places of their tokens, one record after the other.
#[derive(Debug, Default)]
pub struct RecordPlaces {
    runs: SizeRuns,
    /// For each record, the number of its tokens that are not in the file; [`MANY`] if there are
    /// at least so many.
    lone: Vec<u8>,
    /// The records with many such tokens, and the number of these.
    many: Vec<(u32, u32)>,
    /// The start of each [`EACH`]th record, counted in tokens.
    starts: Vec<u64>,
    end: u64,
}

const MANY: u8 = u8::MAX;
const EACH: usize = 32;

impl RecordPlaces {
    /// Adds a record of `size` tokens, of which `shared` are in the file. It is at least as large
    /// as all records before it.
    pub fn push(&mut self, size: u32, shared: usize) -> Result<()> {
        // A record has at most as many shared tokens as tokens.
        let lone = size - shared as u32;
        let record = self.lone.len();
        if record.is_multiple_of(EACH) {
            memory::push(&mut self.starts, self.end, DOING)?;
        }
        if lone >= u32::from(MANY) {
            memory::push(&mut self.many, (record as u32, lone), DOING)?;
        }
        memory::push(&mut self.lone, u8::try_from(lone).unwrap_or(MANY), DOING)?;
        self.runs.push(size)?;
        self.end += shared as u64;
        Ok(())
    }

    /// Returns the sizes of the records.
    pub fn runs(&self) -> &SizeRuns {
        &self.runs
    }

    /// Returns the number of tokens of a record that are in the file.
    #[inline]
    pub fn shared(&self, record: usize) -> u32 {
        self.runs.size(record as u32) - self.lone(record)
    }

    #[inline]
    fn lone(&self, record: usize) -> u32 {
        match self.lone[record] {
            MANY => self.many[self.many.partition_point(|many| (many.0 as usize) < record)].1,
            few => few.into(),
        }
    }

    /// Returns the place of a record's first token. `record` may also be the number of records.
    pub fn start(&self, record: usize) -> u64 {
        if record == self.lone.len() {
            return self.end;
        }
        let first = record / EACH * EACH;
        let mut run = self.runs.run_of(first as u32);
        (first..record).fold(self.starts[record / EACH], |start, before| {
            run = self.runs.run_from(run, before as u32);
            start + u64::from(self.runs.sizes()[run] - self.lone(before))
        })
    }

    /// Returns the place of a record's tokens.
    pub fn range(&self, record: usize) -> Range<u64> {
        let start = self.start(record);
        start..start + u64::from(self.shared(record))
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.runs.bytes()
            + memory::bytes(&self.lone)
            + memory::bytes(&self.many)
            + memory::bytes(&self.starts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_follow_each_other(
            mut records in prop::collection::vec((0..9u32, prop_oneof![0..3u32, 250..260u32]), 0..120),
        ) {
            records.sort_by_key(|(shared, lone)| shared + lone);
            let mut places = RecordPlaces::default();
            for &(shared, lone) in &records {
                places.push(shared + lone, shared as usize).unwrap();
            }
            let mut start = 0;
            for (record, &(shared, lone)) in records.iter().enumerate() {
                prop_assert_eq!(places.shared(record), shared);
                prop_assert_eq!(places.runs().size(record as u32), shared + lone);
                prop_assert_eq!(places.range(record), start..start + u64::from(shared));
                start += u64::from(shared);
            }
            prop_assert_eq!(places.start(records.len()), start);
        }
    }
}
