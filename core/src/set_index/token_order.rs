//! The frozen order of tokens from which prefixes are taken, rare tokens first. Each signature
//! index has such an order, and so do the lists of each job.
//!
//! The most frequent tokens of a sample come last, ordered by how many of the sample's documents
//! have them. All other tokens come before them, ordered by their keys. Any fixed order would be
//! correct; this one makes posting lists short.
//!
//! | bytes of each token, ascending by key, little-endian | |
//! | --- | --- |
//! | 0 to 3 | the key of a token: the upper half of its hash |
//! | 4, 5 | its rank, from 1 on; the most frequent token has the greatest rank |

use super::token_counts::TokenCounts;
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::hash;
use crate::memory;

const DOING: &str = "ordering tokens";
/// The number of bytes of a stored token.
const ENTRY: usize = size_of::<u32>() + size_of::<u16>();
/// The number of upper key bits that select a bucket.
const BUCKET_BITS: u32 = 13;
const BUCKETS: usize = 1 << BUCKET_BITS;

/// An order of tokens.
#[derive(Debug, Clone)]
pub struct TokenOrder {
    /// The keys of the tokens that have a rank, ascending.
    keys: Vec<u32>,
    ranks: Vec<u16>,
    /// For each value of the upper bits of a key, where the keys with that value begin. The last
    /// element is where the last keys end.
    buckets: Vec<u16>,
}

impl TokenOrder {
    /// The maximum number of tokens that have a rank.
    pub const MOST: usize = 1 << 15;

    /// Builds the order from counts. Tokens that only one document has get no rank: there are too
    /// many of them.
    pub fn from_counts(counts: &mut TokenCounts<u32>, stop: &Stop) -> Result<Self> {
        let ranked = counts.ranks(Self::MOST, stop)?;
        let keys = memory::collect(ranked.iter().map(|token| token.0), DOING)?;
        // There are at most 1 << 15 ranks.
        let ranks = memory::collect(ranked.iter().map(|token| token.1 as u16), DOING)?;
        Self::new(keys, ranks)
    }

    fn new(keys: Vec<u32>, ranks: Vec<u16>) -> Result<Self> {
        let mut buckets = memory::filled(0u16, BUCKETS + 1, DOING)?;
        for &key in &keys {
            // A bucket counts at most as many keys as there are ranks.
            buckets[(key >> (u32::BITS - BUCKET_BITS)) as usize + 1] += 1;
        }
        for n in 1..buckets.len() {
            buckets[n] += buckets[n - 1];
        }
        Ok(Self { keys, ranks, buckets })
    }

    /// Returns the position of a token in the order, by its key: the rank in the upper bits and the
    /// key in the lower bits.
    #[inline]
    pub fn place(&self, key: u32) -> u64 {
        let bucket = (key >> (u32::BITS - BUCKET_BITS)) as usize;
        let range = usize::from(self.buckets[bucket])..usize::from(self.buckets[bucket + 1]);
        let rank = self.keys[range.clone()].binary_search(&key).map_or(0, |n| self.ranks[range.start + n]);
        u64::from(rank) << u32::BITS | u64::from(key)
    }

    /// Returns the number of tokens that have a rank.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the stored form of the order.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        memory::reserve(&mut bytes, self.keys.len() * ENTRY, DOING)?;
        for (key, rank) in self.keys.iter().zip(&self.ranks) {
            bytes.extend(key.to_le_bytes());
            bytes.extend(rank.to_le_bytes());
        }
        Ok(bytes)
    }

    /// Reads a stored order. Fails if the bytes are not a valid order.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (entries, rest) = bytes.as_chunks::<ENTRY>();
        if !rest.is_empty() || entries.len() > Self::MOST {
            return Err(bad(format!("{} bytes", bytes.len())));
        }
        let keys = entries.iter().map(|&[k0, k1, k2, k3, ..]| u32::from_le_bytes([k0, k1, k2, k3]));
        let ranks = entries.iter().map(|&[.., r0, r1]| u16::from_le_bytes([r0, r1]));
        let (keys, ranks) = (memory::collect(keys, DOING)?, memory::collect(ranks, DOING)?);
        if !keys.is_sorted_by(|a, b| a < b) {
            return Err(bad("its keys do not ascend".to_owned()));
        }
        if ranks.iter().any(|&rank| rank == 0 || usize::from(rank) > entries.len()) {
            return Err(bad("a rank that is not there".to_owned()));
        }
        Self::new(keys, ranks)
    }

    /// Returns a hash of the stored bytes. Data that was made with one order is of no use with
    /// another.
    pub fn hash(bytes: &[u8]) -> u64 {
        hash::hash_bytes(bytes)
    }
}

fn bad(why: String) -> Error {
    Error::Malformed { what: "order of tokens", why }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn ranks_go_by_documents(
            documents in proptest::collection::vec(proptest::collection::vec(0..40u32, 0..12), 0..30),
            shift in 0..27u32,
        ) {
            let stop = &Stop::default();
            let (mut sample, mut counts) = (TokenCounts::new(1 << 10), BTreeMap::new());
            for document in &documents {
                let keys: BTreeSet<u32> = document.iter().map(|key| key << shift).collect();
                for key in keys {
                    sample.add(key, stop).unwrap();
                    *counts.entry(key).or_insert(0) += 1;
                }
            }
            let order = TokenOrder::from_counts(&mut sample, stop).unwrap();
            let rank = |key: u32| order.place(key) >> 32;
            for (&a, n) in &counts {
                prop_assert_eq!(rank(a) > 0, *n > 1);
                prop_assert_eq!(order.place(a) as u32, a);
                prop_assert!(counts.contains_key(&!a) || rank(!a) == 0);
                for (&b, m) in &counts {
                    prop_assert_eq!(rank(a) > rank(b), *n > 1 && (n, a) > (m, b));
                }
            }
            let bytes = order.to_bytes().unwrap();
            prop_assert_eq!(bytes.len(), 6 * order.len());
            prop_assert_eq!(TokenOrder::from_bytes(&bytes).unwrap().to_bytes().unwrap(), bytes);
        }

        #[test]
        fn any_bytes_are_errors_or_an_order(
            bytes in proptest::collection::vec(prop_oneof![Just(0), Just(1), any::<u8>()], 0..40),
            key in any::<u32>(),
        ) {
            if let Ok(order) = TokenOrder::from_bytes(&bytes) {
                prop_assert_eq!(order.place(key) as u32, key);
                prop_assert_eq!(order.to_bytes().unwrap(), bytes);
            }
        }
    }
}
