//! SIMD kernels that count the bits in which bitmaps differ. The kernel is chosen at run time.
#![allow(unsafe_code)] // Intrinsics; each use says why it is sound.

#[cfg(target_arch = "x86_64")]
use crate::simd::instructions::listed;
use crate::simd::instructions::{Instructions, KernelNeeding, fastest};

/// Appends to the last argument the positions of the bitmaps that differ from the first argument in
/// at most as many bits as the third argument says. The fourth argument is the position of the
/// first bitmap.
pub type PopcountKernel<const W: usize> = fn(&[u64; W], &[[u64; W]], u32, u32, &mut Vec<u32>);

/// Returns the fastest kernel for this processor.
pub fn kernel<const W: usize>() -> PopcountKernel<W> {
    fastest(kinds())
}

/// Returns all kernels.
pub fn kinds<const W: usize>() -> &'static [KernelNeeding<PopcountKernel<W>>] {
    const {
        &[
            (Instructions::Portable, portable as PopcountKernel<W>),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Popcnt, listed!(x86::popcnt, probe, bitmaps, allowed, first, near)),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Avx512Popcnt, listed!(x86::avx512, probe, bitmaps, allowed, first, near)),
        ]
    }
}

/// Appends to the last argument those positions of the fourth argument whose bitmaps differ from
/// the first argument in no more bits than the sizes of both sets allow. The second argument has
/// the bitmaps of the other sets, and the third argument their sizes. The fifth argument is the
/// size of the probe's set minus twice the least overlap.
pub type Scattered<const W: usize> = fn(&[u64; W], &[[u64; W]], &[u32], &[u32], i64, &mut Vec<u32>);

/// Returns the fastest kernel for scattered positions.
pub fn scattered<const W: usize>() -> Scattered<W> {
    fastest(scattered_kinds())
}

/// Returns all kernels for scattered positions.
pub fn scattered_kinds<const W: usize>() -> &'static [KernelNeeding<Scattered<W>>] {
    const {
        &[
            (Instructions::Portable, scattered_portable as Scattered<W>),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Popcnt, listed!(x86::scattered, probe, bitmaps, sizes, places, allowed, near)),
        ]
    }
}

#[inline(always)]
fn scattered_portable<const W: usize>(
    probe: &[u64; W],
    bitmaps: &[[u64; W]],
    sizes: &[u32],
    places: &[u32],
    allowed: i64,
    near: &mut Vec<u32>,
) {
    for &place in places {
        let bitmap = &bitmaps[place as usize];
        let differ: u32 = probe.iter().zip(bitmap).map(|(a, b)| (a ^ b).count_ones()).sum();
        if i64::from(differ) <= allowed + i64::from(sizes[place as usize]) {
            near.push(place);
        }
    }
}

