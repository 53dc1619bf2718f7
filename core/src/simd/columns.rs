//! SIMD kernels that count how many of some tokens each of 512 records has. A token has a column: a
//! bit for each record. The counts stand in planes: the lowest bits of all counts, then the next
//! bits, and so on, so that one instruction adds a column to as many counts as a register has bits
//! (the carry-save adders of Muła, Kurz and Lemire, Faster Population Counts Using AVX2
//! Instructions, 2018, with a sum for each bit position). The kernel is chosen at run time.
#![allow(unsafe_code)] // Intrinsics; each use says why it is sound.

use bytemuck::Zeroable;

use crate::simd::instructions::{Instructions, KernelNeeding, fastest};

/// The number of records of a column.
pub const RECORDS: usize = 64 * WORDS;

/// The least number of planes.
pub const LEAST_PLANES: usize = 3;

const WORDS: usize = 8;

/// A bit for each of some consecutive records. It is a line of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Zeroable)]
#[repr(C, align(64))]
pub struct BitColumn(pub [u64; WORDS]);

impl BitColumn {
    /// No record.
    pub const NONE: Self = Self([0; WORDS]);

    /// Reports whether there is no record.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }
}

/// A kernel, and what it takes.
#[derive(Debug, Clone, Copy)]
pub struct ColumnsKernel {
    /// Adds columns.
    pub run: AddColumns,
    /// Returns the number of records in some columns.
    pub count: fn(&[BitColumn]) -> usize,
    /// How many records of a column take as long as an entry of a list that is counted.
    pub records: usize,
}

/// Adds the columns of the first argument whose numbers the second one has to the planes of the
/// third one, which must have room for the sums, and are at least [`LEAST_PLANES`]. Returns the
/// records whose sums are at least the fourth argument.
pub type AddColumns = fn(&[BitColumn], &[u32], &mut [BitColumn], u32) -> BitColumn;

/// Returns the fastest kernel for this processor.
pub fn kernel() -> ColumnsKernel {
    fastest(kinds())
}

/// Returns all kernels.
pub fn kinds() -> &'static [KernelNeeding<ColumnsKernel>] {
    const {
        &[
            (Instructions::Portable, ColumnsKernel { run: portable as AddColumns, count, records: 64 }),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Popcnt, ColumnsKernel { run: portable, count: x86::COUNT, records: 64 }),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Avx2, ColumnsKernel { run: x86::AVX2, count: x86::COUNT, records: 256 }),
            #[cfg(target_arch = "x86_64")]
            (Instructions::Avx512, ColumnsKernel { run: x86::AVX512, count: x86::COUNT, records: 512 }),
        ]
    }
}

/// Returns the number of planes that counts up to `most` need.
pub fn planes(most: usize) -> usize {
    ((usize::BITS - most.leading_zeros()) as usize).max(LEAST_PLANES)
}

#[inline(always)]
fn count(columns: &[BitColumn]) -> usize {
    // No iterator: the instructions that the caller may use do not apply to what is not inlined.
    let mut all = 0;
    for column in columns {
        for word in column.0 {
            all += word.count_ones() as usize;
        }
    }
    all
}

/// Returns which of the 64 records of a word of the planes have sums of at least `least`.
#[inline]
pub fn at_least(planes: &[BitColumn], word: usize, least: u32) -> u64 {
    if u64::from(least) >> planes.len() != 0 {
        return 0;
    }
    let (mut more, mut equal) = (0, !0);
    for (n, plane) in planes.iter().enumerate().rev() {
        let plane = plane.0[word];
        match least >> n & 1 {
            0 => (more, equal) = (more | equal & plane, equal & !plane),
            _ => equal &= plane,
        }
    }
    more | equal
}

/// Returns the sum of a record.
#[inline]
pub fn sum(planes: &[BitColumn], record: usize) -> u32 {
    let bit = |plane: &BitColumn| plane.0[record / 64] >> (record % 64) & 1;
    planes.iter().rev().fold(0, |sum, plane| sum << 1 | bit(plane) as u32)
}

/// Adds a number to the sum of a record, which must fit into the planes. O(bits of the sum).
#[inline]
pub fn add(planes: &mut [BitColumn], record: usize, mut number: u32) {
    let place = record % 64;
    for plane in planes {
        if number == 0 {
            return;
        }
        let word = &mut plane.0[record / 64];
        let sum = (*word >> place & 1) as u32 + number;
        *word = *word & !(1 << place) | u64::from(sum & 1) << place;
        number = sum >> 1;
    }
}

/// Adds 1 to the sum of a record. O(1) amortised.
#[inline]
pub fn increment(planes: &mut [BitColumn], record: usize) {
    let bit = 1 << (record % 64);
    for plane in planes {
        let word = &mut plane.0[record / 64];
        *word ^= bit;
        if *word & bit != 0 {
            return;
        }
    }
}

