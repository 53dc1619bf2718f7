//! Token sets that are compared exactly: their tokens are compared by hash and, if two tokens have
//! the same hash, by bytes.

use std::cmp::Ordering;

use crate::error::Result;
use crate::executor::{self, Stop};
use crate::features::FeatureSpec;
use crate::features::tokens::{Document, Scratch, Token, for_each_token};
use crate::hash;
use crate::memory;
use crate::storage::rows::Ragged;

const DOING: &str = "comparing documents exactly";

/// Token sets, whose tokens are compared by hash and, if two tokens have the same hash, by bytes.
#[derive(Debug, Default)]
pub struct TokenSets {
    scratch: Scratch,
    /// The hashes of the tokens of one document, in the order of the text.
    found: Vec<u64>,
    /// For each token, the upper bits of its hash and, in the lower bits, the number of the token.
    order: Vec<u64>,
    /// The bytes of each token, in the order of the text.
    text: Ragged<u8>,
    rows: Vec<u32>,
    /// The hashes of the tokens of each document.
    hashes: Ragged<u64>,
    /// The bytes of each token of all documents.
    bytes: Ragged<u8>,
}

impl TokenSets {
    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.rows) + self.hashes.bytes() + self.bytes.bytes()
    }

    /// Adds the set of a document, unless the set of the same row was added last. O(tokens · log
    /// tokens).
    pub fn add(&mut self, row: u32, document: &Document, spec: &FeatureSpec, stop: &Stop) -> Result<()> {
        self.add_by(row, document, spec, stop, hash::hash_bytes)
    }

    /// Adds the set of a document, and hashes strings with `hash_bytes`.
    fn add_by(
        &mut self,
        row: u32,
        document: &Document,
        spec: &FeatureSpec,
        stop: &Stop,
        hash_bytes: impl Fn(&[u8]) -> u64,
    ) -> Result<()> {
        if self.rows.last() == Some(&row) {
            return Ok(());
        }
        let Self { scratch, found, order, text, rows, hashes, bytes } = self;
        found.clear();
        text.clear();
        for_each_token(document, spec, scratch, stop, |token| {
            let hash = match token {
                Token::Bytes(bytes) => {
                    memory::extend(&mut text.values, bytes, DOING)?;
                    hash_bytes(bytes)
                }
                // No two numbers have the same hash.
                Token::Number(number) => hash::mix(number),
            };
            text.close(DOING)?;
            memory::push(found, hash, DOING)
        })?;
        // 64-bit numbers are sorted far faster than pairs. So the lower bits of each hash are
        // replaced by the number of the token: as many bits as such a number needs.
        let bits = usize::BITS - found.len().leading_zeros();
        let keys = found.iter().zip(0..).map(|(&hash, n): (_, u64)| hash >> bits << bits | n);
        memory::refill(order, keys, DOING)?;
        executor::sort_unstable_by(order, stop, &u64::cmp)?;
        let token = |&key: &u64| {
            let n = (key & !(u64::MAX << bits)) as usize;
            (found[n], text.get(n))
        };
        // Tokens with the same upper bits are mostly equal. Rarely they are distinct, and then even
        // their hashes may be the same.
        let same = order.chunk_by_mut(|a, b| a >> bits == b >> bits).filter(|same| same.len() > 1);
        for same in same {
            executor::sort_unstable_by(same, stop, &|a: &u64, b: &u64| token(a).cmp(&token(b)))?;
        }
        if !spec.multiset {
            order.dedup_by(|a, b| *a >> bits == *b >> bits && token(a) == token(b));
        }
        memory::reserve(&mut hashes.values, order.len(), DOING)?;
        hashes.reserve(1, DOING)?;
        bytes.reserve(order.len(), DOING)?;
        memory::reserve(&mut bytes.values, text.values.len(), DOING)?;
        memory::reserve(rows, 1, DOING)?;
        for (hash, token) in order.iter().map(token) {
            hashes.values.push(hash);
            bytes.push(token, DOING)?;
        }
        rows.push(row);
        hashes.close(DOING)
    }

    /// Returns the rows of all sets, in the order in which they were added.
    pub fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the hashes of the tokens of a set, ascending.
    pub fn hashes(&self, set: usize) -> &[u64] {
        self.hashes.get(set)
    }

    /// Returns the hashes of the tokens of the set that was added last, ascending.
    pub fn last(&self) -> &[u64] {
        self.hashes.last()
    }

    /// Removes all sets.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.hashes.clear();
        self.bytes.clear();
    }

    /// Returns the bytes of the tokens of a set, in the order of its hashes.
    pub fn tokens(&self, set: usize) -> impl Iterator<Item = &[u8]> {
        self.hashes.range(set).map(|token| self.bytes.get(token))
    }

    fn token(&self, token: usize) -> (u64, &[u8]) {
        (self.hashes.values[token], self.bytes.get(token))
    }

    /// Counts the tokens that two sets share, and the tokens of each set.
    pub fn counts(&self, set: usize, others: &Self, other: usize, stop: &Stop) -> Result<[u32; 3]> {
        let mut shared = 0;
        self.for_each_shared(set, others, other, stop, |_| {
            shared += 1;
            Ok(())
        })?;
        Ok([shared, self.hashes.range(set).len() as u32, others.hashes.range(other).len() as u32])
    }

    /// Calls `each` with the bytes of each token that two sets share.
    pub fn for_each_shared(
        &self,
        set: usize,
        others: &Self,
        other: usize,
        stop: &Stop,
        mut each: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        const CHECK_EVERY: u32 = 1 << 16;
        let (mut a, mut b) = (self.hashes.range(set), others.hashes.range(other));
        let mut steps = 0u32;
        while !a.is_empty() && !b.is_empty() {
            steps = steps.wrapping_add(1);
            stop.check_every(steps, CHECK_EVERY)?;
            // The bytes are compared if the hashes are equal.
            let order = self.hashes.values[a.start]
                .cmp(&others.hashes.values[b.start])
                .then_with(|| self.token(a.start).1.cmp(others.token(b.start).1));
            match order {
                Ordering::Less => a.start += 1,
                Ordering::Greater => b.start += 1,
                Ordering::Equal => {
                    each(self.bytes.get(a.start))?;
                    (a.start, b.start) = (a.start + 1, b.start + 1);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Tokenizer;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// Also covers distinct tokens with the same hash.
        #[test]
        fn counts_what_tokens_say(
            texts in proptest::collection::vec("[a-d]{1,2}( [a-d]{1,2}){0,12}|", 2..6),
            tokenizer in prop::sample::select(vec![Tokenizer::Words, Tokenizer::Whitespace, Tokenizer::Chars]),
            multiset in any::<bool>(),
            shingle in 1..3usize,
            mask in prop::sample::select(vec![0, 1, 7, u64::MAX]),
        ) {
            let spec = FeatureSpec { tokenizer, shingle, multiset, wrap: false };
            let (mut sets, stop) = (TokenSets::default(), Stop::default());
            let documents: Vec<Document> = texts.into_iter().map(Document::Text).collect();
            for (row, document) in (0..).zip(&documents) {
                sets.add_by(row, document, &spec, &stop, |bytes| hash::hash_bytes(bytes) & mask).unwrap();
            }
            prop_assert_eq!(sets.rows().len(), documents.len());
            let counted: Vec<BTreeMap<Vec<u8>, u32>> = documents.iter().map(|document| {
                let mut tokens = BTreeMap::new();
                for_each_token(document, &spec, &mut Scratch::default(), &stop, |token| {
                    let token = match token {
                        Token::Bytes(bytes) => bytes.to_vec(),
                        Token::Number(number) => number.to_le_bytes().to_vec(),
                    };
                    let count = tokens.entry(token).or_insert(0);
                    *count = if multiset { *count + 1 } else { 1 };
                    Ok(())
                }).unwrap();
                tokens
            }).collect();
            for (a, left) in counted.iter().enumerate() {
                prop_assert_eq!(sets.hashes(a).len() as u32, left.values().sum::<u32>());
                for (b, right) in counted.iter().enumerate() {
                    let shared: u32 = left.iter().filter_map(|(token, n)| Some(*n.min(right.get(token)?))).sum();
                    let expected = [shared, left.values().sum::<u32>(), right.values().sum()];
                    prop_assert_eq!(sets.counts(a, &sets, b, &stop).unwrap(), expected);
                }
            }
        }
    }
}
