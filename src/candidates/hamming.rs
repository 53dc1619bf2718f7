//! All pairs of bit vectors within a Hamming distance, exactly (Manku, Jain, Das Sarma, WWW 2007;
//! algorithms.md section 3).
//!
//! Two vectors that differ in at most d bits agree wholly in at least one of d + 1 blocks. So those that
//! share a block are compared, by counting the bits in which they differ, and no pair is lost. Where the
//! blocks would be so narrow that nearly all share one, all are compared with all.

use std::ops::Range;

use super::bitmap::Comparer;
use super::sharing::{Entry, Keys};
use crate::error::{Error, Result};
use crate::features::signatures::Signatures;
use crate::hash::mix;
use crate::memory;

const DOING: &str = "searching by Hamming distance";

/// The widest vectors, in bits.
pub const MOST_BITS: usize = 1024;

/// Vectors of so many bits, a part of each signature, and how far similar ones are apart at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hamming {
    /// The first number of the signatures that is a part of the vector.
    pub at: usize,
    /// Bits, a multiple of 64.
    pub bits: u32,
    /// The greatest distance.
    pub most: u32,
}

impl Hamming {
    /// Vectors whose share of agreeing bits is at least `threshold`, as the quotient in float8 has it.
    pub fn at_least(at: usize, bits: u32, threshold: f64) -> Self {
        let least = (0..=bits).find(|&agree| f64::from(agree) / f64::from(bits) >= threshold);
        Self { at, bits, most: bits - least.unwrap_or(bits) }
    }

    fn words(&self) -> usize {
        self.bits as usize / 64
    }

    /// In how many bits two signatures differ.
    #[inline]
    pub fn distance(&self, a: &[u64], b: &[u64]) -> u32 {
        let range = self.at..self.at + self.words();
        a[range.clone()].iter().zip(&b[range]).map(|(a, b)| (a ^ b).count_ones()).sum()
    }

    /// The share of agreeing bits, where it is enough.
    #[inline]
    pub fn similarity(&self, a: &[u64], b: &[u64]) -> Option<f64> {
        let distance = self.distance(a, b);
        (distance <= self.most).then(|| self.share(distance))
    }

    /// The share of agreeing bits at a distance.
    #[inline]
    pub fn share(&self, distance: u32) -> f64 {
        f64::from(self.bits - distance) / f64::from(self.bits)
    }

    /// How many blocks decide who is compared; one of no bits where all are.
    fn blocks(&self) -> usize {
        let blocks = self.most as usize + 1;
        let narrowest = self.bits as usize / blocks;
        let tells_apart = narrowest >= 64 || 1usize << narrowest > blocks;
        if tells_apart { blocks } else { 1 }
    }

    fn block(&self, signature: &[u64], block: usize) -> u64 {
        let (blocks, bits) = (self.blocks(), self.bits as usize);
        if blocks == 1 && self.most > 0 {
            return 0;
        }
        let range = block * bits / blocks..(block + 1) * bits / blocks;
        if range.len() <= 64 {
            return self.read(signature, range);
        }
        let mut key = 0;
        for start in range.clone().step_by(64) {
            key = mix(key ^ self.read(signature, start..range.end.min(start + 64)));
        }
        key
    }

    /// At most 64 bits of a vector.
    fn read(&self, signature: &[u64], range: Range<usize>) -> u64 {
        let (word, shift) = (self.at + range.start / 64, range.start % 64);
        let mut bits = signature[word] >> shift;
        if shift + range.len() > 64 {
            bits |= signature[word + 1] << (64 - shift);
        }
        if range.len() == 64 { bits } else { bits & ((1 << range.len()) - 1) }
    }
}

/// The vectors of signatures, compared `W` words at a time.
#[derive(Debug)]
pub struct Blocks<'a, const W: usize> {
    of: Hamming,
    signatures: &'a Signatures,
    comparer: Comparer<W>,
}

impl<'a, const W: usize> Blocks<'a, W> {
    /// To search among `signatures`.
    pub fn new(of: Hamming, signatures: &'a Signatures) -> Self {
        Self { of, signatures, comparer: Comparer::new() }
    }

    /// The first words of a vector, zeros behind.
    fn start(&self, record: u32) -> [u64; W] {
        let vector = &self.signatures.get(record)[self.of.at..][..self.of.words()];
        std::array::from_fn(|word| vector.get(word).copied().unwrap_or(0))
    }
}

impl<const W: usize> Keys for Blocks<'_, W> {
    fn bands(&self) -> usize {
        self.of.blocks()
    }

    fn key(&self, record: u32, band: usize) -> u64 {
        self.of.block(self.signatures.get(record), band)
    }

    fn met_before(&self, a: u32, b: u32, band: usize) -> bool {
        let (a, b) = (self.signatures.get(a), self.signatures.get(b));
        (0..band).any(|band| self.of.block(a, band) == self.of.block(b, band))
    }

    fn load(&self, bucket: &[Entry], space: &mut Vec<u64>) -> Result<()> {
        memory::reserve(space, bucket.len() * W, DOING)?;
        bucket.iter().for_each(|entry| space.extend(self.start(entry.record)));
        Ok(())
    }

    fn near(
        &self,
        probe: u32,
        bucket: &[Entry],
        others: Range<usize>,
        space: &[u64],
        near: &mut Vec<u32>,
    ) -> Result<()> {
        near.try_reserve(others.len()).map_err(|_| Error::OutOfMemory { doing: DOING })?;
        let (vectors, _) = space.as_chunks::<W>();
        let first = others.start as u32;
        self.comparer.near(&self.start(probe), &vectors[others], self.of.most, first, near);
        if self.of.words() > W {
            let vector = self.signatures.get(probe);
            near.retain(|&place| {
                let other = self.signatures.get(bucket[place as usize].record);
                self.of.distance(vector, other) <= self.of.most
            });
        }
        Ok(())
    }
}