/// Defines a function that does what a kernel does, for vectors of some words. `load`, `store`,
/// `and`, `or`, `xor` and `without` (the second and not the first) work on vectors, `xor3` and
/// `majority` on three; `load` and `store` get a column and a place in it.
macro_rules! kernel {
    (
        $(#[$attribute:meta])* $name:ident, $words:literal, $zero:expr, $ones:expr,
        $load:expr, $store:expr, $and:expr, $or:expr, $xor:expr, $without:expr, $xor3:expr, $majority:expr
    ) => {
        $(#[$attribute])*
        fn $name(columns: &[BitColumn], numbers: &[u32], planes: &mut [BitColumn], least: u32) -> BitColumn {
            let (load, store, and, or, xor, without) = ($load, $store, $and, $or, $xor, $without);
            let (xor3, majority) = ($xor3, $majority);
            // The sum and the carry of two and of three bits.
            let half = |a, b| (xor(a, b), and(a, b));
            let full = |a, b, c| (xor3(a, b, c), majority(a, b, c));
            let mut found = BitColumn::NONE;
            let (low, high) = planes.split_at_mut(LEAST_PLANES);
            for at in (0..WORDS).step_by($words) {
                let column = |number: u32| load(&columns[number as usize], at);
                let (mut ones, mut twos, mut fours) = (load(&low[0], at), load(&low[1], at), load(&low[2], at));
                let carry = |high: &mut [BitColumn], mut eights| {
                    for plane in high {
                        let sum;
                        (sum, eights) = half(load(plane, at), eights);
                        store(plane, at, sum);
                    }
                };
                let mut eight = numbers.chunks_exact(8);
                for n in &mut eight {
                    let (a, b, c, d, e, f, eights);
                    (ones, a) = full(ones, column(n[0]), column(n[1]));
                    (ones, b) = full(ones, column(n[2]), column(n[3]));
                    (twos, e) = full(twos, a, b);
                    (ones, c) = full(ones, column(n[4]), column(n[5]));
                    (ones, d) = full(ones, column(n[6]), column(n[7]));
                    (twos, f) = full(twos, c, d);
                    (fours, eights) = full(fours, e, f);
                    carry(high, eights);
                }
                let mut four = eight.remainder().chunks_exact(4);
                for n in &mut four {
                    let (a, b, e, eights);
                    (ones, a) = full(ones, column(n[0]), column(n[1]));
                    (ones, b) = full(ones, column(n[2]), column(n[3]));
                    (twos, e) = full(twos, a, b);
                    (fours, eights) = half(fours, e);
                    carry(high, eights);
                }
                for &n in four.remainder() {
                    let (a, e, eights);
                    (ones, a) = half(ones, column(n));
                    (twos, e) = half(twos, a);
                    (fours, eights) = half(fours, e);
                    carry(high, eights);
                }
                store(&mut low[0], at, ones);
                store(&mut low[1], at, twos);
                store(&mut low[2], at, fours);
                let (mut more, mut equal) = ($zero, $ones);
                let mut compare = |plane, n: usize| match least >> n & 1 {
                    0 => {
                        more = or(more, and(equal, plane));
                        equal = without(plane, equal);
                    }
                    _ => equal = and(equal, plane),
                };
                for (n, plane) in high.iter().enumerate().rev() {
                    compare(load(plane, at), LEAST_PLANES + n);
                }
                compare(fours, 2);
                compare(twos, 1);
                compare(ones, 0);
                store(&mut found, at, or(more, equal));
            }
            let is_possible = u64::from(least) >> (LEAST_PLANES + high.len()) == 0;
            if is_possible { found } else { BitColumn::NONE }
        }
    };
}

kernel!(
    portable,
    1,
    0u64,
    !0u64,
    |column: &BitColumn, at: usize| column.0[at],
    |column: &mut BitColumn, at: usize, word| column.0[at] = word,
    |a: u64, b: u64| a & b,
    |a: u64, b: u64| a | b,
    |a: u64, b: u64| a ^ b,
    |a: u64, b: u64| !a & b,
    |a: u64, b: u64, c: u64| a ^ b ^ c,
    |a: u64, b: u64, c: u64| a & b | (a ^ b) & c
);

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_and_si256, _mm256_andnot_si256, _mm256_load_si256, _mm256_or_si256,
        _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_store_si256, _mm256_xor_si256, _mm512_and_si512,
        _mm512_andnot_si512, _mm512_load_si512, _mm512_or_si512, _mm512_set1_epi64, _mm512_setzero_si512,
        _mm512_store_si512, _mm512_ternarylogic_epi64, _mm512_xor_si512,
    };

    use super::{AddColumns, BitColumn, LEAST_PLANES, WORDS};
    use crate::simd::instructions::listed;

    pub(super) const COUNT: fn(&[BitColumn]) -> usize = listed!(count, columns);
    pub(super) const AVX2: AddColumns = listed!(avx2, columns, numbers, planes, least);
    pub(super) const AVX512: AddColumns = listed!(avx512, columns, numbers, planes, least);

    #[target_feature(enable = "popcnt")]
    fn count(columns: &[BitColumn]) -> usize {
        super::count(columns)
    }

    kernel!(
        #[target_feature(enable = "avx2")]
        avx2,
        4,
        _mm256_setzero_si256(),
        _mm256_set1_epi64x(-1),
        // SAFETY: `at` is 0 or 4, so that the four words are those of the column, which is
        // aligned.
        |column: &BitColumn, at: usize| unsafe { _mm256_load_si256(column.0.as_ptr().add(at).cast()) },
        // SAFETY: as above.
        |column: &mut BitColumn, at: usize, words: __m256i| unsafe {
            _mm256_store_si256(column.0.as_mut_ptr().add(at).cast(), words)
        },
        |a, b| _mm256_and_si256(a, b),
        |a, b| _mm256_or_si256(a, b),
        |a, b| _mm256_xor_si256(a, b),
        |a, b| _mm256_andnot_si256(a, b),
        |a, b, c| _mm256_xor_si256(_mm256_xor_si256(a, b), c),
        |a, b, c| _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(_mm256_xor_si256(a, b), c))
    );

    kernel!(
        #[target_feature(enable = "avx512f")]
        avx512,
        8,
        _mm512_setzero_si512(),
        _mm512_set1_epi64(-1),
        // SAFETY: a column has the words of a register, and is aligned.
        |column: &BitColumn, _: usize| unsafe { _mm512_load_si512(column.0.as_ptr().cast()) },
        // SAFETY: as above.
        |column: &mut BitColumn, _: usize, words: __m512i| unsafe {
            _mm512_store_si512(column.0.as_mut_ptr().cast(), words)
        },
        |a, b| _mm512_and_si512(a, b),
        |a, b| _mm512_or_si512(a, b),
        |a, b| _mm512_xor_si512(a, b),
        |a, b| _mm512_andnot_si512(a, b),
        // The constants are the truth tables.
        |a, b, c| _mm512_ternarylogic_epi64::<0b1001_0110>(a, b, c),
        |a, b, c| _mm512_ternarylogic_epi64::<0b1110_1000>(a, b, c)
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use crate::simd::instructions::runnable;

    /// Columns in which a record has each token with a probability that depends on the token.
    fn columns(count: usize) -> Vec<BitColumn> {
        let word = |n: usize, w: usize| {
            let random = |i: usize| hash::mix((i << 32 | n << 8 | w) as u64);
            (0..n % 4)
                .map(random)
                .fold(random(7), |all, next| if n.is_multiple_of(3) { all | next } else { all & next })
        };
        (0..count).map(|n| BitColumn(std::array::from_fn(|w| word(n, w)))).collect()
    }

    #[test]
    fn all_kernels_count_what_is_shared() {
        let columns = columns(300);
        for count in [0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 100, 300] {
            let numbers: Vec<u32> = (0..count).map(|n| n * 7 % 300).collect();
            let before = |record: usize| hash::mix(record as u64) as u32 % 3;
            let expected: Vec<u32> = (0..RECORDS)
                .map(|record| {
                    let has = |&&n: &&u32| columns[n as usize].0[record / 64] >> (record % 64) & 1 == 1;
                    before(record) + numbers.iter().filter(has).count() as u32
                })
                .collect();
            for more in [0, 1, 20] {
                let mut begun = vec![BitColumn::NONE; planes(count as usize + 2) + more];
                for record in 0..RECORDS {
                    (0..before(record)).for_each(|_| increment(&mut begun, record));
                }
                for (name, kernel) in runnable(kinds()) {
                    for least in [0, 1, 2, count / 3 + 1, count + 1, count + 3, 1000, u32::MAX] {
                        let mut planes = begun.clone();
                        let found = (kernel.run)(&columns, &numbers, &mut planes, least);
                        let sums: Vec<u32> = (0..RECORDS).map(|record| sum(&planes, record)).collect();
                        assert_eq!(sums, expected, "{name}, {count} columns");
                        for (record, &sum) in expected.iter().enumerate() {
                            let is_found = found.0[record / 64] >> (record % 64) & 1 == 1;
                            assert_eq!(is_found, sum >= least, "{name}, {count}, {least}");
                        }
                        assert_eq!((kernel.run)(&[], &[], &mut planes, least), found);
                        let again = BitColumn(std::array::from_fn(|word| at_least(&planes, word, least)));
                        assert_eq!(again, found, "{count} columns, {least}");
                        assert_eq!(
                            (kernel.count)(&[found]),
                            expected.iter().filter(|&&sum| sum >= least).count()
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn planes_hold_the_greatest_sum() {
        assert_eq!([0, 1, 7, 8, 15, 16, 70_000].map(planes), [3, 3, 3, 4, 4, 5, 17]);
    }
}
