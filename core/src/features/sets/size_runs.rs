//! The sizes of records, which ascend, as runs of records of equal size. There are few different
//! sizes, so the runs take hardly any memory, however many records there are.

use crate::error::Result;
use crate::memory;

const DOING: &str = "listing the sizes of records";

/// The distinct sizes of records, and the first record of each size.
#[derive(Debug, Clone, Default)]
pub struct SizeRuns {
    sizes: Vec<u32>,
    /// The first record of each size.
    firsts: Vec<u32>,
    /// The number of records.
    records: u32,
}

impl SizeRuns {
    /// Takes the sizes of all records, ascending.
    pub fn new(sizes: &[u32]) -> Result<Self> {
        let mut runs = Self::default();
        sizes.iter().try_for_each(|&size| runs.push(size))?;
        Ok(runs)
    }

    /// Adds a record, which is at least as large as all records before it.
    #[inline]
    pub fn push(&mut self, size: u32) -> Result<()> {
        if self.sizes.last() != Some(&size) {
            memory::push(&mut self.sizes, size, DOING)?;
            memory::push(&mut self.firsts, self.records, DOING)?;
        }
        self.records += 1;
        Ok(())
    }

    /// Returns the number of records.
    pub fn records(&self) -> usize {
        self.records as usize
    }

    /// Returns the distinct sizes, ascending.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// Returns the range of the records of the run with this number.
    pub fn range(&self, run: usize) -> std::ops::Range<u32> {
        self.firsts[run]..self.firsts.get(run + 1).copied().unwrap_or(self.records)
    }

    /// Returns the run of a record. O(log sizes).
    #[inline]
    pub fn run_of(&self, record: u32) -> usize {
        self.firsts.partition_point(|&first| first <= record) - 1
    }

    /// Returns the run of a record whose run is not before `run`. O(1) if it is `run`.
    #[inline]
    pub fn run_from(&self, run: usize, record: u32) -> usize {
        match self.firsts.get(run + 1) {
            Some(&next) if next <= record => {
                run + self.firsts[run + 1..].partition_point(|&first| first <= record)
            }
            _ => run,
        }
    }

    /// Returns the size of a record. O(log sizes).
    #[inline]
    pub fn size(&self, record: u32) -> u32 {
        self.sizes[self.run_of(record)]
    }

    /// Returns the first record whose size is `size` or more, or the number of records.
    pub fn first_of_size(&self, size: u32) -> u32 {
        let run = self.sizes.partition_point(|&other| other < size);
        self.firsts.get(run).copied().unwrap_or(self.records)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.sizes) + memory::bytes(&self.firsts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_say_what_the_sizes_say(mut sizes in prop::collection::vec(1..9u32, 0..40)) {
            sizes.sort_unstable();
            let runs = SizeRuns::new(&sizes).unwrap();
            prop_assert_eq!(runs.records(), sizes.len());
            let of_runs: Vec<u32> = (0..runs.sizes().len())
                .flat_map(|run| runs.range(run).map(|_| runs.sizes()[run]).collect::<Vec<_>>())
                .collect();
            prop_assert_eq!(&of_runs, &sizes);
            for (&size, record) in sizes.iter().zip(0..) {
                prop_assert_eq!(runs.size(record), size);
                let run = runs.run_of(record);
                for before in 0..=run {
                    prop_assert_eq!(runs.run_from(before, record), run);
                }
            }
            for size in 0..10 {
                let first = sizes.partition_point(|&other| other < size);
                prop_assert_eq!(runs.first_of_size(size) as usize, first);
            }
        }
    }
}
