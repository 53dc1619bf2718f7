//! Exact bands: if at most d of n positions differ, at least one of any d + 1 disjoint bands agrees
//! completely (pigeonhole; docs/design/algorithms.md sections 2 and 3). Positions are values of a
//! minhash sketch or bits of a simhash.
//!
//! A search among sketches that were divided into many bands may look up fewer bands: a query that
//! allows d differences needs only d + 1 of them, and any of them will do.

use std::ops::Range;

use super::minhash::least_agreeing;
use super::wire::{Minhash, Simhash};
use crate::hash;

/// Positions divided into bands whose lengths are equal or differ by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bands {
    positions: usize,
    bands: usize,
}

impl Bands {
    /// Creates bands that find all pairs that differ in at most `differ` of `positions` positions;
    /// `positions` is at least 1. There are no more bands than positions. So if `differ` is not
    /// less than `positions`, pairs in which no position agrees are not found.
    pub fn new(positions: u16, differ: u32) -> Self {
        let positions = usize::from(positions).max(1);
        Self { positions, bands: (differ as usize).saturating_add(1).min(positions) }
    }

    /// Creates the bands for minhash sketches whose similarity is at least `least`, in (0, 1].
    pub fn minhash(permutations: u16, least: f64) -> Self {
        Self::new(permutations, u32::from(permutations) - least_agreeing(least, permutations))
    }

    /// Creates the blocks for simhash sketches at a Hamming distance of at most `distance`.
    pub fn simhash(bits: u16, distance: u16) -> Self {
        Self::new(bits, distance.into())
    }

    /// Returns the number of bands.
    pub fn count(&self) -> usize {
        self.bands
    }

    /// Returns the positions of band `n`.
    pub fn range(&self, n: usize) -> Range<usize> {
        let start = |n: usize| n * self.positions / self.bands;
        start(n)..start(n + 1)
    }

    /// Returns the probability that two sketches share a signature if each position agrees with
    /// probability `agree`, as the values of minhash do for documents whose resemblance is `agree`.
    /// This probability is the share of rows that an index has to read.
    #[cfg(test)]
    pub fn share_one(&self, agree: f64) -> f64 {
        let none = (0..self.bands).map(|n| 1.0 - agree.powf(self.range(n).len() as f64));
        1.0 - none.product::<f64>()
    }

    /// Calls `each` with a signature for every band of a sketch, in order. Two signatures of a band
    /// are equal if the values of the band are equal, and hardly ever otherwise. An empty document
    /// has no signatures. O(m).
    pub fn of_minhash(&self, sketch: &Minhash<'_>, each: impl FnMut(u64)) {
        if !sketch.header.empty {
            self.signatures(each, |range, bytes| {
                bytes.extend_from_slice(&sketch.values[4 * range.start..4 * range.end]);
            });
        }
    }

    /// Calls `each` with a signature for every block of bits of a simhash, like
    /// [`Bands::of_minhash`]. O(bits).
    pub fn of_simhash(&self, sketch: &Simhash<'_>, each: impl FnMut(u64)) {
        if sketch.header.empty {
            return;
        }
        self.signatures(each, |range, bytes| {
            let first = bytes.len();
            bytes.extend_from_slice(&sketch.bits[range.start / 8..range.end.div_ceil(8)]);
            // Clear the bits of the neighbouring bands.
            bytes[first] &= 0xff >> (range.start % 8);
            if let (Some(last), over @ 1..) = (bytes.last_mut(), range.end % 8) {
                *last &= 0xff << (8 - over);
            }
        });
    }

