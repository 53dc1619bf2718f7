//! Parity bitmaps: a few words per set that give an upper bound on the number of shared tokens.
//!
//! Each element flips one bit of its set's bitmap. Two bitmaps differ in at most as many bits as
//! the sets differ in elements, |x| + |y| - 2·|x∩y|, no matter which element flips which bit. So a
//! pair is not similar if its bitmaps differ in more bits than its sizes and its least overlap
//! allow (Sandes, Teodoro, Melo: Bitmap filter, Information Systems 2020). The bound is an integer.
//! The filter may pass too many pairs, but never drops a similar one.

use crate::hash;

/// Sets `bitmap` to the parity bitmap of a set of hashes. The hashes must ascend. The k-th
/// occurrence of a hash is a separate element. Which bit an element flips is part of stored and
/// sent formats.
#[inline]
pub fn of_hashes(hashes: impl Iterator<Item = u64>, bitmap: &mut [u64]) {
    bitmap.fill(0);
    let bits = bitmap.len() * u64::BITS as usize;
    let (mut before, mut occurrence) = (None, 0);
    for hash in hashes {
        occurrence = if before == Some(hash) { occurrence + 1 } else { 0 };
        before = Some(hash);
        let bit = hash::mix(hash.wrapping_add(occurrence)) as usize % bits;
        bitmap[bit / 64] ^= 1 << (bit % 64);
    }
}

/// A rule for the width of a join's bitmaps. The number of words is the smallest power of two with
/// which sets that have little in common clearly differ in more bits than similar sets may.
#[derive(Debug, Clone, Copy)]
pub struct Width {
    /// By how many standard deviations the number of bits in which dissimilar sets differ must
    /// exceed the number of bits in which similar sets may differ. A larger number costs memory; a
    /// smaller one lets more candidates pass.
    deviations: f64,
    /// The maximum number of words.
    most: usize,
    /// Limits a bitmap to about four times as many bits as its set has elements, because a longer
    /// bitmap adds little information.
    by_size: bool,
}

impl Width {
    /// For bitmaps in memory, where a candidate that passes costs a comparison of the tokens of
    /// both sets.
    pub const IN_MEMORY: Self = Self { deviations: 3.0, most: 8, by_size: false };
    /// For bitmaps in an index, where the bitmap of each row takes space on disk for ever, and the
    /// number of looked-up tokens that a row has already rules out most rows of a list. This rule
    /// is part of the format on disk.
    pub const STORED: Self = Self { deviations: 2.4, most: 8, by_size: true };
    /// For bitmaps sent from machine to machine, where a candidate that passes moves a whole set.
    pub const SENT: Self = Self { deviations: 6.0, most: 256, by_size: true };

    /// Returns the maximum number of words.
    pub fn most(self) -> usize {
        self.most
    }

    /// Returns the number of words for sets of `size` elements that may differ in `allowed` bits.
    /// If no permitted number of words is enough, returns the greatest permitted number if
    /// `by_size` is set, and `None` otherwise.
    pub fn words(self, size: u32, allowed: u32) -> Option<usize> {
        let Self { deviations, most, by_size } = self;
        let enough = |words: usize| {
            let bits = 64.0 * words as f64;
            // The expected number of set bits after this many flips at random positions.
            let flips = 1.7 * f64::from(size);
            let expected = bits / 2.0 * (1.0 - (-2.0 * flips / bits).exp());
            // The deviation if each bit is set with probability one half; and the deviation for few
            // flips, of which hardly two hit the same bit.
            let (either, few) = (bits.sqrt() / 2.0, flips * (2.0 / bits).sqrt());
            let deviation = if by_size { either } else { either.min(few) };
            expected - deviations * deviation > f64::from(allowed)
        };
        let mut words = 1;
        while !enough(words) {
            if by_size && (words >= most || 64 * words >= 4 * size as usize) {
                break;
            }
            if words >= most {
                return None;
            }
            words *= 2;
        }
        Some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_enough_for_what_is_asked() {
        let words = |size, allowed| Width::IN_MEMORY.words(size, allowed);
        assert_eq!(words(130, 13), Some(1));
        assert_eq!(words(130, 28), Some(2));
        assert_eq!(words(130, 65), Some(4));
        assert_eq!(words(1_000_000, 200_000), None);
        // Names and titles have few tokens, and their sets differ in nearly all tokens or in nearly
        // none.
        assert_eq!([3, 8, 12].map(|size| words(size, 1)), [Some(1); 3]);
    }

    /// Stored indexes have bitmaps of these widths for ever.
    #[test]
    fn stored_widths_stay_as_they_are() {
        let sizes = [1, 8, 20, 60, 130, 300, 1000, 1_000_000];
        let widths = sizes.map(|size| Width::STORED.words(size, size / 5).unwrap());
        assert_eq!(widths, STORED);
        let widths = sizes.map(|size| Width::SENT.words(size, size / 5).unwrap());
        assert_eq!(widths, SENT);
    }

    const STORED: [usize; 8] = [1, 1, 1, 1, 2, 4, 8, 8];
    const SENT: [usize; 8] = [1, 1, 2, 2, 2, 4, 16, 256];

    proptest! {
        #[test]
        fn bitmaps_differ_in_no_more_than_sets(
            [mut a, mut b] in [0, 1].map(|_| proptest::collection::vec(0..20u64, 0..40)),
            words in 1..4usize,
        ) {
            a.sort_unstable();
            b.sort_unstable();
            let [mut x, mut y] = [vec![0; words], vec![1; words]];
            of_hashes(a.iter().map(|n| n << 32), &mut x);
            of_hashes(b.iter().map(|n| n << 32), &mut y);
            let differ: u32 = x.iter().zip(&y).map(|(x, y)| (x ^ y).count_ones()).sum();
            let count = |set: &[u64], key| set.iter().filter(|&&other| other == key).count();
            let apart: usize = (0..20).map(|key| count(&a, key).abs_diff(count(&b, key))).sum();
            prop_assert!(differ as usize <= apart);
        }
    }
}
