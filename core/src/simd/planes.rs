//! SIMD kernels that count differing bits of bitmaps stored word by word: the first words of all
//! bitmaps, then the second words, and so on. They compare eight bitmaps side by side, without a
//! sum across the lanes of a register. The kernel is chosen at run time.
#![allow(unsafe_code)] // Intrinsics; each use says why it is sound.

#[cfg(target_arch = "x86_64")]
use crate::simd::instructions::listed;
use crate::simd::instructions::{Instructions, KernelNeeding, fastest};

/// A kernel may need room for this many more positions than there are bitmaps, because it writes
/// some positions in advance.
pub const IN_ADVANCE: usize = 16;

/// Appends to the last argument the positions of the bitmaps that differ from the first argument in
/// at most as many bits as the third argument says. The fourth argument is the position of the
/// first bitmap. The second argument has the words of the bitmaps: a slice for each word, all of
/// the same length.
pub type PlanesKernel<const W: usize> = fn(&[u64; W], &[&[u64]; W], u32, u32, &mut Vec<u32>);

/// Returns the fastest kernel for this processor.
pub fn kernel<const W: usize>() -> PlanesKernel<W> {
    fastest(kinds())
}

/// Returns all kernels.
pub fn kinds<const W: usize>() -> &'static [KernelNeeding<PlanesKernel<W>>] {
    const {
        &[
            (Instructions::Portable, portable as PlanesKernel<W>),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Popcnt, listed!(x86::popcnt, probe, planes, allowed, first, near)),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Avx2, listed!(x86::avx2, probe, planes, allowed, first, near)),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Avx512Popcnt, listed!(x86::avx512, probe, planes, allowed, first, near)),
        ]
    }
}

/// Returns the number of bitmaps in the planes.
#[inline(always)]
fn length<const W: usize>(planes: &[&[u64]; W]) -> usize {
    planes.iter().map(|plane| plane.len()).min().unwrap_or(0)
}