#[inline(always)]
fn portable<const W: usize>(
    probe: &[u64; W],
    bitmaps: &[[u64; W]],
    allowed: u32,
    first: u32,
    near: &mut Vec<u32>,
) {
    for (place, bitmap) in (first..).zip(bitmaps) {
        let differ: u32 = probe.iter().zip(bitmap).map(|(a, b)| (a ^ b).count_ones()).sum();
        if differ <= allowed {
            near.push(place);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm512_add_epi64, _mm512_cmple_epu64_mask, _mm512_loadu_si512, _mm512_permutex_epi64,
        _mm512_popcnt_epi64, _mm512_set1_epi64, _mm512_shuffle_i64x2, _mm512_xor_si512,
    };

    use crate::simd::prefetch::prefetch;

    #[target_feature(enable = "popcnt")]
    pub(super) fn popcnt<const W: usize>(
        probe: &[u64; W],
        bitmaps: &[[u64; W]],
        allowed: u32,
        first: u32,
        near: &mut Vec<u32>,
    ) {
        super::portable(probe, bitmaps, allowed, first, near);
    }

    #[target_feature(enable = "popcnt,sse")]
    pub(super) fn scattered<const W: usize>(
        probe: &[u64; W],
        bitmaps: &[[u64; W]],
        sizes: &[u32],
        places: &[u32],
        allowed: i64,
        near: &mut Vec<u32>,
    ) {
        /// A bitmap is prefetched this many positions in advance, because most bitmaps are far
        /// away in memory.
        const AHEAD: usize = 12;
        for (n, place) in places.iter().enumerate() {
            if let Some(&next) = places.get(n + AHEAD) {
                prefetch(bitmaps, next as usize);
            }
            super::scattered_portable(probe, bitmaps, sizes, std::slice::from_ref(place), allowed, near);
        }
    }

    /// Compares eight words at a time: the bits of 8 / W bitmaps.
    #[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
    pub(super) fn avx512<const W: usize>(
        probe: &[u64; W],
        bitmaps: &[[u64; W]],
        allowed: u32,
        first: u32,
        near: &mut Vec<u32>,
    ) {
        const { assert!(matches!(W, 1 | 2 | 4 | 8)) };
        let words: [u64; 8] = std::array::from_fn(|n| probe[n % W]);
        // SAFETY: the array has eight words.
        let probes = unsafe { _mm512_loadu_si512(words.as_ptr().cast()) };
        let most = _mm512_set1_epi64(allowed.into());
        // A mask of the first lane of each bitmap.
        let lanes = match W {
            1 => 0xff,
            2 => 0x55,
            4 => 0x11,
            _ => 0x01,
        };
        let chunks = bitmaps.chunks_exact(8 / W);
        let rest = chunks.remainder();
        let mut place = first;
        for chunk in chunks {
            // SAFETY: the chunk has 8 / W bitmaps of W words.
            let words = unsafe { _mm512_loadu_si512(chunk.as_ptr().cast()) };
            let mut bits = _mm512_popcnt_epi64(_mm512_xor_si512(probes, words));
            // Each lane adds its neighbours' counts until it has the count of the whole bitmap.
            if W >= 2 {
                bits = _mm512_add_epi64(bits, _mm512_permutex_epi64::<0b10_11_00_01>(bits));
            }
            if W >= 4 {
                bits = _mm512_add_epi64(bits, _mm512_permutex_epi64::<0b01_00_11_10>(bits));
            }
            if W >= 8 {
                bits = _mm512_add_epi64(bits, _mm512_shuffle_i64x2::<0b01_00_11_10>(bits, bits));
            }
            let mut found = _mm512_cmple_epu64_mask(bits, most) & lanes;
            while found != 0 {
                near.push(place + found.trailing_zeros() / W as u32);
                found &= found - 1;
            }
            place += (8 / W) as u32;
        }
        super::portable(probe, rest, allowed, place, near);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::instructions::runnable;
    use crate::simd::planes;
    use proptest::prelude::*;

    /// Words with all bits set, no bit set, or any bits set.
    fn words() -> impl Strategy<Value = u64> {
        prop_oneof![2 => Just(u64::MAX), 2 => Just(0), 3 => any::<u64>()]
    }

    /// Checks every kernel, on bitmaps stored side by side and word by word, from any position on.
    fn every_kernel_counts<const W: usize>(
        words: &[u64],
        from: usize,
        allowed: u32,
    ) -> Result<(), TestCaseError> {
        let (bitmaps, _) = words.as_chunks::<W>();
        let Some((probe, bitmaps)) = bitmaps.split_first() else { return Ok(()) };
        let bitmaps = &bitmaps[from.min(bitmaps.len())..];
        let differ = |of: &[u64; W]| of.iter().zip(probe).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
        let near = |allowed: u32| {
            let places = bitmaps.iter().zip(7..).filter(|(of, _)| differ(of) <= allowed);
            [9].into_iter().chain(places.map(|(_, place)| place)).collect::<Vec<u32>>()
        };
        // The limits select as many bitmaps as the test asks for, none, and all.
        for allowed in [allowed, 0, 64 * W as u32, u32::MAX] {
            for (name, kernel) in runnable(kinds()) {
                let mut found = vec![9];
                kernel(probe, bitmaps, allowed, 7, &mut found);
                prop_assert_eq!(&found, &near(allowed), "{} words, {}, {}", W, name, allowed);
            }
            let planes: [Vec<u64>; W] =
                std::array::from_fn(|w| bitmaps.iter().map(|bitmap| bitmap[w]).collect());
            let planes: [&[u64]; W] = std::array::from_fn(|w| &*planes[w]);
            for (name, kernel) in runnable(planes::kinds()) {
                let mut found = vec![9];
                kernel(probe, &planes, allowed, 7, &mut found);
                prop_assert_eq!(&found, &near(allowed), "{} planes, {}, {}", W, name, allowed);
            }
        }
        // Some positions, some of them twice, with sizes.
        let count = bitmaps.len() as u32;
        let places: Vec<u32> = (0..2 * count).filter(|n| n % 3 > 0).map(|n| n % count).collect();
        let sizes: Vec<u32> = (0..count).map(|n| n % 50).collect();
        for allowed in [i64::from(allowed), -20, 0] {
            let fits = |&&place: &&u32| {
                let at = place as usize;
                i64::from(differ(&bitmaps[at])) <= allowed + i64::from(sizes[at])
            };
            let expected: Vec<u32> = places.iter().filter(fits).copied().collect();
            for (name, kernel) in runnable(scattered_kinds()) {
                let mut found = Vec::new();
                kernel(probe, bitmaps, &sizes, &places, allowed, &mut found);
                prop_assert_eq!(&found, &expected, "{} words, scattered, {}", W, name);
            }
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn every_kernel_gives_what_counting_gives(
            words in prop::collection::vec(words(), 0..400),
            from in 0..12usize,
            allowed in 0..512u32,
        ) {
            every_kernel_counts::<1>(&words, from, allowed / 8)?;
            every_kernel_counts::<2>(&words, from, allowed / 4)?;
            every_kernel_counts::<4>(&words, from, allowed / 2)?;
            every_kernel_counts::<8>(&words, from, allowed)?;
        }
    }
}
