//! Sorts records that may be too many for memory: sorted blocks go to a temporary file and are
//! merged. O(records · log records); each record is written and read at most once.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::ops::Range;

use bytemuck::Pod;

use crate::error::Result;
use crate::executor::{self, Executor};
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;

const DOING: &str = "sorting";
/// The number of records between two checks for interrupts.
const PIECE: usize = 1 << 14;

/// Implements the order of a record by a key that is compared faster than its fields one after the
/// other would be. Records of equal keys have to be equal.
macro_rules! order_by_key {
    ($record:ty, |$of:ident| $key:expr) => {
        impl Ord for $record {
            #[inline]
            fn cmp(&self, other: &Self) -> std::cmp::Ordering {
                let key = |$of: &Self| $key;
                key(self).cmp(&key(other))
            }
        }

        impl PartialOrd for $record {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
                Some(self.cmp(other))
            }
        }
    };
}
pub(crate) use order_by_key;

/// Returns two numbers as one, which is compared at once.
#[inline]
pub(crate) fn both(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// Returns two numbers as one, which is compared at once.
#[inline]
pub(crate) fn both_long(first: u64, second: u64) -> u128 {
    u128::from(first) << 64 | u128::from(second)
}

/// Records to be sorted.
pub struct Sorter<'f, T> {
    files: &'f dyn TempFiles,
    /// The number of records that fit in memory.
    room: usize,
    held: Vec<T>,
    /// The records that did not fit, in sorted blocks.
    log: Log<T>,
    blocks: Vec<Range<u64>>,
}

impl<'f, T: Pod + Ord + Send> Sorter<'f, T> {
    /// However little memory there is, so many records are held.
    const LEAST_ROOM: usize = 256;

    /// Starts without records. About `budget` bytes of records are held in memory.
    pub fn new(files: &'f dyn TempFiles, budget: usize) -> Self {
        let room = (budget / size_of::<T>()).max(Self::LEAST_ROOM);
        Self { files, room, held: Vec::new(), log: Log::default(), blocks: Vec::new() }
    }

    /// Returns the number of records.
    pub fn len(&self) -> u64 {
        self.log.len() + self.held.len() as u64
    }

    /// Adds a record. O(1), in addition to the sort when memory is full.
    pub fn push(&mut self, record: T, executor: &dyn Executor) -> Result<()> {
        if self.held.len() >= self.room {
            self.write(executor)?;
        }
        memory::push(&mut self.held, record, DOING)
    }

    /// Sorts the records in memory in one block for each thread, and writes the blocks to the file.
    fn write(&mut self, executor: &dyn Executor) -> Result<()> {
        let block = self.held.len().div_ceil(executor.count()).max(1);
        let mut blocks: Vec<&mut [T]> = self.held.chunks_mut(block).collect();
        executor::each(executor, &mut blocks, |block, stop| {
            executor::sort_unstable_by(block, stop, &Ord::cmp)
        })?;
        for block in self.held.chunks(block) {
            let from = self.log.len();
            for piece in block.chunks(PIECE) {
                self.log.extend(piece, self.files)?;
                executor.check_interrupts()?;
            }
            self.blocks.push(from..self.log.len());
        }
        self.held.clear();
        Ok(())
    }

    /// Returns the records in order, one at a time.
    pub fn sorted(mut self, executor: &dyn Executor) -> Result<Sorted<T>> {
        if self.log.is_in_file() {
            self.write(executor)?;
            self.held = Vec::new();
        } else {
            executor::sort(executor, &mut self.held, Ord::cmp)?;
        }
        let merge = Merge::new(self.log, self.blocks, self.room / 2, executor, &|&record| record)?;
        Ok(Sorted { held: self.held, next: 0, merge })
    }

    /// Calls `each` with the records in order, and removes them all.
    pub fn drain(&mut self, executor: &dyn Executor, mut each: impl FnMut(T) -> Result<()>) -> Result<()> {
        if !self.log.is_in_file() && self.held.is_sorted() {
            self.held.iter().try_for_each(|&record| each(record))?;
            self.held.clear();
            return Ok(());
        }
        let empty = Self::new(self.files, self.room * size_of::<T>());
        let mut sorted = std::mem::replace(self, empty).sorted(executor)?;
        while let Some(record) = sorted.next(executor)? {
            each(record)?;
        }
        Ok(())
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.held)
    }
}

