//! A Bloom filter of the pairs of row and signature in an index.

use crate::pg::index::layout::meta::Directory;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::storage::maintenance::budget;
use neardup_core::{error, hash, memory};

/// The mark of a row whose value is NULL. Such a row has no signatures.
pub(super) const NULL: u64 = 0x6e75_6c6c;

/// A Bloom filter of pairs of row and signature.
pub(super) struct BloomFilter {
    bits: Vec<u64>,
}

impl BloomFilter {
    const HASHES: u64 = 6;

    /// Creates a filter for an index, within `maintenance_work_mem`. With two bytes per pair, one
    /// missing pair in 400 is reported as present. A missing row is overlooked less often than
    /// that, because a row has several pairs.
    pub(super) fn new(index: OpenIndex) -> error::Result<Self> {
        let pairs: u64 = Directory::read(index).segments.iter().map(|s| s.postings + u64::from(s.rows)).sum();
        let words = (pairs / 4 + (1 << 16)).min(budget() as u64 / 8).next_power_of_two() as usize;
        Ok(Self { bits: memory::filled(0, words, "checking an index")? })
    }

    fn places(&self, tid: u64, signature: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (first, step) =
            (hash::mix(signature ^ hash::mix(tid)), hash::mix(tid ^ hash::mix(signature)) | 1);
        let last = self.bits.len() as u64 * 64 - 1;
        (0..Self::HASHES).map(move |n| {
            let bit = first.wrapping_add(n.wrapping_mul(step)) & last;
            ((bit / 64) as usize, 1 << (bit % 64))
        })
    }

    /// Adds a pair.
    pub(super) fn add(&mut self, tid: u64, signature: u64) {
        self.places(tid, signature).for_each(|(word, bit)| self.bits[word] |= bit);
    }

    /// Reports whether a pair was added. The answer is always true for a pair that was added, and
    /// rarely true for a pair that was not.
    pub(super) fn has(&self, tid: u64, signature: u64) -> bool {
        self.places(tid, signature).all(|(word, bit)| self.bits[word] & bit != 0)
    }
}
