//! The places of records in a file. They take little more than two bytes for each record, which
//! has the number of its tokens; sizes ascend, and few of them differ unless tokens weigh.

use std::ops::Range;

use super::records::SizeRuns;
use crate::error::Result;
use crate::memory;

const DOING: &str = "placing records";

/// The sizes of records, and the places of their tokens, one record after the other.
#[derive(Debug, Default)]
pub struct RecordPlaces {
    runs: SizeRuns,
    /// For each record, the number of its tokens in the file; [`MANY`] if there are at least so
    /// many.
    shared: Vec<u16>,
    /// The records with many tokens, and the number of these.
    many: Vec<(u32, u32)>,
    /// The start of each [`EACH`]th record, counted in tokens.
    starts: Vec<u64>,
    end: u64,
}

const MANY: u16 = u16::MAX;
const EACH: usize = 32;

impl RecordPlaces {
    /// Adds a record of this size, of which `shared` tokens are in the file. It is at least as
    /// large as all records before it.
    pub fn push(&mut self, size: u32, shared: usize) -> Result<()> {
        let record = self.shared.len();
        if record.is_multiple_of(EACH) {
            memory::push(&mut self.starts, self.end, DOING)?;
        }
        let few = u16::try_from(shared).unwrap_or(MANY);
        if few == MANY {
            // Records, and the tokens of a document, are counted with 32 bits.
            memory::push(&mut self.many, (record as u32, shared as u32), DOING)?;
        }
        memory::push(&mut self.shared, few, DOING)?;
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
        match self.shared[record] {
            MANY => self.many[self.many.partition_point(|many| (many.0 as usize) < record)].1,
            few => few.into(),
        }
    }

    /// Returns the place of a record's first token. `record` may also be the number of records.
    pub fn start(&self, record: usize) -> u64 {
        if record == self.shared.len() {
            return self.end;
        }
        let before = record / EACH * EACH..record;
        self.starts[record / EACH] + before.map(|before| u64::from(self.shared(before))).sum::<u64>()
    }

    /// Returns the place of a record's tokens.
    pub fn range(&self, record: usize) -> Range<u64> {
        let start = self.start(record);
        start..start + u64::from(self.shared(record))
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.runs.bytes()
            + memory::bytes(&self.shared)
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
            mut records in prop::collection::vec((prop_oneof![0..9u32, 65_530..65_540u32], prop_oneof![0..3u32, 250..260u32]), 0..120),
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
