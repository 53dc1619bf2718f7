//! SIMD kernels that sort short lists of numbers by a network of comparisons, in vectors. The
//! program chooses the kernel when it runs.
//!
//! A list is laid out in rows of eight and padded with the greatest number. First each column is
//! sorted; then columns are merged pairwise until there is one list. This is Batcher's bitonic
//! sort: nearly all comparisons are between two rows, and no branch depends on the numbers.
#![allow(unsafe_code)] // Not every processor has these instructions; each use says why it is sound.

#[cfg(target_arch = "x86_64")]
use crate::simd::instructions::listed;
use crate::simd::instructions::{Instructions, KernelNeeding, fastest};

/// Sorts numbers in ascending order.
pub type Kernel = fn(&mut [u32]);

/// Returns the fastest kernel for this processor, for lists of some hundreds of numbers.
pub fn kernel() -> Kernel {
    fastest(KINDS)
}

/// All kernels.
pub const KINDS: &[KernelNeeding<Kernel>] = &[
    (Instructions::Portable, <[u32]>::sort_unstable),
    #[cfg(target_arch = "x86_64")]
    (Instructions::Avx2, listed!(x86::avx2, list)),
];

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, _mm256_blend_epi32, _mm256_max_epu32, _mm256_min_epu32, _mm256_permutevar8x32_epi32,
        _mm256_set1_epi32, _mm256_setr_epi32, _mm256_shuffle_epi32,
    };

    const LANES: usize = 8;

    /// Sorts by the smallest network that the list fits into.
    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(list: &mut [u32]) {
        match list.len() {
            17..=32 => sort_in_rows::<4>(list),
            33..=64 => sort_in_rows::<8>(list),
            65..=128 => sort_in_rows::<16>(list),
            129..=256 => sort_in_rows::<32>(list),
            257..=512 => sort_in_rows::<64>(list),
            // Inserting is faster for short lists, and partitioning for long ones.
            _ => list.sort_unstable(),
        }
    }

    #[target_feature(enable = "avx2")]
    fn sort_in_rows<const R: usize>(list: &mut [u32]) {
        let mut rows = [_mm256_set1_epi32(-1); R];
        bytemuck::cast_slice_mut(&mut rows)[..list.len()].copy_from_slice(list);
        // Sort each column, run by run.
        let mut run = 2;
        while run <= R {
            for runs in rows.chunks_exact_mut(run) {
                let (low, high) = runs.split_at_mut(run / 2);
                low.iter_mut().zip(high.iter_mut().rev()).for_each(|(low, high)| exchange(low, high));
            }
            merge_rows(&mut rows, run / 4);
            run *= 2;
        }
        // Merge columns pairwise, then pairs of columns, then both halves.
        merge_columns::<1>(&mut rows);
        merge_columns::<2>(&mut rows);
        merge_columns::<4>(&mut rows);
        // Write back column by column. The padding is at the end.
        let numbers: &[[u32; LANES]] = bytemuck::cast_slice(&rows);
        for (column, part) in list.chunks_mut(R).enumerate() {
            part.iter_mut().zip(numbers).for_each(|(number, row)| *number = row[column]);
        }
    }

    /// Puts the lesser numbers of two rows into the first row and the greater ones into the second.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn exchange(low: &mut __m256i, high: &mut __m256i) {
        (*low, *high) = (_mm256_min_epu32(*low, *high), _mm256_max_epu32(*low, *high));
    }

    /// Compares rows at a distance of `stride`, then half of it, and so on.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn merge_rows(rows: &mut [__m256i], mut stride: usize) {
        while stride > 0 {
            for part in rows.chunks_exact_mut(2 * stride) {
                let (low, high) = part.split_at_mut(stride);
                low.iter_mut().zip(high).for_each(|(low, high)| exchange(low, high));
            }
            stride /= 2;
        }
    }

    /// Merges sorted runs of `COLUMNS` columns pairwise.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn merge_columns<const COLUMNS: usize>(rows: &mut [__m256i]) {
        // One of the two runs is reversed: its rows here,
        let (low, high) = rows.split_at_mut(rows.len() / 2);
        for (low, high) in low.iter_mut().zip(high.iter_mut().rev()) {
            // and its columns here.
            let (low_back, high_back) = match COLUMNS {
                1 => (swap::<0b10_11_00_01>(*low), swap::<0b10_11_00_01>(*high)),
                2 => (swap::<0b00_01_10_11>(*low), swap::<0b00_01_10_11>(*high)),
                _ => {
                    let back = _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0);
                    (_mm256_permutevar8x32_epi32(*low, back), _mm256_permutevar8x32_epi32(*high, back))
                }
            };
            (*low, *high) = match COLUMNS {
                1 => (ordered::<0b1010_1010>(*low, high_back), ordered::<0b1010_1010>(*high, low_back)),
                2 => (ordered::<0b1100_1100>(*low, high_back), ordered::<0b1100_1100>(*high, low_back)),
                _ => (ordered::<0b1111_0000>(*low, high_back), ordered::<0b1111_0000>(*high, low_back)),
            };
        }
        for row in rows.iter_mut() {
            if COLUMNS > 2 {
                *row = ordered::<0b1100_1100>(*row, swap::<0b01_00_11_10>(*row));
            }
            if COLUMNS > 1 {
                *row = ordered::<0b1010_1010>(*row, swap::<0b10_11_00_01>(*row));
            }
        }
        merge_rows(rows, rows.len() / 2);
    }

    /// Permutes the lanes of each half.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn swap<const ORDER: i32>(row: __m256i) -> __m256i {
        _mm256_shuffle_epi32::<ORDER>(row)
    }

    /// Returns the greater numbers of two rows in the lanes of `HIGH` and the lesser ones in the
    /// other lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn ordered<const HIGH: i32>(row: __m256i, other: __m256i) -> __m256i {
        _mm256_blend_epi32::<HIGH>(_mm256_min_epu32(row, other), _mm256_max_epu32(row, other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::instructions::runnable;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_as_the_library_does(
            list in prop_oneof![
                prop::collection::vec(any::<u32>(), 0..600),
                prop::collection::vec(prop_oneof![Just(0), Just(u32::MAX), 5..9u32], 0..600),
            ],
            from in 0..9usize,
        ) {
            let from = from.min(list.len());
            let mut expected = list.clone();
            expected[from..].sort();
            for (name, kernel) in runnable(KINDS) {
                let mut sorted = list.clone();
                kernel(&mut sorted[from..]);
                prop_assert_eq!(&sorted, &expected, "{}", name);
            }
        }
    }

    #[test]
    fn every_length_in_every_order() {
        for length in 0..=520u32 {
            let rotated = |by: u32| (0..length).map(move |n| (n + by) % length).collect::<Vec<_>>();
            for mut list in [rotated(0), rotated(length / 3), rotated(1).into_iter().rev().collect()] {
                for (_, kernel) in runnable(KINDS) {
                    kernel(&mut list);
                    assert!(list.iter().copied().eq(0..length));
                    list.reverse();
                }
            }
        }
    }
}
