//! The frozen order of tokens that prefixes are taken in, rare ones first, and the sample it is made of.
//!
//! The most frequent tokens of a sample come last, by how many of its documents have them; all others come before
//! them, by their keys. Any order that stays as it is would do: this one makes lists short.
//!
//! | bytes, once a token, ascending by key, little-endian | |
//! | --- | --- |
//! | 0 to 3 | the key of a token ([`super::keys`]) |
//! | 4, 5 | its rank, from 1 on: the most frequent token has the greatest |

use crate::error::{Error, Result};
use crate::hash;
use crate::memory;

const DOING: &str = "ordering tokens";
/// Bytes of a token.
const ENTRY: usize = size_of::<u32>() + size_of::<u16>();
/// Upper bits of a key by which it is looked up.
const BUCKET_BITS: u32 = 13;
const BUCKETS: usize = 1 << BUCKET_BITS;

/// An order of tokens.
#[derive(Debug, Clone)]
pub struct TokenOrder {
    /// The keys of those that have a rank, ascending.
    keys: Vec<u32>,
    ranks: Vec<u16>,
    /// Where keys with these upper bits begin, and where the last ones end.
    buckets: Vec<u16>,
}

impl TokenOrder {
    /// How many tokens have a rank, at most.
    pub const MOST: usize = 1 << 15;

    fn new(keys: Vec<u32>, ranks: Vec<u16>) -> Result<Self> {
        let mut buckets = memory::filled(0u16, BUCKETS + 1, DOING)?;
        for &key in &keys {
            // At most as many as a token has ranks.
            buckets[(key >> (u32::BITS - BUCKET_BITS)) as usize + 1] += 1;
        }
        for n in 1..buckets.len() {
            buckets[n] += buckets[n - 1];
        }
        Ok(Self { keys, ranks, buckets })
    }

    /// The place of a token among all, by its key: its rank, and behind that the key.
    #[inline]
    pub fn place(&self, key: u32) -> u64 {
        let bucket = (key >> (u32::BITS - BUCKET_BITS)) as usize;
        let range = usize::from(self.buckets[bucket])..usize::from(self.buckets[bucket + 1]);
        let rank = self.keys[range.clone()].binary_search(&key).map_or(0, |n| self.ranks[range.start + n]);
        u64::from(rank) << u32::BITS | u64::from(key)
    }

    /// How many tokens have a rank.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.keys) + memory::bytes(&self.ranks) + memory::bytes(&self.buckets)
    }

    /// As it is stored.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        memory::reserve(&mut bytes, self.keys.len() * ENTRY, DOING)?;
        for (key, rank) in self.keys.iter().zip(&self.ranks) {
            bytes.extend(key.to_le_bytes());
            bytes.extend(rank.to_le_bytes());
        }
        Ok(bytes)
    }

    /// Reads what was stored; errors for bytes that are no order.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let (entries, rest) = bytes.as_chunks::<ENTRY>();
        if !rest.is_empty() || entries.len() > Self::MOST {
            return Err(bad(format!("{} bytes", bytes.len())));
        }
        let (mut keys, mut ranks) = (Vec::new(), Vec::new());
        memory::reserve(&mut keys, entries.len(), DOING)?;
        memory::reserve(&mut ranks, entries.len(), DOING)?;
        for &[k0, k1, k2, k3, r0, r1] in entries {
            keys.push(u32::from_le_bytes([k0, k1, k2, k3]));
            ranks.push(u16::from_le_bytes([r0, r1]));
        }
        if !keys.is_sorted_by(|a, b| a < b) {
            return Err(bad("its keys do not ascend".to_owned()));
        }
        if ranks.iter().any(|&rank| rank == 0 || usize::from(rank) > entries.len()) {
            return Err(bad("a rank that is not there".to_owned()));
        }
        Self::new(keys, ranks)
    }

    /// A hash of its bytes: what is made by one order is of no use with another.
    pub fn hash(bytes: &[u8]) -> u64 {
        hash::hash_bytes(bytes)
    }
}

