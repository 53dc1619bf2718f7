//! SIMD kernels that lower-case ASCII text and find its letters and digits. The kernel is chosen at
//! run time.
#![allow(unsafe_code)] // Instructions that not every processor has; each use is justified.

#[cfg(target_arch = "x86_64")]
use crate::simd::instructions::listed;
use crate::simd::instructions::{Instructions, KernelNeeding, fastest};

/// The number of characters whose bits fit in one number.
pub const CHARACTERS: usize = 64;

/// Lower-cases the ASCII letters of a text and writes a bit for each of its bytes to the second
/// argument. The bit is set if the byte is an ASCII letter, a digit, or not ASCII. The second
/// argument must have exactly enough numbers for these bits.
pub type LowerKernel = fn(&mut [u8], &mut [u64]);

/// Returns the fastest kernel for this processor.
pub fn kernel() -> LowerKernel {
    fastest(KINDS)
}

/// All kernels.
const KINDS: &[KernelNeeding<LowerKernel>] = &[
    (Instructions::Portable, portable),
    #[cfg(target_arch = "x86_64")]
    (Instructions::Avx2, listed!(x86::avx2, text, bits)),
];

fn portable(text: &mut [u8], bits: &mut [u64]) {
    text.make_ascii_lowercase();
    find(text, bits);
}

/// Writes a bit for each byte of lower-cased text.
fn find(bytes: &[u8], bits: &mut [u64]) {
    for (bits, bytes) in bits.iter_mut().zip(bytes.chunks(CHARACTERS)) {
        let mut padded = [0; CHARACTERS];
        padded[..bytes.len()].copy_from_slice(bytes);
        *bits = of_words(&padded);
    }
}

