//! Simhash: every element adds a vector of ±1 that is drawn from its hash; a bit of the sketch is 1
//! if the sum at its place is greater than 0 (Charikar, STOC 2002; Henzinger, SIGIR 2006;
//! docs/design/algorithms.md section 3).
//!
//! Bits 64 j to 64 j + 63 of the vector are the word `mix(h + j * G)`, where h is the element's
//! 64-bit hash and G is the golden ratio in 64 bits: the sequence of SplitMix64 from h on. Bit 0 is
//! the most significant bit of the first word, so the bytes of a sketch are those of a bit string.

use crate::error::{Error, Result};
use crate::simd::sketch_loops::kernels;

/// The greatest number of bits of a sketch.
pub const MOST_BITS: u16 = 1024;

/// Checks a number of bits from a user: the bits must fill whole hexadecimal digits and at least a
/// byte.
pub fn check_bits(bits: i64) -> Result<u16> {
    match u16::try_from(bits) {
        Ok(size) if (8..=MOST_BITS).contains(&size) && size.is_multiple_of(4) => Ok(size),
        _ => Err(Error::Parameter {
            name: "bits",
            value: bits.to_string(),
            allowed: "a multiple of 4 from 8 to 1024",
        }),
    }
}

/// Returns the number of bytes for a number of bits. Unused bits of the last byte are 0.
pub const fn bytes(bits: u16) -> usize {
    bits.div_ceil(8) as usize
}

/// Returns the bits as words of 64 bits. The first bit is the most significant bit of the first
/// word. If the last word is not full, its bits are the least significant ones.
pub fn words(bits: &[u8], count: u16) -> impl Iterator<Item = u64> {
    let last = u32::from(count).div_ceil(64) * 64 - u32::from(count);
    let words = usize::from(count).div_ceil(64);
    bits.chunks(8).zip(1..).map(move |(bytes, n)| {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        u64::from_be_bytes(word) >> if n == words { last } else { 0 }
    })
}

/// Checks a greatest distance from a user for sketches of `bits` bits. The distance must be less
/// than `bits`, because `bits` is the distance between an empty document and any other document,
/// and these are never near each other.
pub fn check_distance(distance: f64, bits: u16) -> Result<u16> {
    if distance >= 0.0 && distance < f64::from(bits) && distance.fract() == 0.0 {
        return Ok(distance as u16);
    }
    Err(Error::Parameter {
        name: "distance",
        value: distance.to_string(),
        allowed: "a whole number of bits, at least 0 and less than the sketch has",
    })
}

/// Computes simhashes, one document at a time.
///
/// The share of agreeing bits estimates the angle between the vectors of occurrences (Charikar,
/// STOC 2002): texts without anything in common agree in about half of the bits.
///
/// ```
/// use neardup_core::sketch::{Simhasher, hash_bytes};
///
/// let mut simhasher = Simhasher::new(64);
/// ["red", "crane"].iter().for_each(|word| simhasher.add(hash_bytes(word.as_bytes())));
/// assert_eq!(simhasher.bits().map(|bits| bits.len()), Some(8));
/// ```
#[derive(Debug, Clone)]
pub struct Simhasher {
    bits: u16,
    /// For each bit of whole words, the number of elements whose vector has it. The bits of each
    /// word start with the least significant one.
    ones: Vec<u64>,
    elements: u64,
    /// Elements that are collected until there are enough for a block.
    block: Vec<u64>,
}

impl Simhasher {
    /// The number of elements whose bits are counted together. A block of them stays in the
    /// first-level cache.
    const BLOCK: usize = 1020;
    const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

    /// Creates a hasher for sketches of `bits` bits (a multiple of 4 from 8 to 1024). A shorter
    /// sketch consists of the first bits of a longer one.
    ///
    /// ```
    /// use neardup_core::sketch::Simhasher;
    ///
    /// let (mut short, mut long) = (Simhasher::new(64), Simhasher::new(128));
    /// short.add(42);
    /// long.add(42);
    /// assert_eq!(short.bits(), long.bits().map(|bits| bits[..8].to_vec()));
    /// ```
    pub fn new(bits: u16) -> Self {
        let ones = vec![0; usize::from(bits).next_multiple_of(64)];
        Self { bits, ones, elements: 0, block: Vec::with_capacity(Self::BLOCK) }
    }

