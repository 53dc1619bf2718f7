//! The inner loops of sketches. Each loop is written once, in lanes that the compiler vectorises,
//! and compiled for several instruction sets. So all compiled versions give equal results. One
//! version is chosen at run time.
#![allow(unsafe_code)] // Calls functions for instructions that the processor is known to have.

use std::sync::OnceLock;

use crate::hash;
use crate::simd::instructions::{Instructions, KernelNeeding, fastest};

/// The inner loops for one instruction set.
#[derive(Debug, Clone, Copy)]
pub struct Kernels {
    /// The name of the instruction set.
    pub name: &'static str,
    /// Lowers each minimum to the least value of `element * factor + addend` modulo 2^32 over all
    /// elements, if that is less. Each minimum has a factor and an addend. The number of minima is
    /// a multiple of [`PERMUTATION_LANES`].
    pub minima: Minima,
    /// Counts the 4-byte values that agree, up to the length of the shorter argument.
    pub agreeing: fn(&[u8], &[u8]) -> u32,
    /// Counts the bits that differ, up to the length of the shorter argument.
    pub hamming: fn(&[u8], &[u8]) -> u32,
    /// Finds rows that end with bits of which at most a given number differ: see [`NearRows`].
    pub near_rows: NearRows,
    /// Adds to `counts[i]` the number of words `mix(element + offset)` whose bit i (from the least)
    /// is set.
    pub count_bits: fn(elements: &[u64], offset: u64, counts: &mut [u32; 64]),
}

/// A function of elements, factors, addends and minima.
pub type Minima = fn(&[u32], &[u32], &[u32], &mut [u32]);

/// A function of bits, of rows that are concatenated, of the number of bytes of a row, of the
/// largest number of differing bits, and of a slice with room for the number of every row. The last
/// bytes of a row are compared with the bits. If a row has two bytes or more before these, its
/// first two bytes are flags, and a row with flags is near in any case. The function writes the
/// numbers of the near rows to the slice and returns their number.
pub type NearRows = fn(&[u8], &[u8], usize, u32, &mut [u32]) -> usize;

/// The number of permutations passed to [`Kernels::minima`] is a multiple of this number.
pub const PERMUTATION_LANES: usize = 16;

/// Returns the fastest kernels for this processor.
pub fn kernels() -> &'static Kernels {
    static FASTEST: OnceLock<Kernels> = OnceLock::new();
    FASTEST.get_or_init(|| fastest(KINDS))
}

/// All kernels.
pub const KINDS: &[KernelNeeding<Kernels>] = &[
    (Instructions::Portable, PORTABLE),
    #[cfg(target_arch = "x86_64")]
    (Instructions::Avx2, avx2::KERNELS),
    #[cfg(target_arch = "x86_64")]
    (Instructions::Avx512, avx512::KERNELS),
];

const PORTABLE: Kernels = Kernels {
    name: "portable",
    minima: minima::<16>,
    agreeing,
    hamming,
    near_rows,
    count_bits: count_bits::<4>,
};

/// Keeps a tile of `LANES` permutations in registers while it reads all elements.
#[inline(always)]
fn minima<const LANES: usize>(elements: &[u32], factors: &[u32], addends: &[u32], minima: &mut [u32]) {
    let tiles = minima.len() / LANES * LANES;
    tile::<LANES>(elements, factors, addends, &mut minima[..tiles]);
    tile::<PERMUTATION_LANES>(elements, &factors[tiles..], &addends[tiles..], &mut minima[tiles..]);
}

#[inline(always)]
fn tile<const LANES: usize>(elements: &[u32], factors: &[u32], addends: &[u32], minima: &mut [u32]) {
    let (factors, _) = factors.as_chunks::<LANES>();
    let (addends, _) = addends.as_chunks::<LANES>();
    let (minima, _) = minima.as_chunks_mut::<LANES>();
    for ((factors, addends), minima) in factors.iter().zip(addends).zip(minima) {
        let (factors, addends, mut least) = (*factors, *addends, *minima);
        for &element in elements {
            for lane in 0..LANES {
                let value = element.wrapping_mul(factors[lane]).wrapping_add(addends[lane]);
                least[lane] = least[lane].min(value);
            }
        }
        *minima = least;
    }
}

#[inline(always)]
fn agreeing(a: &[u8], b: &[u8]) -> u32 {
    let (a, _) = a.as_chunks::<4>();
    let (b, _) = b.as_chunks::<4>();
    let equal = |(x, y): (&[u8; 4], &[u8; 4])| u32::from(u32::from_ne_bytes(*x) == u32::from_ne_bytes(*y));
    a.iter().zip(b).map(equal).sum()
}