/// Returns a bit for each of 64 bytes of lower-cased text.
#[inline]
fn of_words(bytes: &[u8; CHARACTERS]) -> u64 {
    // Compilers vectorise this loop. Gathering the bits in a number has no vector form, but takes
    // few steps.
    let mut found = [0u8; CHARACTERS];
    for (found, byte) in found.iter_mut().zip(bytes) {
        let (letter, digit) = (byte.wrapping_sub(b'a') < 26, byte.wrapping_sub(b'0') < 10);
        *found = u8::from(letter | digit | !byte.is_ascii());
    }
    let (eights, _) = found.as_chunks::<8>();
    eights.iter().rev().fold(0, |bits, &eight| {
        // The multiplication gathers the lowest bits of eight bytes in the highest byte.
        bits << 8 | u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    })
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256, _mm256_cmpgt_epi8, _mm256_loadu_si256, _mm256_movemask_epi8,
        _mm256_or_si256, _mm256_set1_epi8, _mm256_storeu_si256,
    };

    use super::CHARACTERS;

    #[target_feature(enable = "avx2")]
    pub(super) fn avx2(text: &mut [u8], bits: &mut [u64]) {
        let (blocks, rest) = text.as_chunks_mut::<CHARACTERS>();
        let (bits, bits_of_rest) = bits.split_at_mut(blocks.len());
        for (bits, block) in bits.iter_mut().zip(blocks) {
            let (low, high) = block.split_at_mut(CHARACTERS / 2);
            *bits = u64::from(half(low)) | u64::from(half(high)) << (CHARACTERS / 2);
        }
        rest.make_ascii_lowercase();
        super::find(rest, bits_of_rest);
    }

    /// Lower-cases half a block and returns its bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn half(bytes: &mut [u8]) -> u32 {
        assert_eq!(bytes.len(), CHARACTERS / 2);
        let at: *mut __m256i = bytes.as_mut_ptr().cast();
        // SAFETY: the assertion above guarantees that many bytes.
        let raw = unsafe { _mm256_loadu_si256(at) };
        let upper = _mm256_and_si256(within(raw, b'A', b'Z'), _mm256_set1_epi8(0x20));
        let lower = _mm256_or_si256(raw, upper);
        // SAFETY: the assertion above guarantees that many bytes.
        unsafe { _mm256_storeu_si256(at, lower) };
        let ascii = _mm256_or_si256(within(lower, b'a', b'z'), within(lower, b'0', b'9'));
        // The highest bit of each byte counts; it is set in bytes that are not ASCII.
        let found = _mm256_or_si256(ascii, raw);
        _mm256_movemask_epi8(found).cast_unsigned()
    }

    /// Returns a mask of the bytes that are in a range of ASCII. Bytes that are not ASCII are less
    /// than the whole range, as signed numbers.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn within(bytes: __m256i, first: u8, last: u8) -> __m256i {
        let below = _mm256_set1_epi8(first.cast_signed() - 1);
        let above = _mm256_set1_epi8(last.cast_signed() + 1);
        _mm256_and_si256(_mm256_cmpgt_epi8(bytes, below), _mm256_cmpgt_epi8(above, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::instructions::runnable;
    use proptest::prelude::*;

    #[test]
    fn every_character_at_every_place() {
        for length in [1, 31, 64, 65, 200] {
            for place in 0..length {
                for byte in 0..128u8 {
                    let text: String =
                        (0..length).map(|n| if n == place { byte.into() } else { '.' }).collect();
                    for (_, kernel) in runnable(KINDS) {
                        let (mut lowered, mut bits) =
                            (text.clone().into_bytes(), vec![0; text.len().div_ceil(CHARACTERS)]);
                        kernel(&mut lowered, &mut bits);
                        assert_eq!(lowered, text.to_ascii_lowercase().as_bytes());
                        for (n, bits) in bits.iter().enumerate() {
                            let here = n == place / CHARACTERS && byte.is_ascii_alphanumeric();
                            assert_eq!(*bits, u64::from(here) << (place % CHARACTERS));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_not_ascii_stays_and_is_of_a_word() {
        for text in [1, 20, 21].map(|times| "É漢字Aé".repeat(times)) {
            for (_, kernel) in runnable(KINDS) {
                let (mut lowered, mut bits) =
                    (text.clone().into_bytes(), vec![0; text.len().div_ceil(CHARACTERS)]);
                kernel(&mut lowered, &mut bits);
                assert_eq!(lowered, text.replace('A', "a").as_bytes());
                let found: u32 = bits.iter().map(|bits| bits.count_ones()).sum();
                assert_eq!(found as usize, text.len());
            }
        }
    }

    proptest! {
        /// Each kernel agrees with the definition for any bytes at any place of an allocation, and
        /// leaves the surrounding bytes unchanged.
        #[test]
        fn every_kernel_does_what_the_definition_says(
            bytes in prop_oneof![
                prop::collection::vec(any::<u8>(), 0..300),
                prop::collection::vec(prop_oneof![Just(0xff), Just(b'@'), Just(b'['), Just(b'Z'), Just(b'0')], 0..300),
            ],
            from in 0..40usize,
        ) {
            let from = from.min(bytes.len());
            let text = &bytes[from..];
            for (name, kernel) in runnable(KINDS) {
                let mut lowered = bytes.clone();
                let mut bits = vec![0; text.len().div_ceil(CHARACTERS)];
                kernel(&mut lowered[from..], &mut bits);
                prop_assert_eq!(&lowered[..from], &bytes[..from], "{}", name);
                prop_assert_eq!(&lowered[from..], &*text.to_ascii_lowercase(), "{}", name);
                for (n, byte) in text.iter().enumerate() {
                    let of_word = byte.is_ascii_alphanumeric() || !byte.is_ascii();
                    prop_assert_eq!(bits[n / CHARACTERS] >> (n % CHARACTERS) & 1 == 1, of_word, "{} {}", name, n);
                }
                // No bit is set for a place after the end of the text.
                let last = bits.last().copied().unwrap_or_default();
                let rest = text.len() % CHARACTERS;
                prop_assert!(rest == 0 || last >> rest == 0, "{}", name);
            }
        }
    }
}
