//! Finds all pairs of bit vectors within a Hamming distance exactly (Manku, Jain, Das Sarma, WWW
//! 2007; docs/design/algorithms.md section 3).
//!
//! Two vectors that differ in at most d bits agree completely in at least one of d + 1 blocks. So
//! only vectors that share a block are compared, by counting the bits in which they differ, and no
//! pair is lost. If the blocks would be so narrow that nearly all vectors share one, every vector
//! is compared with every other.

use std::ops::Range;

use super::buckets::keys::{KeyEntry, Keys};
use crate::error::Result;
use crate::features::signatures::Signatures;
use crate::hash::mix;
use crate::joins::sets::bitmap::BitmapComparer;
use crate::memory;
use crate::sketches::pigeonhole::Bands;

const DOING: &str = "searching by Hamming distance";

/// Bit vectors, each a part of a signature, and the greatest distance between similar ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hamming {
    /// The index of the first word of the vector in a signature.
    pub at: usize,
    /// The number of bits. If it is not a multiple of 64, the last word holds the remaining bits as
    /// its least significant ones.
    pub bits: u32,
    /// The greatest distance.
    pub most: u32,
}

impl Hamming {
    /// Returns vectors that are similar if the share of agreeing bits, a float8 quotient, is at
    /// least `threshold`.
    pub fn at_least(at: usize, bits: u32, threshold: f64) -> Self {
        let least = (0..=bits).find(|&agree| f64::from(agree) / f64::from(bits) >= threshold);
        Self { at, bits, most: bits - least.unwrap_or(bits) }
    }

    fn words(&self) -> usize {
        self.bits.div_ceil(64) as usize
    }

    /// Returns the number of bits in which two signatures differ.
    #[inline]
    pub fn distance(&self, a: &[u64], b: &[u64]) -> u32 {
        let range = self.at..self.at + self.words();
        a[range.clone()].iter().zip(&b[range]).map(|(a, b)| (a ^ b).count_ones()).sum()
    }

    /// Returns the share of agreeing bits if it is high enough.
    #[inline]
    pub fn similarity(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        let distance = self.distance(a, b);
        (distance <= self.most).then(|| self.share(distance))
    }

    /// Returns the share of agreeing bits at a distance.
    #[inline]
    pub fn share(&self, distance: u32) -> f64 {
        f64::from(self.bits - distance) / f64::from(self.bits)
    }

    /// Reports whether every vector is compared with every other, because the blocks would be so
    /// narrow that nearly all vectors share one.
    pub fn compares_all(&self) -> bool {
        let blocks = self.bands().count();
        let narrowest = self.bits as usize / blocks;
        // With no more blocks than bits that may differ, similar vectors need not agree in any
        // block.
        blocks <= self.most as usize || narrowest < 64 && 1usize << narrowest <= blocks
    }

    /// Returns the greatest distance at which similar vectors of `bits` bits are found by blocks.
    pub fn greatest_by_blocks(bits: u32) -> u32 {
        let of = |most| Self { at: 0, bits, most };
        (0..bits).take_while(|&most| !of(most).compares_all()).last().unwrap_or(0)
    }

    fn bands(&self) -> Bands {
        // A vector has at most MOST_BITS bits.
        Bands::new(self.bits as u16, self.most)
    }

    /// Returns the bit range of each block. Records that agree in a block are compared. If all
    /// records are compared with each other, the only block is an empty range.
    fn blocks(&self) -> Vec<Range<usize>> {
        if self.compares_all() {
            return std::iter::once(0..0).collect();
        }
        let blocks = self.bands();
        (0..blocks.count()).map(|block| blocks.range(block)).collect()
    }

    /// Calls `each` with a key for each block of a vector. Vectors at no greater distance than the
    /// greatest one have a key in common.
    pub fn each_key(&self, signature: &[u64], mut each: impl FnMut(u64)) {
        for (n, range) in (0u64..).zip(self.blocks()) {
            each(mix(self.block(signature, range) ^ mix(n)));
        }
    }

