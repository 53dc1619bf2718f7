//! SIMD kernels that count the numbers that two ascending lists share. They compare a block of one
//! list with a block of the other. The program chooses the kernel when it runs.
//!
//! Every number of a block is compared with every number of the other list's block, in eight
//! rotations of one block. Then the block with the lesser last number is finished, or both blocks
//! if their last numbers are equal. No branch depends on which number is less, since such a branch
//! cannot be predicted (Schlegel, Willhalm, Lehner: Fast Sorted-Set Intersection using SIMD
//! Instructions, ADMS 2011).
#![allow(unsafe_code)] // Not every processor has these instructions; each use says why it is sound.

#[cfg(target_arch = "x86_64")]
use crate::simd::instructions::listed;
use crate::simd::instructions::{Instructions, KernelNeeding, fastest};

/// The progress of a comparison of two lists: the places up to which they are compared, and the
/// number of shared numbers before these places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BlocksCompared {
    /// The place in the first list.
    pub left: usize,
    /// The place in the second list.
    pub right: usize,
    /// The number of shared numbers before these places.
    pub shared: usize,
}

/// Compares two ascending lists without repeats as far as both have whole blocks. Returns `None` as
/// soon as it is certain that they share fewer numbers than the last argument requires.
pub type SharedKernel = fn(&[u32], &[u32], usize) -> Option<BlocksCompared>;

/// Returns the fastest kernel for this processor. It costs one load.
#[inline]
pub fn kernel() -> SharedKernel {
    fastest(KINDS)
}

/// All kernels. The first one compares nothing and leaves everything to the caller.
pub const KINDS: &[KernelNeeding<SharedKernel>] = &[
    (Instructions::Portable, |_, _, _| Some(BlocksCompared { left: 0, right: 0, shared: 0 })),
    #[cfg(target_arch = "x86_64")]
    (Instructions::Avx2, listed!(x86::avx2, left, right, need)),
];

/// Compares two ascending lists from their ends as far as both have whole blocks. Returns `None` if
/// it finds a shared number, and otherwise how many numbers at the start of each list are left to
/// be compared.
pub type KernelFromBehind = fn(&[u32], &[u32]) -> Option<[usize; 2]>;

/// Returns the fastest kernel for this processor. It costs one load.
#[inline]
pub fn kernel_from_behind() -> KernelFromBehind {
    fastest(KINDS_FROM_BEHIND)
}

/// All kernels that compare from the ends. The first one compares nothing and leaves everything to
/// the caller.
pub const KINDS_FROM_BEHIND: &[KernelNeeding<KernelFromBehind>] = &[
    (Instructions::Portable, |left, right| Some([left.len(), right.len()])),
    #[cfg(target_arch = "x86_64")]
    (Instructions::Avx2, listed!(x86::avx2_from_behind, left, right)),
];

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_movemask_ps, _mm256_or_si256,
        _mm256_permute2x128_si256, _mm256_shuffle_epi32,
    };

    use super::BlocksCompared;

    const LANES: usize = 8;

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn avx2(left: &[u32], right: &[u32], need: usize) -> Option<BlocksCompared> {
        let mut at = BlocksCompared::default();
        while let (Some(a), Some(b)) =
            (left[at.left..].first_chunk::<LANES>(), right[at.right..].first_chunk::<LANES>())
        {
            if at.shared + (left.len() - at.left).min(right.len() - at.right) < need {
                return None;
            }
            at.shared += equal(bytemuck::cast(*a), bytemuck::cast(*b)).count_ones() as usize;
            let (last, other_last) = (a[LANES - 1], b[LANES - 1]);
            at.left += LANES * usize::from(last <= other_last);
            at.right += LANES * usize::from(other_last <= last);
        }
        Some(at)
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2_from_behind(left: &[u32], right: &[u32]) -> Option<[usize; 2]> {
        let (mut i, mut j) = (left.len(), right.len());
        while let (Some(a), Some(b)) = (left[..i].last_chunk::<LANES>(), right[..j].last_chunk::<LANES>()) {
            if equal(bytemuck::cast(*a), bytemuck::cast(*b)) != 0 {
                return None;
            }
            let (first, other_first) = (a[0], b[0]);
            i -= LANES * usize::from(first >= other_first);
            j -= LANES * usize::from(other_first >= first);
        }
        Some([i, j])
    }

    /// Returns one bit per number of the first block, set if the number is in the second block.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn equal(a: __m256i, b: __m256i) -> u32 {
        let halves = in_half(a, b);
        let crossed = in_half(a, _mm256_permute2x128_si256::<1>(b, b));
        let equal = _mm256_castsi256_ps(_mm256_or_si256(halves, crossed));
        // Eight bits.
        _mm256_movemask_ps(equal).cast_unsigned()
    }

    /// Returns all ones for each number of `a` that is in the same half of `b`.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn in_half(a: __m256i, b: __m256i) -> __m256i {
        let straight = _mm256_cmpeq_epi32(a, b);
        let one = _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32::<0b00_11_10_01>(b));
        let two = _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32::<0b01_00_11_10>(b));
        let three = _mm256_cmpeq_epi32(a, _mm256_shuffle_epi32::<0b10_01_00_11>(b));
        _mm256_or_si256(_mm256_or_si256(straight, one), _mm256_or_si256(two, three))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::instructions::runnable;
    use proptest::collection::btree_set;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_what_both_have_so_far(
            a in btree_set(prop_oneof![9 => 0..90u32, 1 => u32::MAX - 20..=u32::MAX], 0..80),
            b in btree_set(prop_oneof![9 => 0..90u32, 1 => u32::MAX - 20..=u32::MAX], 0..80),
            need in 0..60usize,
            from in 0..9usize,
        ) {
            let (left, right): (Vec<u32>, Vec<u32>) = (a.iter().copied().collect(), b.iter().copied().collect());
            // Lists may start anywhere in an allocation.
            let (left, right) = (&left[from.min(left.len())..], &right[from.min(right.len())..]);
            let all = left.iter().filter(|token| right.contains(token)).count();
            for (name, kernel) in runnable(KINDS) {
                match kernel(left, right, need) {
                    None => prop_assert!(all < need, "{}", name),
                    Some(at) => {
                        // Each shared number is shared before the places or after them.
                        let behind = left[at.left..].iter().filter(|token| right[at.right..].contains(token));
                        prop_assert_eq!(at.shared + behind.count(), all, "{}", name);
                        let is_whole = left.len() - at.left < 8 || right.len() - at.right < 8;
                        prop_assert!(at == BlocksCompared::default() || is_whole, "{}", name);
                    }
                }
            }
            for (name, kernel) in runnable(KINDS_FROM_BEHIND) {
                match kernel(left, right) {
                    None => prop_assert!(all > 0, "{}", name),
                    Some([i, j]) => {
                        let before = left[..i].iter().filter(|token| right[..j].contains(token));
                        prop_assert_eq!(before.count(), all, "{}", name);
                    }
                }
            }
        }
    }
}