    /// Starts a new document.
    ///
    /// ```
    /// let mut simhasher = neardup_core::sketch::Simhasher::new(64);
    /// simhasher.add(42);
    /// simhasher.clear();
    /// assert_eq!(simhasher.bits(), None);
    /// ```
    pub fn clear(&mut self) {
        self.ones.fill(0);
        self.elements = 0;
        self.block.clear();
    }

    /// Adds an occurrence of an element by its 64-bit hash. O(bits).
    ///
    /// ```
    /// let mut simhasher = neardup_core::sketch::Simhasher::new(64);
    /// [1, 1, 1, 2].iter().for_each(|&element| simhasher.add(element));
    /// let bits = simhasher.bits();
    /// simhasher.clear();
    /// simhasher.add(1);
    /// // The three occurrences outvote the other one.
    /// assert_eq!(simhasher.bits(), bits);
    /// ```
    #[inline]
    pub fn add(&mut self, element: u64) {
        if self.block.len() == Self::BLOCK {
            self.flush();
        }
        self.block.push(element);
    }

    fn flush(&mut self) {
        let (words, _) = self.ones.as_chunks_mut::<64>();
        for (word, ones) in (0u64..).zip(words) {
            let mut counts = [0; 64];
            (kernels().count_bits)(&self.block, word.wrapping_mul(Self::GOLDEN_RATIO), &mut counts);
            ones.iter_mut().zip(counts).for_each(|(ones, count)| *ones += u64::from(count));
        }
        self.elements += self.block.len() as u64;
        self.block.clear();
    }

    /// Returns the bits of the sketch. The first bit is the most significant bit of the first byte.
    /// Returns `None` if nothing was added.
    ///
    /// ```
    /// let mut simhasher = neardup_core::sketch::Simhasher::new(128);
    /// simhasher.add(42);
    /// assert_eq!(simhasher.bits().map(|bits| bits.len()), Some(16));
    /// ```
    pub fn bits(&mut self) -> Option<Vec<u8>> {
        self.flush();
        if self.elements == 0 {
            return None;
        }
        let (words, _) = self.ones.as_chunks::<64>();
        let word = |ones: &[u64; 64]| {
            (0..64).fold(0u64, |word, bit| word | u64::from(2 * ones[bit] > self.elements) << bit)
        };
        let mut bits: Vec<u8> = words.iter().flat_map(|ones| word(ones).to_be_bytes()).collect();
        bits.truncate(bytes(self.bits));
        if let (Some(last), over @ 1..) = (bits.last_mut(), self.bits % 8) {
            *last &= 0xff << (8 - over);
        }
        Some(bits)
    }
}

/// Returns the least share of agreeing bits at which documents are usually considered near
/// duplicates: 61 of 64 (Manku, Jain, Das Sarma, WWW 2007), and for other sizes the share that
/// corresponds to 372 of 384 (Henzinger, SIGIR 2006).
pub fn usual_share(bits: u16) -> f64 {
    match bits {
        64 => 61.0 / 64.0,
        bits => (f64::from(bits) * 372.0 / 384.0).ceil() / f64::from(bits),
    }
}

/// Counts the bits in which two sketches of the same size differ.
pub fn hamming(a: &[u8], b: &[u8]) -> u32 {
    (kernels().hamming)(a, b)
}

/// Finds the rows whose sketches differ from `bits` in at most `most` bits. Rows of `width` bytes,
/// each with a sketch at its end, are concatenated in `rows`. Rows with flags, their first two
/// bytes if there is room before the sketch, are found in any case. `found` has room for the number
/// of every row. Returns how many of its elements are now numbers of such rows, in ascending order.
pub fn near_rows(bits: &[u8], rows: &[u8], width: usize, most: u32, found: &mut [u32]) -> usize {
    (kernels().near_rows)(bits, rows, width, most, found)
}