#[inline(always)]
fn hamming(a: &[u8], b: &[u8]) -> u32 {
    let bytes = a.len().min(b.len());
    let (words, rest) = a[..bytes].as_chunks::<8>();
    let (others, rest_of_others) = b[..bytes].as_chunks::<8>();
    let words = words.iter().zip(others).map(|(x, y)| u64::from_ne_bytes(*x) ^ u64::from_ne_bytes(*y));
    let rest = rest.iter().zip(rest_of_others).map(|(x, y)| u64::from(x ^ y));
    words.chain(rest).map(u64::count_ones).sum()
}

#[inline(always)]
fn near_rows(bits: &[u8], rows: &[u8], width: usize, most: u32, found: &mut [u32]) -> usize {
    // The distance of a row with flags counts as 0. This costs less than a second loop.
    let distance = |flags: [u8; 2], distance: u32| if flags == [0; 2] { distance } else { 0 };
    match (bits.as_array::<8>(), width) {
        // Sketches of 64 bits, each after 8 other bytes.
        (Some(bits), 16) => {
            let bits = u64::from_ne_bytes(*bits);
            let (rows, _) = rows.as_chunks::<8>();
            let (rows, _) = rows.as_chunks::<2>();
            let differ = |[head, row]: &[[u8; 8]; 2]| {
                distance([head[0], head[1]], (u64::from_ne_bytes(*row) ^ bits).count_ones())
            };
            keep_near(rows.iter().map(differ), most, found)
        }
        _ => {
            let start = width.saturating_sub(bits.len());
            let differ = |row: &[u8]| {
                let flags = if start < 2 { [0; 2] } else { [row[0], row[1]] };
                distance(flags, hamming(bits, &row[start..]))
            };
            keep_near(rows.chunks_exact(width.max(1)).map(differ), most, found)
        }
    }
}

/// Keeps the numbers of the rows whose distances are at most `most`, and returns their number.
#[inline(always)]
fn keep_near(distances: impl Iterator<Item = u32>, most: u32, found: &mut [u32]) -> usize {
    let mut count = 0;
    for (row, distance) in (0..).zip(distances) {
        // Nearly always the next row takes the place of this one.
        if let Some(place) = found.get_mut(count) {
            *place = row;
        }
        count += usize::from(distance <= most);
    }
    count
}

/// Counts in bytes: byte `n` of `sums[i]` counts bit `8 n + i` and is emptied before it can
/// overflow.
#[inline(always)]
fn count_bits<const LANES: usize>(elements: &[u64], offset: u64, counts: &mut [u32; 64]) {
    const EACH_BYTE: u64 = 0x0101_0101_0101_0101;
    /// The greatest count that fits in a byte.
    const FULL: usize = 255;
    for elements in elements.chunks(FULL * LANES) {
        let mut sums = [[0u64; LANES]; 8];
        let mut add = |words: [u64; LANES]| {
            for (bit, sums) in sums.iter_mut().enumerate() {
                for lane in 0..LANES {
                    sums[lane] += (words[lane] >> bit) & EACH_BYTE;
                }
            }
        };
        let (tiles, rest) = elements.as_chunks::<LANES>();
        for tile in tiles {
            add(tile.map(|element| hash::mix(element.wrapping_add(offset))));
        }
        if !rest.is_empty() {
            let mut last = [0; LANES];
            for (word, element) in last.iter_mut().zip(rest) {
                *word = hash::mix(element.wrapping_add(offset));
            }
            add(last);
        }
        for (bit, sums) in sums.iter().enumerate() {
            for sum in sums {
                for (byte, ones) in sum.to_le_bytes().into_iter().enumerate() {
                    counts[8 * byte + bit] += u32::from(ones);
                }
            }
        }
    }
}

