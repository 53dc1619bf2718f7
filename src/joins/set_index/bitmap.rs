//! Parity bitmaps: a few words per set from which a bound on the shared tokens is read off.
//!
//! Each element flips one bit of its set's bitmap. Two bitmaps differ in at most as many bits as the sets differ in elements,
//! |x| + |y| - 2·|x∩y|, whatever element flips which bit: a pair whose bitmaps differ in more bits than its sizes and its least
//! overlap allow is not similar (Sandes, Teodoro, Melo: Bitmap filter, Information Systems 2020). The bound is an integer; it may
//! pass too much, never too little.

use crate::hash;

/// Sets the parity bitmap of a set of hashes, which ascend. The k-th occurrence of a hash is an element of its own.
/// Which bit an element flips is part of stored and sent formats.
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

/// How wide the bitmaps of a join are: the fewest words, a power of two, with which sets that have little in common differ
/// clearly in more bits than similar ones may.
#[derive(Debug, Clone, Copy)]
pub struct Width {
    /// By how many standard deviations they differ in more bits. More cost memory, fewer let more candidates pass.
    deviations: f64,
    /// The most words.
    most: usize,
    /// Whether a set has at most four times as many bits as elements, as a longer bitmap tells little more.
    by_size: bool,
}

impl Width {
    /// In memory: a candidate that passes costs a look at the tokens of both sets.
    pub const IN_MEMORY: Self = Self { deviations: 3.0, most: 8, by_size: false };
    /// In an index, where a bitmap of each row takes space on disk for ever, and most rows of a list are ruled out by their
    /// hits. A rule of the format on disk.
    pub const STORED: Self = Self { deviations: 2.4, most: 8, by_size: true };
    /// On the way from machine to machine, where a candidate that passes moves a whole set.
    pub const SENT: Self = Self { deviations: 6.0, most: 256, by_size: true };

    /// The words for sets of `size` elements that may differ in `allowed` bits. Where the most words are not enough: as many
    /// where the size bounds them, else none.
    pub fn words(self, size: u32, allowed: u32) -> Option<usize> {
        let Self { deviations, most, by_size } = self;
        let enough = |words: usize| {
            let bits = 64.0 * words as f64;
            // This many flips at random positions leave this many bits set.
            let flips = 1.7 * f64::from(size);
            let expected = bits / 2.0 * (1.0 - (-2.0 * flips / bits).exp());
            // Of a bit that may be either; or of few flips, of which hardly two are of the same bit.
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
        // Names and titles have few tokens, and sets of them differ in nearly all or nearly none.
        assert_eq!([3, 8, 12].map(|size| words(size, 1)), [Some(1); 3]);
    }

    /// Indexes have bitmaps of this width for ever.
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
