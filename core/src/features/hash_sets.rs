//! Documents as sets of 64-bit hashes of their tokens, without a dictionary.
//!
//! This is for methods that make sketches of the hashes. No token is looked up, and the candidates
//! that pass the sketches are compared by merging their two sorted sets. Tokens are distinguished
//! only by their hashes, as shingles always are. Sets stay in memory until memory runs short; then
//! all sets go to a temporary file.

use std::ops::Range;

use crate::error::Result;
use crate::executor::{self, Stop};
use crate::hash::mix;
use crate::memory;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;
use crate::storage::rows::Ragged;

const DOING: &str = "collecting sets of hashes";

/// Turns hashes in any order into an ascending set. If repeats count, the k-th occurrence of a
/// token is a separate element.
pub fn make_set(hashes: &mut Vec<u64>, multiset: bool, stop: &Stop) -> Result<()> {
    executor::sort_unstable_by(hashes, stop, &Ord::cmp)?;
    if !multiset {
        hashes.dedup();
        return Ok(());
    }
    let (mut nth, mut last, mut repeated) = (1u64, None, false);
    for hash in hashes.iter_mut() {
        if last == Some(*hash) {
            nth += 1;
            *hash = mix(*hash ^ mix(nth));
            repeated = true;
        } else {
            (last, nth) = (Some(*hash), 1);
        }
    }
    if repeated {
        executor::sort_unstable_by(hashes, stop, &Ord::cmp)?;
        // It is very rare that an occurrence has the hash of another token.
        hashes.dedup();
    }
    Ok(())
}

/// Counts the hashes that two sets share.
pub fn shared(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        // There are no branches, because it is unpredictable which of the two hashes is less.
        shared += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    shared
}

/// The sets of one worker.
#[derive(Debug, Default)]
pub struct SetCollector {
    sets: Ragged<u64>,
    rows: Vec<u32>,
}

impl SetCollector {
    /// Adds the set of a row.
    pub fn add(&mut self, row: u32, set: &[u64]) -> Result<()> {
        memory::reserve(&mut self.rows, 1, DOING)?;
        self.sets.push(set, DOING)?;
        self.rows.push(row);
        Ok(())
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.sets.bytes() + memory::bytes(&self.rows)
    }
}

/// The place of a set.
#[derive(Debug, Clone, Copy, Default)]
struct SetPlace {
    /// The part that the set is in, or [`SetPlace::FILE`] for the file.
    part: u32,
    length: u32,
    start: u64,
}

impl SetPlace {
    const FILE: u32 = u32::MAX;
}

/// The sets of all workers, by row.
#[derive(Debug, Default)]
pub struct HashSets {
    parts: Vec<Vec<u64>>,
    file: Log<u64>,
    places: Vec<SetPlace>,
}

/// Some sets in memory.
#[derive(Debug)]
pub struct Loaded<'a> {
    parts: &'a [Vec<u64>],
    places: &'a [SetPlace],
    /// The sets that were read from the file. `rows` has their rows in ascending order, and for
    /// each row the range of its set in `space`.
    space: Vec<u64>,
    rows: Vec<(u32, Range<usize>)>,
}

impl Loaded<'_> {
    /// Returns the set of a row. The row must be among the loaded rows.
    #[inline]
    pub fn get(&self, row: u32) -> &[u64] {
        if self.rows.is_empty() {
            return self.in_memory(row);
        }
        match self.rows.binary_search_by_key(&row, |(row, _)| *row) {
            Ok(n) => &self.space[self.rows[n].1.clone()],
            Err(_) => &[],
        }
    }

    #[inline]
    fn in_memory(&self, row: u32) -> &[u64] {
        let Some(place) = self.places.get(row as usize) else { return &[] };
        match self.parts.get(place.part as usize) {
            Some(part) => &part[place.start as usize..][..place.length as usize],
            None => &[],
        }
    }
}

impl HashSets {
    /// Moves the sets of the collectors from memory to a file.
    pub fn spill(&mut self, collectors: &mut [SetCollector], files: &dyn TempFiles) -> Result<()> {
        self.file.spill(files)?;
        for collector in collectors {
            let collector = std::mem::take(collector);
            self.place(&collector, SetPlace::FILE, self.file.len())?;
            self.file.extend(&collector.sets.values, files)?;
        }
        Ok(())
    }