/// Compiles the same loops for an instruction set.
#[cfg(target_arch = "x86_64")]
macro_rules! compiled_for {
    ($module:ident, $features:literal, $permutations:literal, $words:literal) => {
        mod $module {
            use crate::simd::instructions::listed;

            pub(crate) const KERNELS: super::Kernels = super::Kernels {
                name: stringify!($module),
                minima: listed!(run_minima, elements, factors, addends, minima),
                agreeing: listed!(run_agreeing, a, b),
                hamming: listed!(run_hamming, a, b),
                near_rows: listed!(run_near_rows, bits, rows, width, most, found),
                count_bits: listed!(run_count_bits, elements, offset, counts),
            };

            #[target_feature(enable = $features)]
            fn run_minima(elements: &[u32], factors: &[u32], addends: &[u32], minima: &mut [u32]) {
                super::minima::<$permutations>(elements, factors, addends, minima);
            }

            #[target_feature(enable = $features)]
            fn run_agreeing(a: &[u8], b: &[u8]) -> u32 {
                super::agreeing(a, b)
            }

            #[target_feature(enable = $features)]
            fn run_hamming(a: &[u8], b: &[u8]) -> u32 {
                super::hamming(a, b)
            }

            #[target_feature(enable = $features)]
            fn run_near_rows(bits: &[u8], rows: &[u8], width: usize, most: u32, found: &mut [u32]) -> usize {
                super::near_rows(bits, rows, width, most, found)
            }

            #[target_feature(enable = $features)]
            fn run_count_bits(elements: &[u64], offset: u64, counts: &mut [u32; 64]) {
                super::count_bits::<$words>(elements, offset, counts);
            }
        }
    };
}
#[cfg(target_arch = "x86_64")]
compiled_for!(avx2, "avx2,popcnt", 32, 4);
#[cfg(target_arch = "x86_64")]
compiled_for!(avx512, "avx512f,avx512bw,avx512dq,avx512vl,popcnt", 64, 8);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::instructions::runnable;
    use proptest::prelude::*;

    proptest! {
        /// Every kernel of this processor agrees with the definition.
        #[test]
        fn kernels_agree_with_definitions(
            elements in prop::collection::vec(any::<u64>(), 0..600),
            tiles in 1..10usize,
            offset in any::<u64>(),
            a in prop::collection::vec(prop_oneof![9 => 0..3u8, 1 => Just(u8::MAX)], 0..200),
            b in prop::collection::vec(prop_oneof![9 => 0..3u8, 1 => Just(u8::MAX)], 0..200),
            from in [0..9usize, 0..9],
        ) {
            // Start at any place of an allocation.
            let (a, b) = (&a[from[0].min(a.len())..], &b[from[1].min(b.len())..]);
            let small: Vec<u32> = elements.iter().map(|&e| e as u32).collect();
            let many = tiles * PERMUTATION_LANES;
            let number = |n: usize| (hash::mix(offset.wrapping_add(n as u64)) >> 32) as u32;
            let factors: Vec<u32> = (0..many).map(|n| number(n) | 1).collect();
            let addends: Vec<u32> = (many..2 * many).map(number).collect();
            let least: Vec<u32> = factors.iter().zip(&addends).map(|(f, s)| {
                small.iter().map(|e| e.wrapping_mul(*f).wrapping_add(*s)).min().unwrap_or(u32::MAX)
            }).collect();
            let mut ones = [0u32; 64];
            for element in &elements {
                let word = hash::mix(element.wrapping_add(offset));
                (0..64).for_each(|bit| ones[bit] += (word >> bit & 1) as u32);
            }
            let equal = a.chunks_exact(4).zip(b.chunks_exact(4)).filter(|(x, y)| x == y).count() as u32;
            let differ: u32 = a.iter().zip(b).map(|(x, y)| (x ^ y).count_ones()).sum();
            for (_, kernels) in runnable(KINDS) {
                let mut minima = vec![u32::MAX; many];
                (kernels.minima)(&small, &factors, &addends, &mut minima);
                prop_assert_eq!(&minima, &least, "{}", kernels.name);
                let mut counts = [0; 64];
                (kernels.count_bits)(&elements, offset, &mut counts);
                prop_assert_eq!(counts, ones, "{}", kernels.name);
                prop_assert_eq!((kernels.agreeing)(a, b), equal, "{}", kernels.name);
                prop_assert_eq!((kernels.hamming)(a, b), differ, "{}", kernels.name);
            }
        }
    }

    proptest! {
        /// Every kernel finds the rows that are near.
        #[test]
        fn kernels_find_near_rows(
            bytes in prop::collection::vec(prop_oneof![Just(0), 0..3u8, any::<u8>()], 0..900),
            size in prop_oneof![Just(8_usize), 1..20_usize],
            head in prop_oneof![Just(8_usize), 0..10_usize],
            most in 0..40_u32,
        ) {
            let bits: Vec<u8> = (0..size as u8).map(|n| n % 3).collect();
            let rows = &bytes[..bytes.len() / (size + head) * (size + head)];
            let expected: Vec<u32> = (0..)
                .zip(rows.chunks_exact(size + head))
                .filter(|(_, row)| {
                    hamming(&bits, &row[head..]) <= most || head > 1 && (row[0], row[1]) != (0, 0)
                })
                .map(|(n, _)| n)
                .collect();
            for (_, kernels) in runnable(KINDS) {
                let mut found = vec![0; rows.len() / (size + head)];
                let count = (kernels.near_rows)(&bits, rows, size + head, most, &mut found);
                prop_assert_eq!(&found[..count], &expected, "{}", kernels.name);
            }
        }
    }

    #[test]
    fn bytes_of_counts_do_not_overflow() {
        let elements = vec![7u64; 255 * 8 * 2 + 3];
        let word = hash::mix(7);
        for (_, kernels) in runnable(KINDS) {
            let mut counts = [0; 64];
            (kernels.count_bits)(&elements, 0, &mut counts);
            for (bit, count) in counts.into_iter().enumerate() {
                assert_eq!(count as usize, (word >> bit & 1) as usize * elements.len(), "{}", kernels.name);
            }
        }
    }
}
