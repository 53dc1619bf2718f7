//! Records in the order in which they arrive: in memory, or in a temporary file if they are too
//! many for it.

use bytemuck::Pod;

use crate::error::Result;
use crate::executor::Executor;
use crate::memory;
use crate::storage::files::{TempFile, TempFiles};

const DOING: &str = "keeping records";
/// The number of bytes that are written at one time once there is a file.
const WRITE: usize = 1 << 16;

/// The records so far: those of the file first, then those in memory.
pub struct Log<T> {
    /// The number of records that may be in memory.
    room: usize,
    held: Vec<T>,
    file: Option<Box<dyn TempFile>>,
    written: u64,
}

impl<T> std::fmt::Debug for Log<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Log of {} records and {} in a file", self.held.len(), self.written)
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { room: 0, held: Vec::new(), file: None, written: 0 }
    }
}

impl<T: Pod> Log<T> {
    /// Starts without records. About `budget` bytes of records are held in memory.
    pub fn new(budget: usize) -> Self {
        Self { room: budget / size_of::<T>(), ..Self::default() }
    }

    /// Returns the number of records.
    pub fn len(&self) -> u64 {
        self.written + self.held.len() as u64
    }

    /// Reports whether there is a file.
    pub fn is_in_file(&self) -> bool {
        self.file.is_some()
    }

    /// Adds a record. O(1).
    pub fn push(&mut self, record: T, files: &dyn TempFiles) -> Result<()> {
        if self.held.len() >= self.room {
            self.spill(files)?;
            if self.room == 0 {
                return self.write(&[record]);
            }
        }
        memory::push(&mut self.held, record, DOING)
    }

    /// Adds records. O(records).
    pub fn extend(&mut self, records: &[T], files: &dyn TempFiles) -> Result<()> {
        if self.held.len() + records.len() <= self.room {
            return memory::extend(&mut self.held, records, DOING);
        }
        self.spill(files)?;
        if records.len() <= self.room {
            return memory::extend(&mut self.held, records, DOING);
        }
        self.write(records)
    }

    /// Moves the records in memory to the file. From then on only a few are in memory.
    pub fn spill(&mut self, files: &dyn TempFiles) -> Result<()> {
        if self.file.is_none() {
            self.file = Some(files.create()?);
        }
        let held = std::mem::take(&mut self.held);
        self.write(&held)?;
        self.room = self.room.min(WRITE / size_of::<T>());
        Ok(())
    }

    fn write(&mut self, records: &[T]) -> Result<()> {
        if let Some(file) = self.file.as_mut().filter(|_| !records.is_empty()) {
            file.write(bytemuck::cast_slice(records))?;
            self.written += records.len() as u64;
        }
        Ok(())
    }

    /// Fills `records` with those from number `at` on.
    pub fn read(&mut self, at: u64, records: &mut [T]) -> Result<()> {
        let in_file = self.written.saturating_sub(at).min(records.len() as u64) as usize;
        let (first, rest) = records.split_at_mut(in_file);
        if let Some(file) = self.file.as_mut().filter(|_| in_file > 0) {
            file.read(at * size_of::<T>() as u64, bytemuck::cast_slice_mut(first))?;
        }
        if !rest.is_empty() {
            let from = (at + in_file as u64 - self.written) as usize;
            rest.copy_from_slice(&self.held[from..from + rest.len()]);
        }
        Ok(())
    }

    /// Appends `count` records, from number `at` on, to `records`.
    pub fn append(&mut self, at: u64, count: usize, records: &mut Vec<T>) -> Result<()> {
        let from = records.len();
        memory::fill(records, T::zeroed(), count, DOING)?;
        self.read(at, &mut records[from..])
    }

    /// Calls `each` with all records in order, `count` at a time.
    pub fn for_each(
        &mut self,
        count: usize,
        executor: &dyn Executor,
        mut each: impl FnMut(&[T]) -> Result<()>,
    ) -> Result<()> {
        let (mut piece, mut at) = (Vec::new(), 0);
        while at < self.len() {
            executor.check_interrupts()?;
            let length = (self.len() - at).min(count as u64) as usize;
            match at.checked_sub(self.written) {
                Some(from) => each(&self.held[from as usize..][..length])?,
                None => {
                    piece.clear();
                    self.append(at, length, &mut piece)?;
                    each(&piece)?;
                }
            }
            at += length as u64;
        }
        Ok(())
    }

    /// Returns the records in memory, which are all if there is no file.
    pub fn held_mut(&mut self) -> &mut Vec<T> {
        &mut self.held
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::hash::mix;
    use crate::storage::files::{MemoryFiles, NoFiles};

    #[test]
    fn records_come_back() {
        let executor = &PlainThreads(1);
        for budget in [0, 24, 10_000, 200_000, usize::MAX] {
            for count in [0, 1, 5000, 20_000usize] {
                let fits = count * size_of::<u64>() <= budget;
                let files: &dyn TempFiles = if fits { &NoFiles } else { &MemoryFiles };
                let all: Vec<u64> = (0..count as u64).map(|n| mix(n) % 1000).collect();
                let mut log = Log::new(budget);
                let (ones, others) = all.split_at(count / 3);
                ones.iter().try_for_each(|&record| log.push(record, files)).unwrap();
                others.chunks(7).try_for_each(|records| log.extend(records, files)).unwrap();
                assert_eq!((log.len(), log.is_in_file()), (count as u64, !fits));
                let mut read = Vec::new();
                log.for_each(13, executor, |records| memory::extend(&mut read, records, "testing")).unwrap();
                assert_eq!(read, all, "{budget} {count}");
                for at in (0..count).step_by(997) {
                    read.clear();
                    log.append(at as u64, (count - at).min(5), &mut read).unwrap();
                    assert_eq!(read, all[at..count.min(at + 5)]);
                }
                let mut sorted = log.sorted(&MemoryFiles, budget, executor).unwrap();
                let mut read = Vec::new();
                while let Some(record) = sorted.next(executor).unwrap() {
                    read.push(record);
                }
                let mut expected = all;
                expected.sort_unstable();
                assert_eq!(read, expected, "{budget} {count}");
            }
        }
    }
}