/// Blocks of a log that are sorted by a key, to be merged. The same function has to be passed as
/// `key` to all calls.
#[derive(Debug)]
pub struct Merge<T, K> {
    log: Log<T>,
    blocks: Vec<Range<u64>>,
    /// What was not read yet of each block.
    rest: Vec<Range<u64>>,
    /// The number of records of a block that are read at one time.
    piece: u64,
    /// For each block, the records that were read last, and the index of the next one.
    buffers: Vec<(Vec<T>, usize)>,
    /// The key of the next record of each block.
    heads: BinaryHeap<Reverse<(K, usize)>>,
}

impl<T: Pod, K: Ord> Merge<T, K> {
    /// Prepares to merge the blocks with about `room` records in memory.
    pub fn new(
        log: Log<T>,
        blocks: Vec<Range<u64>>,
        room: usize,
        executor: &dyn Executor,
        key: &impl Fn(&T) -> K,
    ) -> Result<Self> {
        // The blocks share the room equally, but each gets at least some records, however many
        // blocks there are.
        let piece = (room / blocks.len().max(1)).clamp(64, PIECE) as u64;
        let buffers = vec![(Vec::new(), 0); blocks.len()];
        let mut merge = Self { log, blocks, rest: Vec::new(), piece, buffers, heads: BinaryHeap::new() };
        merge.rewind(executor, key)?;
        Ok(merge)
    }

    /// Goes back to the first record.
    fn rewind(&mut self, executor: &dyn Executor, key: &impl Fn(&T) -> K) -> Result<()> {
        self.rest.clone_from(&self.blocks);
        self.heads.clear();
        for block in 0..self.blocks.len() {
            let (buffer, next) = &mut self.buffers[block];
            buffer.clear();
            *next = 0;
            let head = self.head(block, executor, key)?;
            self.heads.extend(head.map(|head| Reverse((head, block))));
        }
        Ok(())
    }

    /// Returns the key of the next record of a block.
    fn head(&mut self, block: usize, executor: &dyn Executor, key: &impl Fn(&T) -> K) -> Result<Option<K>> {
        let (buffer, next) = &mut self.buffers[block];
        if *next == buffer.len() {
            let range = &mut self.rest[block];
            let length = self.piece.min(range.end - range.start);
            buffer.clear();
            self.log.append(range.start, length as usize, buffer)?;
            range.start += length;
            *next = 0;
            executor.check_interrupts()?;
        }
        Ok(buffer.get(*next).map(key))
    }

    /// Returns the next record, or `None` after the last.
    pub fn next(&mut self, executor: &dyn Executor, key: &impl Fn(&T) -> K) -> Result<Option<T>> {
        let Some(&Reverse((_, block))) = self.heads.peek() else { return Ok(None) };
        let (buffer, next) = &mut self.buffers[block];
        let record = buffer[*next];
        *next += 1;
        let following = self.head(block, executor, key)?;
        if let Some(mut head) = self.heads.peek_mut() {
            match following {
                Some(following) => *head = Reverse((following, block)),
                None => drop(PeekMut::pop(head)),
            }
        }
        Ok(Some(record))
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.buffers.iter().map(|(buffer, _)| memory::bytes(buffer)).sum()
    }
}

/// Sorted records, which are returned one at a time.
pub struct Sorted<T> {
    /// The records, if all of them are in memory.
    held: Vec<T>,
    next: usize,
    merge: Merge<T, T>,
}

impl<T: Pod + Ord> Sorted<T> {
    /// Goes back to the first record.
    pub fn rewind(&mut self, executor: &dyn Executor) -> Result<()> {
        self.next = 0;
        self.merge.rewind(executor, &|&record| record)
    }

    /// Returns the next record, or `None` after the last.
    pub fn next(&mut self, executor: &dyn Executor) -> Result<Option<T>> {
        if self.merge.log.is_in_file() {
            return self.merge.next(executor, &|&record| record);
        }
        executor::breathe(executor, self.next, PIECE)?;
        let record = self.held.get(self.next).copied();
        self.next += 1;
        Ok(record)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.held) + self.merge.bytes()
    }
}

