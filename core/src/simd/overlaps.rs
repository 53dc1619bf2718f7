//! SIMD kernels that count the bits that a bitmap shares with many others, in addition to counts
//! that are given. The bitmaps of eight records stand side by side, a word of each after the other,
//! so that no sum across the lanes of a register is needed. The kernel is chosen at run time.
#![allow(unsafe_code)] // Intrinsics; each use says why it is sound.

use crate::simd::instructions::{Instructions, Kind, fastest};

/// The number of bitmaps that stand side by side.
pub const LANES: usize = 8;

/// The greatest number of words of a bitmap.
pub const MOST_WORDS: usize = 8;

/// A kernel, and what it takes.
#[derive(Debug, Clone, Copy)]
pub struct Kernel {
    /// The kernel.
    pub run: Run,
    /// How many words it compares while an entry of a list is counted.
    pub comparisons: u32,
}

/// Appends to the last argument the positions of the records that share at least as many tokens as
/// the fourth argument says, which is not 0. The first argument is the bitmap, the second one the
/// bitmaps of all records in groups of [`LANES`], and the third one the counts of all records. The
/// position of the first record is the fifth argument.
pub type Run = fn(&[u64], &[u64], &[u32], u32, u32, &mut Vec<u32>);

/// Returns the fastest kernel for this processor.
pub fn kernel() -> Kernel {
    fastest(kinds())
}

/// Returns all kernels.
pub fn kinds() -> &'static [Kind<Kernel>] {
    const {
        &[
            (Instructions::Portable, Kernel { run: portable as Run, comparisons: 1 }),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Popcnt, Kernel { run: x86::popcnt, comparisons: 1 }),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Avx512Popcnt, Kernel { run: x86::avx512, comparisons: 8 }),
        ]
    }
}

#[inline(always)]
fn portable(probe: &[u64], groups: &[u64], counts: &[u32], need: u32, first: u32, near: &mut Vec<u32>) {
    let mut groups = groups.chunks_exact((LANES * probe.len()).max(1));
    let mut place = first;
    for counts in counts.chunks_exact(LANES) {
        let mut shared: [u32; LANES] = std::array::from_fn(|lane| counts[lane]);
        if !probe.is_empty() {
            let Some(group) = groups.next() else { return };
            for (word, words) in probe.iter().zip(group.chunks_exact(LANES)) {
                (0..LANES).for_each(|lane| shared[lane] += (word & words[lane]).count_ones());
            }
        }
        near.extend((place..).zip(shared).filter(|&(_, shared)| shared >= need).map(|(place, _)| place));
        place += LANES as u32;
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        _mm256_loadu_si256, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpge_epu64_mask,
        _mm512_cvtepu32_epi64, _mm512_loadu_si512, _mm512_popcnt_epi64, _mm512_set1_epi64,
    };

    use super::{LANES, MOST_WORDS};

    pub(super) fn popcnt(
        probe: &[u64],
        groups: &[u64],
        counts: &[u32],
        need: u32,
        first: u32,
        near: &mut Vec<u32>,
    ) {
        #[target_feature(enable = "popcnt")]
        fn run(probe: &[u64], groups: &[u64], counts: &[u32], need: u32, first: u32, near: &mut Vec<u32>) {
            super::portable(probe, groups, counts, need, first, near);
        }
        // SAFETY: the list of kernels offers this one only where the processor has the instruction.
        unsafe { run(probe, groups, counts, need, first, near) }
    }

    pub(super) fn avx512(
        probe: &[u64],
        groups: &[u64],
        counts: &[u32],
        need: u32,
        first: u32,
        near: &mut Vec<u32>,
    ) {
        const { assert!(LANES == 8 && MOST_WORDS == 8) };

        /// Few records are near, so a branch on whether one of eight is can be predicted.
        #[target_feature(enable = "avx512f,avx512vpopcntdq,popcnt")]
        fn run<const W: usize>(
            probe: &[u64],
            groups: &[u64],
            counts: &[u32],
            need: u32,
            first: u32,
            near: &mut Vec<u32>,
        ) {
            let least = _mm512_set1_epi64(need.into());
            let probes: [_; W] = std::array::from_fn(|w| _mm512_set1_epi64(probe[w] as i64));
            let mut place = first;
            // An empty bitmap has no groups.
            let count = if W == 0 { counts.len() / LANES } else { groups.len() / (LANES * W.max(1)) };
            for n in 0..count.min(counts.len() / LANES) {
                // SAFETY: there are at least `n + 1` groups of counts.
                let counts = unsafe { _mm256_loadu_si256(counts.as_ptr().add(n * LANES).cast()) };
                let mut shared = _mm512_cvtepu32_epi64(counts);
                for (w, probe) in probes.iter().enumerate() {
                    // SAFETY: there are at least `n + 1` groups of `W` registers.
                    let words =
                        unsafe { _mm512_loadu_si512(groups.as_ptr().add((n * W + w) * LANES).cast()) };
                    shared = _mm512_add_epi64(shared, _mm512_popcnt_epi64(_mm512_and_si512(*probe, words)));
                }
                let mut is_near = _mm512_cmpge_epu64_mask(shared, least);
                while is_near != 0 {
                    near.push(place + is_near.trailing_zeros());
                    is_near &= is_near - 1;
                }
                place += LANES as u32;
            }
        }
        // SAFETY: the list of kernels offers this one only where the processor has the
        // instructions.
        unsafe {
            match probe.len() {
                0 => run::<0>(probe, groups, counts, need, first, near),
                1 => run::<1>(probe, groups, counts, need, first, near),
                2 => run::<2>(probe, groups, counts, need, first, near),
                3 => run::<3>(probe, groups, counts, need, first, near),
                4 => run::<4>(probe, groups, counts, need, first, near),
                5 => run::<5>(probe, groups, counts, need, first, near),
                6 => run::<6>(probe, groups, counts, need, first, near),
                7 => run::<7>(probe, groups, counts, need, first, near),
                _ => run::<8>(probe, groups, counts, need, first, near),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use crate::simd::instructions::runnable;

    #[test]
    fn all_kernels_count_what_is_shared() {
        const RECORDS: usize = 104;
        for words in 0..=MOST_WORDS {
            let bitmap = |n: usize| -> Vec<u64> {
                (0..words).map(|w| hash::mix((n * MOST_WORDS + w) as u64)).collect()
            };
            let mut groups = vec![0; RECORDS * words];
            for n in 0..RECORDS {
                let group = n / LANES * words;
                bitmap(n)
                    .iter()
                    .enumerate()
                    .for_each(|(w, &word)| groups[(group + w) * LANES + n % LANES] = word);
            }
            let counts: Vec<u32> = (0..RECORDS).map(|n| hash::mix(n as u64) as u32 % 9).collect();
            let shared = |n: usize| {
                let both = bitmap(n).into_iter().zip(bitmap(7));
                counts[n] + both.map(|(a, b)| (a & b).count_ones()).sum::<u32>()
            };
            for (_, kernel) in runnable(kinds()) {
                for need in [1, 16 * words as u32 + 4, 500] {
                    let mut near = vec![9];
                    (kernel.run)(&bitmap(7), &groups, &counts, need, 1000, &mut near);
                    let expected = (0..RECORDS).filter(|&n| shared(n) >= need).map(|n| (1000 + n) as u32);
                    assert_eq!(near[1..], expected.collect::<Vec<_>>(), "{words} words, {need} needed");
                }
            }
        }
    }
}