    /// Takes the sets of all collectors. No sets may be added after this call. If earlier sets are
    /// in a file, these sets go to that file, too.
    pub fn finish(&mut self, mut collectors: Vec<SetCollector>, files: &dyn TempFiles) -> Result<()> {
        if self.file.is_in_file() {
            return self.spill(&mut collectors, files);
        }
        for (part, collector) in collectors.into_iter().enumerate() {
            self.place(&collector, part as u32, 0)?;
            memory::push(&mut self.parts, collector.sets.values, DOING)?;
        }
        Ok(())
    }

    fn place(&mut self, collector: &SetCollector, part: u32, base: u64) -> Result<()> {
        let rows = collector.rows.iter().max().map_or(0, |&row| row as usize + 1);
        memory::lengthen(&mut self.places, SetPlace::default(), rows, DOING)?;
        for (n, &row) in collector.rows.iter().enumerate() {
            let set = collector.sets.range(n);
            // A text has at most 1 GB, so the number of tokens of a document fits in 32 bits.
            self.places[row as usize] =
                SetPlace { part, length: set.len() as u32, start: base + set.start as u64 };
        }
        Ok(())
    }

    /// Returns the number of hashes in the set of a row.
    #[inline]
    pub fn size(&self, row: u32) -> u32 {
        self.places.get(row as usize).map_or(0, |place| place.length)
    }

    /// Reports whether the sets are in a file.
    pub fn is_in_file(&self) -> bool {
        self.file.is_in_file()
    }

    /// Loads the sets of some rows. If the sets are in a file, this call sorts `rows`, removes
    /// repeats from it, and reads from the file in the leader's thread.
    pub fn load(&mut self, rows: &mut Vec<u32>) -> Result<Loaded<'_>> {
        let (mut space, mut loaded) = (Vec::new(), Vec::new());
        if self.file.is_in_file() {
            rows.sort_unstable();
            rows.dedup();
            memory::reserve(&mut loaded, rows.len(), DOING)?;
            for &row in rows.iter() {
                let place = self.places.get(row as usize).copied().unwrap_or_default();
                let start = space.len();
                self.file.append(place.start, place.length as usize, &mut space)?;
                loaded.push((row, start..space.len()));
            }
        }
        Ok(Loaded { parts: &self.parts, places: &self.places, space, rows: loaded })
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(memory::bytes).sum::<usize>() + memory::bytes(&self.places)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::storage::files::{MemoryFiles, NoFiles};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn repeats_count_where_they_should() {
        let mut hashes = vec![7, 3, 7, 7];
        make_set(&mut hashes, false, &Stop::default()).unwrap();
        assert_eq!(hashes, [3, 7]);
        let mut hashes = vec![7, 3, 7, 7];
        make_set(&mut hashes, true, &Stop::default()).unwrap();
        assert_eq!(hashes.len(), 4);
        let mut twice = vec![7, 7];
        make_set(&mut twice, true, &Stop::default()).unwrap();
        assert_eq!(shared(&hashes, &twice), 2);
    }

    proptest! {
        #[test]
        fn sets_come_back_from_memory_and_from_files(
            sets in prop::collection::vec(prop::collection::btree_set(0..20u64, 0..6), 0..20),
            spill_every in prop::option::of(1..5usize),
        ) {
            let mut collectors = vec![SetCollector::default(), SetCollector::default()];
            let mut all = HashSets::default();
            for (row, set) in sets.iter().enumerate() {
                let set: Vec<u64> = set.iter().copied().collect();
                collectors[row % 2].add(row as u32, &set).unwrap();
                if spill_every.is_some_and(|every| row % every == 0) {
                    all.spill(&mut collectors, &MemoryFiles).unwrap();
                }
            }
            let files: &dyn TempFiles = if spill_every.is_some() { &MemoryFiles } else { &NoFiles };
            all.finish(collectors, files).unwrap();
            let mut rows: Vec<u32> = (0..sets.len() as u32).rev().collect();
            let loaded = all.load(&mut rows).unwrap();
            for (row, set) in sets.iter().enumerate() {
                prop_assert_eq!(&loaded.get(row as u32).iter().copied().collect::<BTreeSet<_>>(), set);
                for (other, and) in sets.iter().enumerate() {
                    let both = shared(loaded.get(row as u32), loaded.get(other as u32));
                    prop_assert_eq!(both, set.intersection(and).count());
                }
            }
        }
    }
}