/// Returns the share of agreeing bits. It is rounded only once.
///
/// `distance` is at most `bits`.
///
/// ```
/// assert_eq!(neardup_core::sketch::simhash_similarity(3, 64), 61.0 / 64.0);
/// ```
pub fn similarity(distance: u32, bits: u16) -> f64 {
    f64::from(u32::from(bits) - distance) / f64::from(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash;
    use proptest::prelude::*;

    fn simhash(elements: &[u64], bits: u16) -> Option<Vec<u8>> {
        let mut hasher = Simhasher::new(bits);
        elements.iter().for_each(|&element| hasher.add(element));
        hasher.bits()
    }

    /// Computes the bits by the definition at the head of this file, with a sum for each bit.
    fn defined(elements: &[u64], bits: u16) -> Option<Vec<u8>> {
        let mut sums = vec![0i64; bits.into()];
        for &element in elements {
            for (bit, sum) in sums.iter_mut().enumerate() {
                let word =
                    hash::mix(element.wrapping_add((bit as u64 / 64).wrapping_mul(0x9e37_79b9_7f4a_7c15)));
                *sum += if word << (bit % 64) >> 63 == 1 { 1 } else { -1 };
            }
        }
        let bit = |&sum: &i64| u8::from(sum > 0);
        let byte = |sums: &[i64]| (0..8).fold(0u8, |byte, n| byte << 1 | sums.get(n).map_or(0, bit));
        (!elements.is_empty()).then(|| sums.chunks(8).map(byte).collect())
    }

    proptest! {
        #[test]
        fn as_defined(elements in prop::collection::vec(0..40u64, 0..2500), digits in 2..=256u16) {
            prop_assert_eq!(simhash(&elements, 4 * digits), defined(&elements, 4 * digits));
        }

        #[test]
        fn words_have_all_bits(bits in prop::collection::vec(any::<u8>(), 1..=128), half in any::<bool>()) {
            let (mut bits, mut count) = (bits.clone(), 8 * bits.len() as u16);
            if half && count > 8 {
                count -= 4;
                *bits.last_mut().unwrap() &= 0xf0;
            }
            let bit = |n: usize| u64::from(bits[n / 8] >> (7 - n % 8) & 1);
            let expected: Vec<u64> = (0..usize::from(count).div_ceil(64))
                .map(|word| (64 * word..(64 * word + 64).min(count.into())).fold(0, |all, n| all << 1 | bit(n)))
                .collect();
            prop_assert_eq!(words(&bits, count).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn golden_vectors() {
        let elements: Vec<u64> = (1..=100).collect();
        assert_eq!(simhash(&elements, 64).expect("elements"), GOLDEN[0].to_be_bytes());
        let bits = simhash(&elements, 128).expect("elements");
        assert_eq!(bits[..8], GOLDEN[0].to_be_bytes());
        assert_eq!(bits[8..], GOLDEN[1].to_be_bytes());
        assert_eq!(simhash(&[5], 64).expect("an element"), hash::mix(5).to_be_bytes());
        let short = simhash(&elements, 100).expect("elements");
        assert_eq!((&short[..12], short[12]), (&bits[..12], bits[12] & 0xf0));
    }

    #[test]
    fn numbers_of_bits_are_checked() {
        let good: Vec<i64> = (-8..2000).filter(|&bits| check_bits(bits).is_ok()).collect();
        assert_eq!(good, (2..=256).map(|digits| 4 * digits).collect::<Vec<_>>());
        assert!(check_bits(65536 + 64).is_err() && check_bits(i64::MIN).is_err());
    }

    /// These values were computed from the definition in another language.
    const GOLDEN: [u64; 2] = [0x9f46_9130_b843_8a03, 0x90d8_b640_b2fc_c208];

    /// The share of bits in which two documents differ is about the angle between them divided by
    /// pi (Charikar, STOC 2002).
    #[test]
    fn bits_differ_as_the_angle_says() {
        const TRIALS: u64 = 400;
        for (shared, own) in [(300u64, 10u64), (200, 50), (100, 100)] {
            let cosine = shared as f64 / (shared + own) as f64;
            let expected = cosine.acos() / std::f64::consts::PI;
            let differ: u32 = (0..TRIALS)
                .map(|trial| {
                    let set = |from: u64| -> Vec<u64> {
                        (0..shared).chain(from..from + own).map(|n| trial * 10_000 + n).collect()
                    };
                    let [a, b] = [set(1000), set(2000)].map(|set| simhash(&set, 1024).expect("elements"));
                    hamming(&a, &b)
                })
                .sum();
            let share = f64::from(differ) / (1024 * TRIALS) as f64;
            assert!((share - expected).abs() < 0.02, "{share} instead of {expected}");
        }
    }
}
