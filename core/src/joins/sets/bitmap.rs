//! The parity bitmaps of records in memory, and the comparison of one bitmap with many.
//!
//! [`crate::set_index::bitmap`] explains parity bitmaps. The bitmaps here are never stored,
//! so a token's number can select the bit that the token flips.

use std::ops::Range;

use crate::error::Result;
use crate::executor::{self, Executor};
use crate::features::dictionary::weights::TokenWeights;
use crate::features::sets::records::Records;
use crate::hash;
use crate::memory;
use crate::simd::popcount::{self, PopcountKernel};
use crate::simd::prefetch::prefetch;

const DOING: &str = "preparing bitmaps";

/// Bitmaps of `W` words of 64 bits.
pub type Bitmap<const W: usize> = [u64; W];

/// How many bits a token flips.
#[derive(Debug, Clone, Copy)]
pub struct TokenFlips<'a> {
    /// The weights of tokens.
    pub weights: &'a TokenWeights,
    /// The weight for which a token flips a bit. What is left over flips none, so bitmaps differ in
    /// no more bits than what differs weighs in these units.
    pub unit: u32,
}

/// Computes the bitmap of one record. O(tokens).
pub fn of_record<const W: usize>(records: &Records, record: usize, flips: TokenFlips<'_>) -> Bitmap<W> {
    let TokenFlips { weights, unit } = flips;
    let mut bitmap = [0; W];
    let mut flip = |bit: usize| bitmap[bit / 64 % W] ^= 1 << (bit % 64);
    let tokens = records.tokens(record);
    match weights.each() {
        // Tokens are numbered by frequency, independently of their documents, so the last bits of
        // the number are as good as those of a hash.
        None => tokens.iter().for_each(|&token| flip(token as usize)),
        Some(weights) => tokens.iter().for_each(|&token| {
            let first = hash::mix(token.into()) as usize;
            (0..u32::from(weights[token as usize]) / unit).for_each(|n| flip(first.wrapping_add(n as usize)));
        }),
    }
    // Tokens that only this record has are not numbered: any bit will do.
    let lone = (records.size(record) - weights.sum(tokens)) / unit;
    let first = hash::mix(record as u64) as usize;
    (0..lone as usize).for_each(|n| flip(first.wrapping_add(n)));
    bitmap
}

/// Computes the bitmaps of all records. O(tokens).
pub fn of_records<const W: usize>(
    records: &Records,
    flips: TokenFlips<'_>,
    executor: &dyn Executor,
) -> Result<Vec<Bitmap<W>>> {
    const RECORDS_A_PIECE: usize = 1 << 12;
    const RECORDS_AHEAD: usize = 2;
    let mut bitmaps: Vec<Bitmap<W>> = memory::zeroed(records.len(), DOING)?;
    let mut pieces: Vec<_> = bitmaps.chunks_mut(RECORDS_A_PIECE).enumerate().collect();
    executor::each(executor, &mut pieces, |(piece, bitmaps), stop| {
        for (n, bitmap) in bitmaps.iter_mut().enumerate() {
            let record = *piece * RECORDS_A_PIECE + n;
            records.prefetch(record + RECORDS_AHEAD, usize::MAX);
            *bitmap = of_record(records, record, flips);
            stop.check()?;
        }
        Ok(())
    })?;
    Ok(bitmaps)
}

/// Gathers the bitmaps of the records of a list: the first words of all bitmaps, then the second
/// words, and so on. `record` returns the record at a place, also at some places behind the list,
/// whose bitmaps are gathered next.
#[inline]
pub fn gather<const W: usize>(
    bitmaps: &[Bitmap<W>],
    list: Range<usize>,
    record: impl Fn(usize) -> Option<u32>,
    words: &mut Vec<u64>,
) -> Result<()> {
    /// How many places in advance a bitmap is prefetched.
    const AHEAD: usize = 16;
    let length = list.len();
    memory::lengthen(words, 0, length * W, DOING)?;
    for (n, at) in list.enumerate() {
        if let Some(next) = record(at + AHEAD) {
            prefetch(bitmaps, next as usize);
        }
        let bitmap = record(at).map_or([0; W], |record| bitmaps[record as usize]);
        (0..W).for_each(|w| words[w * length + n] = bitmap[w]);
    }
    Ok(())
}

/// Compares one bitmap with many, with the fastest kernel for this processor.
#[derive(Debug, Clone, Copy)]
pub struct BitmapComparer<const W: usize>(PopcountKernel<W>);

impl<const W: usize> BitmapComparer<W> {
    /// Selects the kernel for this processor.
    pub fn new() -> Self {
        Self(popcount::kernel())
    }

    /// Appends to `near` the positions of the bitmaps that differ from `probe` in at most `allowed`
    /// bits. `first` is the position of the first of the bitmaps.
    #[inline]
    pub fn near(
        &self,
        probe: &Bitmap<W>,
        bitmaps: &[Bitmap<W>],
        allowed: u32,
        first: u32,
        near: &mut Vec<u32>,
    ) {
        (self.0)(probe, bitmaps, allowed, first, near);
    }
}

impl<const W: usize> Default for BitmapComparer<W> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::instructions::runnable;

    fn near_says_what_counting_says<const W: usize>() {
        let bitmap = |n: u64| -> Bitmap<W> { std::array::from_fn(|w| hash::mix(n * 8 + w as u64)) };
        let bitmaps: Vec<_> = (0..203).map(bitmap).collect();
        for (_, kernel) in runnable(popcount::kinds()) {
            for (allowed, from) in [(0, 0), (28 * W as u32, 0), (31 * W as u32, 5), (64 * W as u32, 1)] {
                let mut found = vec![9];
                kernel(&bitmaps[7], &bitmaps[from..], allowed, 1000, &mut found);
                let differ =
                    |n: usize| (0..W).map(|w| (bitmaps[7][w] ^ bitmaps[n][w]).count_ones()).sum::<u32>();
                let expected =
                    (from..203).filter(|&n| differ(n) <= allowed).map(|n| (1000 + n - from) as u32);
                assert_eq!(found, std::iter::once(9).chain(expected).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn all_kernels_agree() {
        near_says_what_counting_says::<1>();
        near_says_what_counting_says::<2>();
        near_says_what_counting_says::<4>();
        near_says_what_counting_says::<8>();
    }
}
