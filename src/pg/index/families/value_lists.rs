//! Lists of the single values of minhash sketches. A sketch is in one list for each of its
//! positions: the list of the rows that have the same value there.
//!
//! The rows that agree with a target in at least *a* of its *m* values are in at least *h* of any
//! *m* − *a* + *h* of the target's lists. So a search may leave out the longest lists, those of
//! values that many rows have, and no similarity is too low to be searched for.

use crate::pg::index::layout::items::{SignaturePair, short};
use neardup_core::hash;
use neardup_core::sketches::pigeonhole::Bands;

/// The number of bits of a class, the upper bits of a signature. Two positions have no class in
/// common. Two values of a position may have one, and then a row is looked at in vain.
pub(crate) const BITS: u32 = 32;

/// The number of bytes that a segment stores of a value in a list that has few rows.
const BYTES: usize = 5;

/// Calls `each` with the signature of each value of a sketch, in ascending order.
pub(crate) fn signatures(values: &[u8], each: impl FnMut(u64)) {
    let values = values.chunks_exact(4);
    // The classes of a position are contiguous, and there are as many for each.
    let classes = (1_u64 << BITS) / values.len().max(1) as u64;
    let signature = |(position, value): (u64, &[u8])| {
        // Values are minima and so mostly small: only their hashes are distributed evenly.
        let hashed = hash::mix(u64::from(short(value))) >> BITS;
        (position * classes + ((hashed * classes) >> BITS)) << (u64::BITS - BITS)
    };
    (0..).zip(values).map(signature).for_each(each);
}

/// Reports whether the lists take less space than bands for a threshold.
pub(super) fn are_smaller(permutations: u16, threshold: f64) -> bool {
    Bands::minhash(permutations, threshold).count() * SignaturePair::SIZE > usize::from(permutations) * BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u32]) -> Vec<u64> {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let mut all = Vec::new();
        signatures(&bytes, |signature| all.push(signature));
        all
    }

    #[test]
    fn pg_golden_signatures_of_values() {
        assert!(of(&[]).is_empty());
        assert_eq!(of(&[0, 7, u32::MAX]), GOLDEN);
    }

    const GOLDEN: [u64; 3] = [0x4b60_3812_0000_0000, 0x7699_4b4b_0000_0000, 0xd13b_13df_0000_0000];

    proptest! {
        /// Sketches have the signature of a position in common if they agree there. No two
        /// positions have the same signature.
        #[test]
        fn pg_values_that_agree_share_a_signature(
            a in prop::collection::vec(0..4_u32, 1..300),
            b in prop::collection::vec(0..4_u32, 1..300),
        ) {
            let n = a.len().min(b.len());
            let (x, y) = (of(&a[..n]), of(&b[..n]));
            prop_assert!(x.is_sorted_by(|a, b| a < b));
            prop_assert!(x.iter().all(|signature| signature << BITS == 0));
            for i in 0..n {
                prop_assert_eq!(a[i] == b[i], x[i] == y[i]);
                prop_assert!((0..n).all(|j| i == j || x[i] != y[j]));
            }
        }
    }
}
