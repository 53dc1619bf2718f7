//! Minhash: m values, each of which is the least hash of all shingles under a hash function of its
//! own (Broder, SEQUENCES 1997; docs/design/algorithms.md section 2).
//!
//! Function i maps an element's 64-bit hash h to `(a_i * x + b_i) mod 2^32`, where x is the upper
//! half of `mix(h)`, a_i is odd, and a_i and b_i are drawn from the seed. This is a bijection of
//! 32-bit numbers. x is as good as random, so all elements are equally likely to have the least
//! value. Hence the share of agreeing values is an unbiased estimate of the resemblance J with the
//! standard error sqrt(J(1-J)/m). Two elements have the same x with probability 1 in 2^32, so sets
//! of a million elements seem more similar than they are by 0.0001.

use crate::error::{Error, Result};
use crate::hash;
use crate::simd::sketch_loops::{PERMUTATION_LANES, kernels};

/// The greatest number of permutations of a sketch.
pub const MOST_PERMUTATIONS: usize = 2048;

/// Checks a number of permutations from a user.
pub fn check_permutations(permutations: i64) -> Result<u16> {
    match u16::try_from(permutations) {
        Ok(m) if (1..=MOST_PERMUTATIONS).contains(&usize::from(m)) => Ok(m),
        _ => Err(Error::Parameter {
            name: "permutations",
            value: permutations.to_string(),
            allowed: "between 1 and 2048",
        }),
    }
}

/// Checks a least similarity from a user.
pub fn check_similarity(similarity: f64) -> Result<f64> {
    if similarity > 0.0 && similarity <= 1.0 {
        return Ok(similarity);
    }
    Err(Error::Parameter {
        name: "similarity",
        value: similarity.to_string(),
        allowed: "greater than 0 and at most 1",
    })
}

/// Computes minhash values, one document at a time.
///
/// The share of agreeing values of two documents estimates their resemblance J, with the standard
/// error sqrt(J(1-J)/m) (Broder, SEQUENCES 1997).
///
/// ```
/// use neardup_core::sketch::{Minhasher, hash_bytes};
///
/// let mut minhasher = Minhasher::new(64, 1);
/// let mut of = |words: &[&str]| {
///     minhasher.clear();
///     words.iter().for_each(|word| minhasher.add(hash_bytes(word.as_bytes())));
///     minhasher.values().map(<[u32]>::to_vec)
/// };
/// // A set: neither order nor repeats count.
/// assert_eq!(of(&["red", "crane"]), of(&["crane", "red", "crane"]));
/// assert_eq!(of(&[]), None);
/// ```
#[derive(Debug, Clone)]
pub struct Minhasher {
    permutations: usize,
    factors: Vec<u32>,
    addends: Vec<u32>,
    minima: Vec<u32>,
    /// Elements that are collected until there are enough for a block.
    block: Vec<u32>,
    empty: bool,
}

impl Minhasher {
    /// The number of elements that are processed together. A block of them stays in the first-level
    /// cache.
    const BLOCK: usize = 512;

    /// Creates a hasher with `permutations` hash functions (1 to 2048) drawn from
    /// `seed`. A hasher with fewer functions has the first functions of a hasher with more
    /// functions.
    ///
    /// ```
    /// use neardup_core::sketch::Minhasher;
    ///
    /// let values = |m| {
    ///     let mut minhasher = Minhasher::new(m, 7);
    ///     minhasher.add(42);
    ///     minhasher.values().map(<[u32]>::to_vec)
    /// };
    /// assert_eq!(values(4), values(9).map(|values| values[..4].to_vec()));
    /// ```
    pub fn new(permutations: u16, seed: i64) -> Self {
        let permutations = usize::from(permutations);
        let lanes = permutations.next_multiple_of(PERMUTATION_LANES);
        let start = hash::mix(seed.cast_unsigned());
        let number = |n: usize| (hash::mix(start.wrapping_add(n as u64)) >> 32) as u32;
        Self {
            permutations,
            factors: (0..lanes).map(|i| number(2 * i) | 1).collect(),
            addends: (0..lanes).map(|i| number(2 * i + 1)).collect(),
            minima: vec![u32::MAX; lanes],
            block: Vec::with_capacity(Self::BLOCK),
            empty: true,
        }
    }

