//! Records that arrive one at a time and are sorted when all of them are there. They are in memory,
//! or in a temporary file if they are too many for it. A spool owns its files, so that it may be
//! kept from call to call.

use bytemuck::Pod;

use crate::error::Result;
use crate::executor::Executor;
use crate::memory;
use crate::storage::files::{TempFile, TempFiles};
use crate::storage::sort::{Sorted, Sorter};

const DOING: &str = "collecting records";

/// The records so far.
pub struct Spool<F, T> {
    files: F,
    budget: usize,
    held: Vec<T>,
    file: Option<Box<dyn TempFile>>,
    written: u64,
}

impl<F, T> std::fmt::Debug for Spool<F, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Spool of {} records and {} in a file", self.held.len(), self.written)
    }
}

impl<F: TempFiles, T: Pod + Ord + Send> Spool<F, T> {
    /// Starts without records. About `budget` bytes of records are held in memory.
    pub fn new(files: F, budget: usize) -> Self {
        Self { files, budget, held: Vec::new(), file: None, written: 0 }
    }

    /// Adds a record. O(1).
    pub fn push(&mut self, record: T) -> Result<()> {
        memory::push(&mut self.held, record, DOING)?;
        if memory::bytes(&self.held) <= self.budget / 2 {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(self.files.create()?),
        };
        file.write(bytemuck::cast_slice(&self.held))?;
        self.written += self.held.len() as u64;
        self.held.clear();
        Ok(())
    }

    /// Returns the records in order, and the files, for further temporary files.
    pub fn sorted(self, executor: &dyn Executor) -> Result<(Sorted<T>, F)> {
        const PIECE: u64 = 1 << 12;
        let Self { files, budget, held, mut file, written } = self;
        let mut sorter = Sorter::new(&files, budget / 2);
        let mut at = 0;
        let mut piece: Vec<T> = Vec::new();
        while let Some(file) = file.as_mut().filter(|_| at < written) {
            let count = PIECE.min(written - at);
            piece.clear();
            memory::reserve(&mut piece, count as usize, DOING)?;
            piece.resize(count as usize, T::zeroed());
            file.read(at * size_of::<T>() as u64, bytemuck::cast_slice_mut(&mut piece))?;
            executor.check_interrupts()?;
            piece.iter().try_for_each(|&record| sorter.push(record, executor))?;
            at += count;
        }
        drop(file);
        held.into_iter().try_for_each(|record| sorter.push(record, executor))?;
        let sorted = sorter.sorted(executor)?;
        Ok((sorted, files))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::hash::mix;
    use crate::storage::files::MemoryFiles;

    #[test]
    fn all_records_in_order() {
        for budget in [0, 10_000, usize::MAX] {
            for count in [0, 1, 5000, 20_000u64] {
                let mut spool = Spool::new(MemoryFiles, budget);
                (0..count).for_each(|n| spool.push(mix(n) % 1000).unwrap());
                let executor = PlainThreads(1);
                let (mut sorted, _) = spool.sorted(&executor).unwrap();
                let mut all = Vec::new();
                while let Some(record) = sorted.next(&executor).unwrap() {
                    all.push(record);
                }
                let mut expected: Vec<u64> = (0..count).map(|n| mix(n) % 1000).collect();
                expected.sort_unstable();
                assert_eq!(all, expected, "{budget} {count}");
            }
        }
    }
}