    /// Returns the bits of a block as a key.
    fn block(&self, signature: &[u64], range: Range<usize>) -> u64 {
        if range.len() <= 64 {
            return self.read(signature, range);
        }
        let mut key = 0;
        for start in range.clone().step_by(64) {
            key = mix(key ^ self.read(signature, start..range.end.min(start + 64)));
        }
        key
    }

    /// Reads at most 64 bits of a vector.
    fn read(&self, signature: &[u64], range: Range<usize>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let (word, shift) = (self.at + range.start / 64, range.start % 64);
        let mut bits = signature[word] >> shift;
        if shift + range.len() > 64 {
            bits |= signature[word + 1] << (64 - shift);
        }
        if range.len() == 64 { bits } else { bits & ((1 << range.len()) - 1) }
    }
}

/// The blocks of the vectors of signatures as keys. Vectors are compared by their first `W` words,
/// and then by all words if they have more.
#[derive(Debug)]
pub struct BlockKeys<'a, const W: usize> {
    of: Hamming,
    /// The bit range of each block.
    blocks: Vec<Range<usize>>,
    signatures: &'a Signatures,
    comparer: BitmapComparer<W>,
}

impl<'a, const W: usize> BlockKeys<'a, W> {
    /// Prepares a search among `signatures`.
    pub fn new(of: Hamming, signatures: &'a Signatures) -> Self {
        Self { of, blocks: of.blocks(), signatures, comparer: BitmapComparer::new() }
    }

    /// Returns the part of an entry that is compared first: the first words of its vector, padded
    /// with zeros. For a vector of one word, this is the key of the entry: the vector, rotated like
    /// all vectors of its bucket.
    #[inline]
    fn start(&self, entry: &KeyEntry) -> [u64; W] {
        if W == 1 {
            return [entry.key; W];
        }
        let vector = &self.signatures.get(entry.record)[self.of.at..][..self.of.words()];
        std::array::from_fn(|word| vector.get(word).copied().unwrap_or(0))
    }
}