    /// Hashes the number of each band and the content of its positions, which `append` writes.
    fn signatures(&self, mut each: impl FnMut(u64), append: impl Fn(Range<usize>, &mut Vec<u8>)) {
        let mut bytes = Vec::new();
        for n in 0..self.bands {
            bytes.clear();
            bytes.extend_from_slice(&(n as u64).to_le_bytes());
            append(self.range(n), &mut bytes);
            each(hash::hash_bytes(&bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::origin::Origin;
    use crate::sketches::wire::{MinhashHeader, SimhashHeader};
    use crate::sketches::{minhash, simhash};
    use proptest::prelude::*;

    fn minhash_signatures(bands: Bands, values: &[u32]) -> Vec<u64> {
        let bytes = MinhashHeader::new(Origin::Words, 5, values.len() as u16, 1).sketch(Some(values));
        let mut all = Vec::new();
        bands.of_minhash(&Minhash::parse(&bytes).unwrap(), |signature| all.push(signature));
        all
    }

    fn simhash_signatures(bands: Bands, bits: &[u8]) -> Vec<u64> {
        let bytes = SimhashHeader::new(Origin::Words, 1, bands.positions as u16).sketch(Some(bits));
        let mut all = Vec::new();
        bands.of_simhash(&Simhash::parse(&bytes).unwrap(), |signature| all.push(signature));
        all
    }

    proptest! {
        #[test]
        fn bands_cover_all_positions_once(positions in 1..2048u16, differ in 0..3000u32) {
            let bands = Bands::new(positions, differ);
            let mut next = 0;
            for n in 0..bands.count() {
                prop_assert_eq!(bands.range(n).start, next);
                prop_assert!(!bands.range(n).is_empty());
                next = bands.range(n).end;
            }
            prop_assert_eq!(next, usize::from(positions));
        }

        /// No similar pair is lost, even if only as many bands are looked up as its threshold
        /// needs. A signature is shared exactly if a band agrees.
        #[test]
        fn similar_sketches_share_a_band(
            a in prop::collection::vec(0..3u32, 1..150),
            changes in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
            index in 0.01..1.0f64,
            query in 0.0..1.0f64,
            skip in any::<prop::sample::Index>(),
        ) {
            let mut b = a.clone();
            changes.iter().for_each(|n| b[n.index(a.len())] += 1);
            let m = a.len() as u16;
            let query = index + (1.0 - index) * query;
            let bands = Bands::minhash(m, index);
            let (x, y) = (minhash_signatures(bands, &a), minhash_signatures(bands, &b));
            prop_assert_eq!(x.len(), bands.count());
            for n in 0..bands.count() {
                prop_assert_eq!(x[n] == y[n], a[bands.range(n)] == b[bands.range(n)]);
            }
            let agreeing = a.iter().zip(&b).filter(|(x, y)| x == y).count() as u32;
            if minhash::similarity(agreeing, m) >= query {
                let needed = Bands::minhash(m, query).count();
                let first = skip.index(x.len() - needed + 1);
                prop_assert!((first..first + needed).any(|n| x[n] == y[n]));
            }
        }

        #[test]
        fn near_simhashes_share_a_block(
            digits in 2..=256u16,
            seed in any::<u64>(),
            changes in prop::collection::vec(any::<prop::sample::Index>(), 0..40),
            distance in 0..64u16,
        ) {
            let bits = 4 * digits;
            let count = simhash::bytes(bits);
            let mut a: Vec<u8> = (0..count as u64).map(|n| hash::mix(seed.wrapping_add(n)) as u8).collect();
            a[count - 1] &= if bits % 8 == 0 { 0xff } else { 0xf0 };
            let mut b = a.clone();
            for change in &changes {
                let bit = change.index(bits.into());
                b[bit / 8] ^= 0x80 >> (bit % 8);
            }
            let bands = Bands::simhash(bits, distance);
            let (x, y) = (simhash_signatures(bands, &a), simhash_signatures(bands, &b));
            prop_assert_eq!(x.len(), bands.count());
            let bit = |bytes: &[u8], n: usize| bytes[n / 8] & (0x80 >> (n % 8)) != 0;
            for n in 0..bands.count() {
                prop_assert_eq!(x[n] == y[n], bands.range(n).all(|n| bit(&a, n) == bit(&b, n)));
            }
            if simhash::hamming(&a, &b) <= distance.into() && distance < bits {
                prop_assert!(x.iter().zip(&y).any(|(x, y)| x == y));
            }
        }
    }

    #[test]
    fn low_thresholds_have_many_candidates() {
        let share = |least| (Bands::minhash(128, least).share_one(0.1) * 1e4).round() / 1e4;
        assert_eq!([0.5, 0.7, 0.8].map(share), [0.57, 0.0287, 0.0004]);
        assert_eq!(Bands::minhash(128, 0.8).share_one(1.0), 1.0);
    }

    #[test]
    fn empty_documents_have_no_signatures() {
        let bytes = MinhashHeader::new(Origin::Words, 5, 8, 1).sketch(None);
        Bands::minhash(8, 0.5).of_minhash(&Minhash::parse(&bytes).unwrap(), |_| panic!("a signature"));
        let bytes = SimhashHeader::new(Origin::Words, 1, 64).sketch(None);
        Bands::simhash(64, 3).of_simhash(&Simhash::parse(&bytes).unwrap(), |_| panic!("a signature"));
    }

    /// Indexes store signatures, so they must not change.
    #[test]
    fn golden_vectors() {
        assert_eq!(minhash_signatures(Bands::new(4, 1), &[1, 2, 3, 4]), GOLDEN[..2]);
        assert_eq!(simhash_signatures(Bands::new(64, 2), &[0xa5; 8]), GOLDEN[2..]);
    }

    /// The XXH3 of the band number and the values or bits, computed with the reference
    /// implementation.
    const GOLDEN: [u64; 5] = [
        0xa32c_1566_c369_405f,
        0x502d_b295_a44e_0310,
        0x4481_099e_e4f2_b5e0,
        0x3198_dc30_e52e_b1fb,
        0x6ea9_426b_3961_411e,
    ];
}