#[inline(always)]
fn portable<const W: usize>(
    probe: &[u64; W],
    planes: &[&[u64]; W],
    allowed: u32,
    first: u32,
    near: &mut Vec<u32>,
) {
    for (n, place) in (0..length(planes)).zip(first..) {
        let differ: u32 = (0..W).map(|w| (probe[w] ^ planes[w][n]).count_ones()).sum();
        if differ <= allowed {
            near.push(place);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, _mm_add_epi32, _mm_loadu_si128, _mm_set1_epi32, _mm_setr_epi8, _mm_setr_epi32,
        _mm_shuffle_epi8, _mm_storeu_si128, _mm256_add_epi8, _mm256_add_epi64, _mm256_and_si256,
        _mm256_broadcastsi128_si256, _mm256_castsi256_pd, _mm256_cmpgt_epi64, _mm256_loadu_si256,
        _mm256_movemask_pd, _mm256_sad_epu8, _mm256_set1_epi8, _mm256_set1_epi64x, _mm256_setzero_si256,
        _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_xor_si256, _mm512_add_epi32, _mm512_add_epi64,
        _mm512_cmple_epu64_mask, _mm512_maskz_compress_epi32, _mm512_maskz_loadu_epi64, _mm512_popcnt_epi64,
        _mm512_set1_epi32, _mm512_set1_epi64, _mm512_setr_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
        _mm512_xor_si512,
    };

    #[target_feature(enable = "popcnt")]
    pub(super) fn popcnt<const W: usize>(
        probe: &[u64; W],
        planes: &[&[u64]; W],
        allowed: u32,
        first: u32,
        near: &mut Vec<u32>,
    ) {
        super::portable(probe, planes, allowed, first, near);
    }

    /// For each mask of four bits, the bytes that move the numbers of its bits to the front of a
    /// register of four numbers of 32 bits.
    const PACKED: [[u8; 16]; 16] = {
        let mut packed = [[0; 16]; 16];
        let mut mask = 0;
        while mask < 16 {
            let (mut lane, mut to) = (0, 0);
            while lane < 4 {
                if mask >> lane & 1 == 1 {
                    let mut byte = 0;
                    while byte < 4 {
                        packed[mask][4 * to + byte] = (4 * lane + byte) as u8;
                        byte += 1;
                    }
                    to += 1;
                }
                lane += 1;
            }
            mask += 1;
        }
        packed
    };

    /// Counts the bits of each half of a byte by a table in a register. The counts of planes
    /// are added up in bytes, and only then for each word. Positions are written as by
    /// [`avx512`], so that no branch depends on which bitmaps are near.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn avx2<const W: usize>(
        probe: &[u64; W],
        planes: &[&[u64]; W],
        allowed: u32,
        first: u32,
        near: &mut Vec<u32>,
    ) {
        /// The number of words in a register, and of positions that are written at once.
        const LANES: usize = 4;
        const { assert!(super::IN_ADVANCE >= LANES) };
        /// The differing bits of this many planes are counted in bytes.
        const IN_BYTES: usize = 16;
        const { assert!(8 * IN_BYTES <= u8::MAX as usize) };
        let count = super::length(planes);
        near.reserve(count + super::IN_ADVANCE);
        let mut found = near.len();
        let bits_of = _mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
        let bits_of = _mm256_broadcastsi128_si256(bits_of);
        let half = _mm256_set1_epi8(0x0f);
        let most = _mm256_set1_epi64x(allowed.into());
        let probes: [__m256i; W] = std::array::from_fn(|w| _mm256_set1_epi64x(probe[w] as i64));
        let mut places = _mm_add_epi32(_mm_set1_epi32(first as i32), _mm_setr_epi32(0, 1, 2, 3));
        let next = _mm_set1_epi32(LANES as i32);
        let whole = count / LANES * LANES;
        let mut at = 0;
        while at < whole {
            let mut bits = _mm256_setzero_si256();
            for first_plane in (0..W).step_by(IN_BYTES) {
                let mut counts = _mm256_setzero_si256();
                for w in first_plane..W.min(first_plane + IN_BYTES) {
                    // SAFETY: each plane has `count` words, `at + LANES` or more.
                    let words = unsafe { _mm256_loadu_si256(planes[w].as_ptr().add(at).cast()) };
                    let differ = _mm256_xor_si256(probes[w], words);
                    let low = _mm256_shuffle_epi8(bits_of, _mm256_and_si256(differ, half));
                    let high = _mm256_and_si256(_mm256_srli_epi16::<4>(differ), half);
                    counts =
                        _mm256_add_epi8(counts, _mm256_add_epi8(low, _mm256_shuffle_epi8(bits_of, high)));
                }
                bits = _mm256_add_epi64(bits, _mm256_sad_epu8(counts, _mm256_setzero_si256()));
            }
            let far = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(bits, most)));
            let is_near = !far as usize & (PACKED.len() - 1);
            // SAFETY: the row of the table has 16 bytes.
            let order = unsafe { _mm_loadu_si128(PACKED[is_near].as_ptr().cast()) };
            // SAFETY: no more positions were found than bitmaps were examined, which are fewer
            // than `count`, and there is room for `count` positions and one more register.
            unsafe { _mm_storeu_si128(near.as_mut_ptr().add(found).cast(), _mm_shuffle_epi8(places, order)) };
            found += is_near.count_ones() as usize;
            places = _mm_add_epi32(places, next);
            at += LANES;
        }
        // SAFETY: this many positions were written, within the reserved memory.
        unsafe { near.set_len(found) };
        super::portable(
            probe,
            &planes.map(|plane| &plane[whole..count]),
            allowed,
            first + whole as u32,
            near,
        );
    }

    /// It is unpredictable which of eight bitmaps are near, so no branch depends on it. The
    /// positions of the near bitmaps are packed to the front of a register, the whole register
    /// is written, and the next write overwrites the rest.
    #[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
    pub(super) fn avx512<const W: usize>(
        probe: &[u64; W],
        planes: &[&[u64]; W],
        allowed: u32,
        first: u32,
        near: &mut Vec<u32>,
    ) {
        /// The number of words in a register, which holds twice as many positions.
        const LANES: usize = 8;
        const { assert!(super::IN_ADVANCE == 2 * LANES) };
        let count = super::length(planes);
        near.reserve(count + super::IN_ADVANCE);
        let mut found = near.len();
        let most = _mm512_set1_epi64(allowed.into());
        let probes: [_; W] = std::array::from_fn(|w| _mm512_set1_epi64(probe[w] as i64));
        let mut places = _mm512_add_epi32(
            _mm512_set1_epi32(first as i32),
            _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
        );
        let next = _mm512_set1_epi32(LANES as i32);
        let mut at = 0;
        while at < count {
            let valid = 0xffu8 >> (LANES - (count - at).min(LANES));
            let mut bits = _mm512_setzero_si512();
            for w in 0..W {
                // SAFETY: the load reads only words that the mask selects, and each plane has
                // `count` words.
                let words = unsafe { _mm512_maskz_loadu_epi64(valid, planes[w].as_ptr().add(at).cast()) };
                bits = _mm512_add_epi64(bits, _mm512_popcnt_epi64(_mm512_xor_si512(probes[w], words)));
            }
            let is_near = _mm512_cmple_epu64_mask(bits, most) & valid;
            let packed = _mm512_maskz_compress_epi32(is_near.into(), places);
            // SAFETY: no more positions were found than bitmaps were examined, which are fewer
            // than `count`, and there is room for `count` positions and one more register.
            unsafe { _mm512_storeu_si512(near.as_mut_ptr().add(found).cast(), packed) };
            found += is_near.count_ones() as usize;
            places = _mm512_add_epi32(places, next);
            at += LANES;
        }
        // SAFETY: this many positions were written, within the reserved memory.
        unsafe { near.set_len(found) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use crate::simd::instructions::runnable;

    fn near_says_what_counting_says<const W: usize>() {
        let bitmap = |n: usize| -> [u64; W] { std::array::from_fn(|w| hash::mix((n * 8 + w) as u64)) };
        let planes: [Vec<u64>; W] = std::array::from_fn(|w| (0..203).map(|n| bitmap(n)[w]).collect());
        for (_, kernel) in runnable(kinds()) {
            for (allowed, from, to) in [
                (0, 0, 203),
                (28 * W as u32, 0, 203),
                (31 * W as u32, 5, 203),
                (31 * W as u32, 6, 14),
                (33 * W as u32, 6, 11),
                (64 * W as u32, 1, 200),
                (64 * W as u32, 9, 9),
            ] {
                let mut found = vec![9];
                let part = std::array::from_fn(|w| &planes[w][from..to]);
                kernel(&bitmap(7), &part, allowed, 1000, &mut found);
                let differ = |n: usize| {
                    let words = bitmap(n).into_iter().zip(bitmap(7));
                    words.map(|(a, b)| (a ^ b).count_ones()).sum::<u32>()
                };
                let near = (from..to).filter(|&n| differ(n) <= allowed);
                let expected: Vec<_> = near.map(|n| (1000 + n - from) as u32).collect();
                assert_eq!(found[1..], expected, "{W} words, {allowed} bits, {from}..{to}");
            }
        }
    }

    /// Bitmaps that differ in all bits have the greatest counts in every byte.
    fn all_bits_are_counted<const W: usize>() {
        let plane = [u64::MAX; 21];
        for (_, kernel) in runnable(kinds::<W>()) {
            for (allowed, near) in [(64 * W as u32 - 1, 0), (64 * W as u32, 21)] {
                let mut found = Vec::new();
                kernel(&[0; W], &[&plane; W], allowed, 0, &mut found);
                assert_eq!(found, (0..near).collect::<Vec<_>>(), "{W} words, {allowed} bits");
            }
        }
    }

    #[test]
    fn all_kernels_agree() {
        near_says_what_counting_says::<1>();
        near_says_what_counting_says::<2>();
        near_says_what_counting_says::<4>();
        near_says_what_counting_says::<8>();
        near_says_what_counting_says::<32>();
        all_bits_are_counted::<8>();
        all_bits_are_counted::<32>();
    }
}