fn bad(why: String) -> Error {
    Error::Malformed { what: "order of tokens", why }
}

/// Counts in how many documents of a sample tokens occur, and how many tokens documents have.
///
/// Where there are very many distinct tokens the rarest are forgotten from time to time: what is counted then is too
/// little for these, and nearly right for frequent ones (Manku, Motwani: Approximate frequency counts over data streams,
/// VLDB 2002). Memory is bounded, whatever is added.
#[derive(Debug)]
pub struct TokenSample {
    /// Keys that were not yet counted.
    waiting: Vec<u32>,
    /// Keys and in how many documents they are, ascending.
    counts: Vec<(u32, u32)>,
    /// Space for these.
    merged: Vec<(u32, u32)>,
    /// How many documents are of each class of sizes.
    sizes: Vec<u64>,
    documents: u64,
}

/// Sizes less than this are classes of their own; above it there are half as many to each power of two.
const SMALL: u32 = 128;
const SIZE_CLASSES: usize = SMALL as usize + (u32::BITS - SMALL.ilog2()) as usize * SMALL as usize / 2;

/// The class of a size, and the greatest size of a class: by the uppermost bits.
fn size_class(size: u32) -> usize {
    let shift = (size / SMALL).checked_ilog2().map_or(0, |bits| bits + 1);
    shift as usize * (SMALL / 2) as usize + (size >> shift) as usize
}

fn greatest_of_class(class: usize) -> u32 {
    let half = SMALL as usize / 2;
    let shift = (class / half).saturating_sub(1);
    let upper = (class - shift * half) as u64;
    u32::try_from(((upper + 1) << shift) - 1).unwrap_or(u32::MAX)
}

impl TokenSample {
    /// Keys that wait until they are counted together.
    const WAIT: usize = 1 << 20;
    /// Keys that are counted, at most.
    const COUNTED: usize = 1 << 21;

    /// A sample of nothing.
    pub fn new() -> Result<Self> {
        let sizes = memory::filled(0, SIZE_CLASSES, DOING)?;
        Ok(Self { waiting: Vec::new(), counts: Vec::new(), merged: Vec::new(), sizes, documents: 0 })
    }

    /// Adds a document by the keys of its set, ascending.
    pub fn add(&mut self, keys: &[u32]) -> Result<()> {
        self.documents += 1;
        // No document has more tokens than 32 bits count.
        self.sizes[size_class(keys.len() as u32)] += 1;
        for same in keys.chunk_by(|a, b| a == b) {
            memory::push(&mut self.waiting, same[0], DOING)?;
            if self.waiting.len() >= Self::WAIT {
                self.count()?;
            }
        }
        Ok(())
    }

    /// How many documents were added.
    pub fn documents(&self) -> u64 {
        self.documents
    }

    /// The size that at most every twentieth document is above, or a little more than that; 0 where there are none.
    pub fn usual_size(&self) -> u32 {
        let mut left = self.documents - self.documents / 20;
        for (class, &count) in self.sizes.iter().enumerate() {
            left = left.saturating_sub(count);
            if left == 0 {
                return if self.documents == 0 { 0 } else { greatest_of_class(class) };
            }
        }
        u32::MAX
    }

    /// Counts what waits.
    fn count(&mut self) -> Result<()> {
        let Self { waiting, counts, merged, .. } = self;
        waiting.sort_unstable();
        merged.clear();
        memory::reserve(merged, counts.len() + waiting.len(), DOING)?;
        let mut known = counts.iter().copied().peekable();
        for same in waiting.chunk_by(|a, b| a == b) {
            let key = same[0];
            while let Some(before) = known.next_if(|(other, _)| *other < key) {
                merged.push(before);
            }
            let before = known.next_if(|(other, _)| *other == key).map_or(0, |(_, count)| count);
            merged.push((key, before.saturating_add(same.len() as u32)));
        }
        merged.extend(known);
        waiting.clear();
        std::mem::swap(counts, merged);
        let mut least = 1;
        while counts.len() > Self::COUNTED {
            counts.retain(|(_, count)| *count > least);
            least = least.saturating_mul(2);
        }
        Ok(())
    }