    /// Starts a new document.
    ///
    /// ```
    /// let mut minhasher = neardup_core::sketch::Minhasher::new(4, 1);
    /// minhasher.add(42);
    /// minhasher.clear();
    /// assert_eq!(minhasher.values(), None);
    /// ```
    pub fn clear(&mut self) {
        self.minima.fill(u32::MAX);
        self.block.clear();
        self.empty = true;
    }

    /// Adds an element by its 64-bit hash (or number). Repeats change nothing. O(m).
    ///
    /// ```
    /// let mut minhasher = neardup_core::sketch::Minhasher::new(4, 1);
    /// minhasher.add(42);
    /// let one = minhasher.values().map(<[u32]>::to_vec);
    /// minhasher.add(42);
    /// assert_eq!(minhasher.values().map(<[u32]>::to_vec), one);
    /// ```
    #[inline]
    pub fn add(&mut self, element: u64) {
        if self.block.len() == Self::BLOCK {
            self.flush();
        }
        self.block.push((hash::mix(element) >> 32) as u32);
    }

    fn flush(&mut self) {
        self.empty &= self.block.is_empty();
        (kernels().minima)(&self.block, &self.factors, &self.addends, &mut self.minima);
        self.block.clear();
    }

    /// Returns the m values. Returns `None` if nothing was added, because an empty set has no least
    /// hash.
    ///
    /// ```
    /// let mut minhasher = neardup_core::sketch::Minhasher::new(16, 1);
    /// minhasher.add(42);
    /// assert_eq!(minhasher.values().map(<[u32]>::len), Some(16));
    /// ```
    pub fn values(&mut self) -> Option<&[u32]> {
        self.flush();
        (!self.empty).then_some(&self.minima[..self.permutations])
    }
}

/// Counts the agreeing values of two sketches of the same kind, in their stored form
/// ([`super::wire`]).
pub fn agreeing(a: &[u8], b: &[u8]) -> u32 {
    (kernels().agreeing)(a, b)
}

/// Returns the estimated resemblance: the share of values that agree. It is rounded only once.
///
/// ```
/// assert_eq!(neardup_core::sketch::minhash_similarity(96, 128), 0.75);
/// ```
pub fn similarity(agreeing: u32, permutations: u16) -> f64 {
    f64::from(agreeing) / f64::from(permutations)
}

/// Returns the estimated Jaccard distance: 1 - [`similarity`], to the last bit.
pub fn distance(agreeing: u32, permutations: u16) -> f64 {
    1.0 - similarity(agreeing, permutations)
}

