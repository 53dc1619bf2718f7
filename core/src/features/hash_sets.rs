//! Documents as sets of 64-bit hashes of their tokens, without a dictionary.
//!
//! This is for methods that make sketches of the hashes. No token is looked up, and the candidates
//! that pass the sketches are compared by merging their two sorted sets. Tokens are distinguished
//! only by their hashes, as shingles always are.

use crate::error::Result;
use crate::executor::{self, Stop};
use crate::hash::mix;
use crate::memory;
use crate::radix;
use crate::storage::rows::Ragged;

const DOING: &str = "collecting sets of hashes";

/// Turns hashes in any order into an ascending set. If repeats count, the k-th occurrence of a
/// token is a separate element.
pub fn make_set(hashes: &mut Vec<u64>, multiset: bool, stop: &Stop) -> Result<()> {
    /// Fewer hashes are sorted by comparison in less time.
    const FEW: usize = 64;
    if hashes.len() < FEW {
        executor::sort_unstable_by(hashes, stop, &Ord::cmp)?;
    } else {
        radix::sort_by_hash(hashes, &mut Vec::new(), stop, DOING, |&hash| hash, &Ord::cmp)?;
    }
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
    pub(crate) sets: Ragged<u64>,
    /// The row of each set.
    pub(crate) rows: Vec<u32>,
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

/// The place of a set: the part that it is in, and its hashes there.
#[derive(Debug, Clone, Copy, Default)]
struct SetPlace {
    part: u32,
    length: u32,
    start: usize,
}

/// The sets of all workers, by row.
#[derive(Debug, Default)]
pub struct HashSets {
    parts: Vec<Vec<u64>>,
    places: Vec<SetPlace>,
}

impl HashSets {
    /// Takes the sets of all collectors.
    pub fn from_collectors(collectors: Vec<SetCollector>) -> Result<Self> {
        let (mut parts, mut places) = (Vec::new(), Vec::new());
        for (part, collector) in collectors.into_iter().enumerate() {
            let rows = collector.rows.iter().max().map_or(0, |&row| row as usize + 1);
            memory::lengthen(&mut places, SetPlace::default(), rows, DOING)?;
            for (n, &row) in collector.rows.iter().enumerate() {
                let set = collector.sets.range(n);
                // A text has at most 1 GB, so the number of tokens of a document fits in 32 bits.
                let (part, length) = (part as u32, set.len() as u32);
                places[row as usize] = SetPlace { part, length, start: set.start };
            }
            memory::push(&mut parts, collector.sets.values, DOING)?;
        }
        Ok(Self { parts, places })
    }

    /// Returns the set of a row; rows without a set have an empty one.
    #[inline]
    pub fn get(&self, row: u32) -> &[u64] {
        let Some(place) = self.places.get(row as usize) else { return &[] };
        match self.parts.get(place.part as usize) {
            Some(part) => &part[place.start..][..place.length as usize],
            None => &[],
        }
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(memory::bytes).sum::<usize>() + memory::bytes(&self.places)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
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
        fn sets_come_back(sets in prop::collection::vec(prop::collection::btree_set(0..20u64, 0..6), 0..20)) {
            let mut collectors = vec![SetCollector::default(), SetCollector::default()];
            for (row, set) in sets.iter().enumerate() {
                let set: Vec<u64> = set.iter().copied().collect();
                collectors[row % 2].add(row as u32, &set).unwrap();
            }
            let all = HashSets::from_collectors(collectors).unwrap();
            for (row, set) in sets.iter().enumerate() {
                prop_assert_eq!(&all.get(row as u32).iter().copied().collect::<BTreeSet<_>>(), set);
                for (other, and) in sets.iter().enumerate() {
                    let both = shared(all.get(row as u32), all.get(other as u32));
                    prop_assert_eq!(both, set.intersection(and).count());
                }
            }
        }
    }
}