impl<const W: usize> Keys for BlockKeys<'_, W> {
    fn bands(&self) -> usize {
        self.blocks.len()
    }

    fn key(&self, record: u32, band: usize) -> u64 {
        let signature = self.signatures.get(record);
        if W == 1 {
            // Rotate the block into the least significant bits.
            return signature[self.of.at].rotate_right(self.blocks[band].start as u32);
        }
        self.of.block(signature, self.blocks[band].clone())
    }

    fn key_bits(&self, band: usize) -> u32 {
        self.blocks[band].len().min(64) as u32
    }

    #[inline]
    fn meet(&self, a: u32, b: u32, band: usize) -> bool {
        let block = &self.blocks[band];
        let of = |record| self.of.block(self.signatures.get(record), block.clone());
        of(a) == of(b)
    }

    fn load(&self, bucket: &[KeyEntry], space: &mut Vec<u64>) -> Result<()> {
        memory::reserve(space, bucket.len() * W, DOING)?;
        bucket.iter().for_each(|entry| space.extend(self.start(entry)));
        Ok(())
    }

    fn is_near(&self, probe: u32, other: u32) -> bool {
        let [vector, other] = [probe, other].map(|record| self.signatures.get(record));
        self.of.distance(vector, other) <= self.of.most
    }

    fn near(
        &self,
        probe: &KeyEntry,
        bucket: &[KeyEntry],
        others: Range<usize>,
        space: &[u64],
        near: &mut Vec<u32>,
    ) -> Result<()> {
        memory::reserve(near, others.len(), DOING)?;
        let (vectors, _) = space.as_chunks::<W>();
        let first = others.start as u32;
        self.comparer.near(&self.start(probe), &vectors[others], self.of.most, first, near);
        if self.of.words() > W {
            near.retain(|&place| self.is_near(probe.record, bucket[place as usize].record));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::PlainThreads;
    use crate::features::signatures::{SignatureCollector, distinct};
    use crate::joins::sketches::rule::Rule;
    use crate::joins::sketches::technique::Technique;
    use crate::joins::sketches::{Comparison, sketch_pairs};
    use proptest::prelude::*;

    /// Returns vectors that often share blocks; some are copies of others with a few bits flipped.
    fn vectors(count: u64, words: usize, seed: u64, values: u64) -> Vec<Vec<u64>> {
        let block = |n: u64, word: u64| {
            (0..4).fold(0, |vector, block| {
                (vector << 16) | (mix(mix(n ^ (seed << 32)) ^ (4 * word + block)) % values * 13 % 65_536)
            })
        };
        let mut vectors: Vec<Vec<u64>> = Vec::new();
        for n in 0..count {
            let other = mix(n) as usize % 7 + 1;
            if n % 3 == 0 || vectors.len() < other {
                vectors.push((0..words as u64).map(|word| block(n, word)).collect());
            } else {
                let mut vector = vectors[vectors.len() - other].clone();
                for turn in 0..mix(n + seed) % 6 {
                    let bit = mix(n ^ (turn << 40)) as usize % (64 * words);
                    vector[bit / 64] ^= 1 << (bit % 64);
                }
                vectors.push(vector);
            }
        }
        vectors
    }

    #[test]
    fn where_blocks_tell_apart() {
        for (bits, greatest) in [(1, 0), (8, 2), (64, 14), (100, 19), (128, 24), (384, 62), (1024, 127)] {
            assert_eq!(Hamming::greatest_by_blocks(bits), greatest, "{bits}");
            let of = |most| Hamming { at: 0, bits, most };
            assert!(of(greatest + 1).compares_all() && of(bits).compares_all());
            assert!(of(greatest + 1).blocks().iter().all(Range::is_empty));
            assert_eq!(of(greatest).blocks().len(), greatest as usize + 1);
        }
    }

    proptest! {
        #![proptest_config(crate::cases::cases(40))]

        #[test]
        fn all_pairs_and_no_other(
            count in 0..1500u64,
            words in prop::sample::select(vec![1usize, 2, 3, 6]),
            without in prop_oneof![Just(0u32), 1..64u32],
            most in prop_oneof![0..6u32, 6..40u32],
            seed in 0..1000u64,
            values in prop::sample::select(vec![1u64, 3, 65_536]),
            at in 0..2usize,
            split in prop::option::of(0..1500u32),
            threads in 1..4usize,
        ) {
            let mut vectors = vectors(count, words, seed, values);
            vectors.iter_mut().for_each(|vector| vector[words - 1] >>= without);
            let split = split.map(|split| split.min(count as u32));
            let hamming = Hamming { at, bits: 64 * words as u32 - without, most };
            let mut parts: Vec<_> = (0..threads).map(|_| SignatureCollector::new(at + words)).collect();
            for (row, vector) in (0..).zip(&vectors) {
                let signature = [&vec![u64::from(row); at][..], vector].concat();
                parts[row as usize % threads].add(row, &signature).unwrap();
            }
            let executor = PlainThreads(threads);
            let comparison = Comparison {
                techniques: vec![Technique::Simhash(hamming)],
                rule: Rule::Technique(0),
                sizes: None,
                most: None,
            };
            let signatures = distinct(parts, split, &executor).unwrap();
            let mut pairs = sketch_pairs(signatures, None, comparison, 1 << 16).unwrap();
            let mut found = Vec::new();
            while let Some(pair) = pairs.next(&executor).unwrap() {
                found.push(match split {
                    None => (pair.left.min(pair.right), pair.left.max(pair.right)),
                    Some(_) => (pair.left, pair.right),
                });
            }
            found.sort_unstable();
            let differ = |a: u32, b: u32| -> u32 {
                let (a, b) = (&vectors[a as usize], &vectors[b as usize]);
                a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
            };
            let right_from = |a: u32| split.unwrap_or(a + 1);
            let expected: Vec<_> = (0..split.unwrap_or(count as u32))
                .flat_map(|a| (right_from(a)..count as u32).map(move |b| (a, b)))
                .filter(|&(a, b)| differ(a, b) <= most)
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