/// Returns the least number of agreeing values whose [`similarity`] is at least `least`, which is
/// in (0, 1]: ceil(t · m), judged by the rounded similarity. O(1).
pub fn least_agreeing(least: f64, permutations: u16) -> u32 {
    // This number differs from the result by at most one. The similarity that is reported decides.
    let mut agreeing = (least * f64::from(permutations)).ceil() as u32;
    agreeing = agreeing.clamp(1, u32::from(permutations));
    while agreeing > 1 && similarity(agreeing - 1, permutations) >= least {
        agreeing -= 1;
    }
    while similarity(agreeing, permutations) < least {
        agreeing += 1;
    }
    agreeing
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values(elements: impl IntoIterator<Item = u64>, permutations: u16, seed: i64) -> Option<Vec<u32>> {
        let mut hasher = Minhasher::new(permutations, seed);
        elements.into_iter().for_each(|element| hasher.add(element));
        hasher.values().map(<[u32]>::to_vec)
    }

    /// Computes the values by the definition at the head of this file.
    fn defined(elements: &[u64], permutations: u16, seed: i64) -> Option<Vec<u32>> {
        let start = hash::mix(seed.cast_unsigned());
        let drawn = |n: u64| (hash::mix(start.wrapping_add(n)) >> 32) as u32;
        let value = |i: u64, element: u64| {
            let x = (hash::mix(element) >> 32) as u32;
            x.wrapping_mul(drawn(2 * i) | 1).wrapping_add(drawn(2 * i + 1))
        };
        (0..u64::from(permutations)).map(|i| elements.iter().map(|&e| value(i, e)).min()).collect()
    }

    proptest! {
        #[test]
        fn as_defined(
            elements in prop::collection::vec(any::<u64>(), 0..1300),
            permutations in 1..300u16,
            seed in any::<i64>(),
        ) {
            prop_assert_eq!(values(elements.clone(), permutations, seed), defined(&elements, permutations, seed));
        }

        #[test]
        fn least_agreeing_is_the_least_that_passes(permutations in 1..2048u16, least in 1e-9..1.0f64, n in 0..2048u32) {
            for least in [least, similarity(n % u32::from(permutations) + 1, permutations)] {
                let agreeing = least_agreeing(least, permutations);
                prop_assert!(similarity(agreeing, permutations) >= least);
                prop_assert!(agreeing == 1 || similarity(agreeing - 1, permutations) < least);
            }
        }
    }

    #[test]
    fn products_that_round_up_are_a_trap() {
        assert_eq!(least_agreeing(0.55, 100), 55);
        assert_eq!(least_agreeing(0.8, 5), 4);
        assert_eq!(least_agreeing(1.0, 128), 128);
        assert_eq!(least_agreeing(f64::MIN_POSITIVE, 128), 1);
        assert_eq!(least_agreeing(5.0 / 6.0, 6), 5);
    }

    #[test]
    fn golden_vectors() {
        assert_eq!(values(1..=100, 4, 1), Some(GOLDEN[0].to_vec()));
        assert_eq!(values([0], 4, 1), Some(GOLDEN[1].to_vec()));
        assert_eq!(values(1..=100, 4, -7), Some(GOLDEN[2].to_vec()));
        assert_eq!(values([], 4, 1), None);
    }

    /// These values were computed from the definition in another language.
    const GOLDEN: [[u32; 4]; 3] = [
        [0x00d6_f3bb, 0x01b9_a5ab, 0x0816_0d4c, 0x0053_19c0],
        [0xeed3_fa96, 0xf694_d072, 0x608b_98c4, 0x9250_2a11],
        [0x019e_227d, 0x0242_5195, 0x00a3_9608, 0x01f8_0eaf],
    ];

    /// Tests sets of known resemblance with many seeds: the mean is J, and the spread is as in
    /// theory.
    #[test]
    fn unbiased_with_the_standard_error_of_the_theory() {
        const PERMUTATIONS: u16 = 128;
        const TRIALS: u32 = 2000;
        for (shared, own) in [(10, 1), (50, 50), (200, 25), (30, 270), (1, 0), (5, 3)] {
            let resemblance = f64::from(shared) / f64::from(shared + 2 * own);
            let expected = (resemblance * (1.0 - resemblance) / f64::from(PERMUTATIONS)).sqrt();
            let (mut sum, mut squares) = (0.0, 0.0);
            for trial in 0..TRIALS {
                // Small consecutive numbers, which are the worst case of a linear hash.
                let start = u64::from(trial) * 10_000;
                let set = |from: u32| {
                    let elements = (0..shared).chain(from..from + own).map(|n| start + u64::from(n));
                    values(elements, PERMUTATIONS, 1).expect("elements")
                };
                let (a, b) = (set(1000), set(2000));
                let agree = a.iter().zip(&b).filter(|(x, y)| x == y).count() as u32;
                let error = similarity(agree, PERMUTATIONS) - resemblance;
                sum += error;
                squares += error * error;
            }
            let (mean, spread) = (sum / f64::from(TRIALS), (squares / f64::from(TRIALS)).sqrt());
            // Five standard errors of the mean; the spread of this many trials is within 10 %.
            assert!(mean.abs() <= 5.0 * expected / f64::from(TRIALS).sqrt(), "{resemblance}: {mean}");
            assert!((spread - expected).abs() <= 0.1 * expected, "{resemblance}: {spread}, {expected}");
        }
    }
}