    /// The order of what was counted. Tokens of one document alone have no rank: there are too many of them.
    pub fn order(mut self) -> Result<TokenOrder> {
        self.count()?;
        let mut kept = self.counts;
        kept.retain(|(_, count)| *count > 1);
        let by_count = |&(key, count): &(u32, u32)| (count, key);
        if let Some(rest) = kept.len().checked_sub(TokenOrder::MOST).filter(|rest| *rest > 0) {
            kept.select_nth_unstable_by_key(rest, by_count);
            kept.drain(..rest);
        }
        kept.sort_unstable_by_key(by_count);
        // At most 1 << 15.
        (1..).zip(&mut kept).for_each(|(rank, token)| token.1 = rank);
        kept.sort_unstable();
        let (mut keys, mut ranks) = (Vec::new(), Vec::new());
        memory::reserve(&mut keys, kept.len(), DOING)?;
        memory::reserve(&mut ranks, kept.len(), DOING)?;
        keys.extend(kept.iter().map(|token| token.0));
        ranks.extend(kept.iter().map(|token| token.1 as u16));
        TokenOrder::new(keys, ranks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn ranks_go_by_documents(
            documents in proptest::collection::vec(proptest::collection::vec(0..40u32, 0..12), 0..30),
            shift in 0..27u32,
        ) {
            let mut sample = TokenSample::new().unwrap();
            let mut counts = BTreeMap::new();
            for document in &documents {
                let mut keys: Vec<u32> = document.iter().map(|key| key << shift).collect();
                keys.sort_unstable();
                sample.add(&keys).unwrap();
                keys.dedup();
                keys.iter().for_each(|&key| *counts.entry(key).or_insert(0) += 1);
            }
            let order = sample.order().unwrap();
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

        #[test]
        fn sizes_are_in_their_classes(size in prop_oneof![0..3000u32, any::<u32>()]) {
            let class = size_class(size);
            let greatest = greatest_of_class(class);
            prop_assert!(class < SIZE_CLASSES && size <= greatest && greatest - size <= size / 32, "{class} {greatest}");
            prop_assert_eq!(size_class(greatest), class);
            prop_assert!(greatest == u32::MAX || size_class(greatest + 1) == class + 1);
        }
    }

    /// Far more distinct tokens than are counted: frequent ones are found all the same.
    #[test]
    fn memory_is_bounded() {
        let mut sample = TokenSample::new().unwrap();
        for n in 0..2400u32 {
            let mut keys: Vec<u32> = (0..1000).map(|k| hash::mix((n * 1000 + k).into()) as u32 | 1).collect();
            keys.extend([2, 4]);
            keys.retain(|&key| key != 4 || n % 2 == 0);
            keys.sort_unstable();
            sample.add(&keys).unwrap();
            assert!(sample.counts.len() <= TokenSample::COUNTED && sample.waiting.len() < TokenSample::WAIT);
        }
        assert_eq!(sample.usual_size(), 1007);
        let order = sample.order().unwrap();
        let ranks = [2, 4].map(|key| order.place(key) >> 32);
        assert_eq!(ranks, [order.len() as u64, order.len() as u64 - 1]);
    }

    #[test]
    fn usual_sizes() {
        let usual = |sizes: &[usize]| {
            let mut sample = TokenSample::new().unwrap();
            sizes.iter().for_each(|&size| sample.add(&(0..size as u32).collect::<Vec<_>>()).unwrap());
            sample.usual_size()
        };
        assert_eq!(usual(&[]), 0);
        assert_eq!(usual(&[60]), 60);
        assert_eq!(usual(&[[60; 19].as_slice(), &[5000]].concat()), 60);
        assert_eq!(usual(&[[60; 18].as_slice(), &[5000; 2]].concat()), 5055);
    }
}
