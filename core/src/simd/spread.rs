//! SIMD kernels that write the counts of 512 records, a byte each, as planes ([`super::columns`]).
//! The kernel is chosen at run time.
#![allow(unsafe_code)] // Intrinsics; each use says why it is sound.

use crate::simd::columns::{BitColumn, RECORDS};
#[cfg(target_arch = "x86_64")]
use crate::simd::instructions::listed;
use crate::simd::instructions::{Instructions, KernelNeeding, fastest};

/// Writes counts to planes, which must have room for them, and sets all of the other planes to 0.
pub type SpreadKernel = fn(&[u8; RECORDS], &mut [BitColumn]);

/// Returns the fastest kernel for this processor.
pub fn kernel() -> SpreadKernel {
    fastest(KINDS)
}

/// All kernels.
pub const KINDS: &[KernelNeeding<SpreadKernel>] = &[
    (Instructions::Portable, portable),
    #[cfg(target_arch = "x86_64")]
    (Instructions::Avx2, listed!(x86::avx2, counts, planes)),
];

/// Gathers one bit of each of 8 bytes by a multiplication.
fn portable(counts: &[u8; RECORDS], planes: &mut [BitColumn]) {
    const LOWEST: u64 = 0x0101_0101_0101_0101;
    const GATHER: u64 = 0x0102_0408_1020_4080;
    for (n, plane) in planes.iter_mut().enumerate() {
        *plane = BitColumn::NONE;
        if n < 8 {
            for (at, eight) in counts.as_chunks::<8>().0.iter().enumerate() {
                let bits = (u64::from_le_bytes(*eight) >> n & LOWEST).wrapping_mul(GATHER) >> 56;
                plane.0[at / 8] |= bits << (at % 8 * 8);
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{_mm_cvtsi32_si128, _mm256_loadu_si256, _mm256_movemask_epi8, _mm256_sll_epi16};

    use super::{BitColumn, RECORDS};

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(counts: &[u8; RECORDS], planes: &mut [BitColumn]) {
        let (bits, others) = planes.split_at_mut(planes.len().min(8));
        others.fill(BitColumn::NONE);
        for (word, halves) in counts.as_chunks::<64>().0.iter().enumerate() {
            let half = |at: usize| {
                let bytes: &[u8; 32] = halves[at..].first_chunk().unwrap_or(&[0; 32]);
                // SAFETY: there are as many bytes as a register has.
                unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
            };
            let halves = [half(0), half(32)];
            for (n, plane) in bits.iter_mut().enumerate() {
                // The bit comes to the top of each byte.
                let left = _mm_cvtsi32_si128(7 - n as i32);
                let [low, high] =
                    halves.map(|half| _mm256_movemask_epi8(_mm256_sll_epi16(half, left)) as u32);
                plane.0[word] = u64::from(high) << 32 | u64::from(low);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use crate::simd::columns::{planes, sum};
    use crate::simd::instructions::runnable;

    #[test]
    fn all_kernels_spread_counts() {
        for most in [0_u8, 1, 7, 8, 200, 255] {
            let random = |n: usize| hash::mix((n << 8 | usize::from(most)) as u64);
            let counts: [u8; RECORDS] = std::array::from_fn(|n| (random(n) % (u64::from(most) + 1)) as u8);
            for (name, spread) in runnable(KINDS) {
                for more in 0..3 {
                    let mut planes = vec![BitColumn([7; 8]); planes(most.into()) + 4 * more];
                    spread(&counts, &mut planes);
                    assert!((0..RECORDS).all(|n| sum(&planes, n) == u32::from(counts[n])), "{name}, {most}");
                }
            }
        }
    }
}