impl<T: Pod + Ord + Send> Log<T> {
    /// Returns the records in order of size, sorted in about `budget` bytes.
    pub fn sorted(
        mut self,
        files: &dyn TempFiles,
        budget: usize,
        executor: &dyn Executor,
    ) -> Result<Sorted<T>> {
        let mut sorter = Sorter::new(files, budget);
        self.for_each(PIECE, executor, |records| {
            records.iter().try_for_each(|&record| sorter.push(record, executor))
        })?;
        drop(self);
        sorter.sorted(executor)
    }
}

/// Sorted records, those that belong together at a time.
pub struct Groups<T> {
    records: Sorted<T>,
    head: Option<T>,
}

impl<T: Pod + Ord> Groups<T> {
    /// Starts with the first group.
    pub fn new(mut records: Sorted<T>, executor: &dyn Executor) -> Result<Self> {
        let head = records.next(executor)?;
        Ok(Self { records, head })
    }

    /// Goes back to the first group.
    pub fn rewind(&mut self, executor: &dyn Executor) -> Result<()> {
        self.records.rewind(executor)?;
        self.head = self.records.next(executor)?;
        Ok(())
    }

    /// Hands out the records that have a key. Keys have to be asked for in ascending order.
    pub fn for_key<K: PartialOrd>(
        &mut self,
        wanted: K,
        key: impl Fn(&T) -> K,
        mut each: impl FnMut(T) -> Result<()>,
        executor: &dyn Executor,
    ) -> Result<()> {
        while let Some(next) = self.head.filter(|next| key(next) <= wanted) {
            if key(&next) == wanted {
                each(next)?;
            }
            self.head = self.records.next(executor)?;
        }
        Ok(())
    }

    /// Replaces the content of `group` with the next records that have the same key. `join` is
    /// called with the last one and the next one of a group, and returns whether the last one now
    /// stands for both. Returns whether there was a group.
    pub fn next<K: PartialEq>(
        &mut self,
        group: &mut Vec<T>,
        key: impl Fn(&T) -> K,
        join: impl Fn(&mut T, &T) -> bool,
        executor: &dyn Executor,
    ) -> Result<bool> {
        group.clear();
        let Some(of) = self.head.as_ref().map(&key) else { return Ok(false) };
        while let Some(next) = self.head.filter(|next| key(next) == of) {
            if !group.last_mut().is_some_and(|last| join(last, &next)) {
                memory::push(group, next, DOING)?;
            }
            self.head = self.records.next(executor)?;
        }
        Ok(true)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.records.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::hash::mix;
    use crate::storage::files::MemoryFiles;

    #[test]
    fn sorts_as_memory_would() {
        let executor = &PlainThreads(3);
        let all: Vec<u64> = (0..100_000).map(|n| mix(n) % 70_000).collect();
        let mut expected = all.clone();
        expected.sort_unstable();
        for budget in [0, 1 << 18, 1 << 24] {
            let mut sorter = Sorter::new(&MemoryFiles, budget);
            for _ in 0..2 {
                all.iter().try_for_each(|&record| sorter.push(record, executor)).unwrap();
                assert_eq!((sorter.len(), sorter.log.is_in_file()), (100_000, budget < 1 << 19));
                let mut found = Vec::new();
                sorter.drain(executor, |record| memory::push(&mut found, record, "testing")).unwrap();
                assert!(found == expected && sorter.len() == 0);
            }
        }
        let mut pairs = Sorter::new(&MemoryFiles, 0);
        (0..1000u32).try_for_each(|n| pairs.push([n % 7, n / 100], executor)).unwrap();
        let mut groups = Groups::new(pairs.sorted(executor).unwrap(), executor).unwrap();
        let (mut group, mut all) = (Vec::new(), Vec::new());
        while groups.next(&mut group, |pair| pair[0], |last, next| last == next, executor).unwrap() {
            all.extend_from_slice(&group);
        }
        assert_eq!(all, (0..70).map(|n| [n / 10, n % 10]).collect::<Vec<[u32; 2]>>());
        let none = Sorter::<u64>::new(&MemoryFiles, 0).sorted(executor).unwrap().next(executor);
        assert_eq!(none, Ok(None));
    }
}
