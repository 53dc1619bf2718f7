//! Lists by hashes of 32 bits: the entries of all lists, in the order of their hashes, and where
//! those of about one hash begin. An entry takes 4 to 8 bytes more than itself, and a list is found
//! by two reads.

use std::ops::Range;

use crate::error::{Error, Result};
use crate::memory;
use crate::simd::prefetch::prefetch;

const DOING: &str = "listing hashes";

/// An entry of the list of a hash.
pub(crate) trait HashEntry {
    /// Returns the hash.
    fn hash(&self) -> u32;
}

/// The lists of all hashes.
#[derive(Debug)]
pub(crate) struct HashLists<T> {
    /// The entries, in ascending order of their hashes.
    pub(crate) entries: Vec<T>,
    /// The least hash.
    least: u32,
    /// The number of low bits that hashes of one bucket may differ in.
    shift: u32,
    /// The start of each bucket, and the end of the last one.
    starts: Vec<u32>,
}

impl<T: HashEntry> HashLists<T> {
    /// Takes sorted entries. Their hashes are spread evenly, whatever their range. `what` names the
    /// entries, if they are too many. O(entries).
    pub(crate) fn new(entries: Vec<T>, what: &'static str) -> Result<Self> {
        if u32::try_from(entries.len()).is_err() {
            return Err(Error::TooMany { what, limit: u32::MAX.into() });
        }
        let [least, most] = [entries.first(), entries.last()].map(|entry| entry.map_or(0, T::hash));
        let bits = u32::BITS - (most - least).leading_zeros();
        let shift = bits.saturating_sub(entries.len().max(2).ilog2());
        let mut starts: Vec<u32> = memory::zeroed(((most - least) >> shift) as usize + 2, DOING)?;
        entries.iter().for_each(|entry| starts[((entry.hash() - least) >> shift) as usize + 1] += 1);
        (1..starts.len()).for_each(|bucket| starts[bucket] += starts[bucket - 1]);
        Ok(Self { entries, least, shift, starts })
    }

    /// Returns the bucket of a hash; there may be none.
    #[inline]
    fn bucket(&self, hash: u32) -> usize {
        (hash.wrapping_sub(self.least) >> self.shift) as usize
    }

    /// Prefetches what [`HashLists::range`] reads first.
    #[inline]
    pub(crate) fn ask(&self, hash: u32) {
        prefetch(&self.starts, self.bucket(hash));
    }

    /// Returns the range of the entries of a hash.
    #[inline]
    pub(crate) fn range(&self, hash: u32) -> Range<usize> {
        let bucket = self.bucket(hash);
        let &[start, end] = self.starts.get(bucket..).and_then(<[u32]>::first_chunk).unwrap_or(&[0; 2]);
        let entries = &self.entries[start as usize..end as usize];
        let from = start as usize + entries.partition_point(|entry| entry.hash() < hash);
        from..from + self.entries[from..end as usize].partition_point(|entry| entry.hash() == hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl HashEntry for (u32, usize) {
        fn hash(&self) -> u32 {
            self.0
        }
    }

    proptest! {
        #[test]
        fn lists_have_the_entries_of_their_hash(
            hashes in prop::collection::vec(prop_oneof![any::<u32>(), 0..9u32, 1 << 30..(1 << 30) + 50u32], 0..60),
            others in prop::collection::vec(any::<u32>(), 9),
        ) {
            let mut entries: Vec<(u32, usize)> = hashes.iter().copied().zip(0..).collect();
            entries.sort_unstable();
            let lists = HashLists::new(entries.clone(), "entries").unwrap();
            for hash in hashes.into_iter().chain(others).chain([0, u32::MAX]) {
                lists.ask(hash);
                let expected: Vec<_> = entries.iter().filter(|entry| entry.0 == hash).collect();
                prop_assert!(lists.entries[lists.range(hash)].iter().eq(expected));
            }
        }
    }
}
