//! The contents of windows of tokens as hashes: the values of two polynomials modulo the prime
//! 2^61 - 1 at two fixed bases, whose coefficients are hashes of the tokens. A hash takes constant
//! time, whatever the length of the window.
//!
//! Distinct windows have equal hashes with a probability below 2^-100.

use crate::error::Result;
use crate::executor::Stop;
use crate::hash;
use crate::memory;

const DOING: &str = "hashing windows of tokens";
/// The prime 2^61 - 1, for which the remainder of a product takes a few additions.
const PRIME: u64 = (1 << 61) - 1;
const BASES: [u64; 2] = [0x0e37_79b9_7f4a_7c15, 0x1f58_476d_1ce4_e5b9];

fn reduce(value: u128) -> u64 {
    // Both parts have at most 64 bits, as factors are less than 2^61 and summands less than 2^64.
    let sum = (value as u64 & PRIME) + (value >> 61) as u64;
    let sum = (sum & PRIME) + (sum >> 61);
    if sum >= PRIME { sum - PRIME } else { sum }
}

fn multiply_add(a: u64, b: u64, more: u64) -> u64 {
    reduce(u128::from(a) * u128::from(b) + u128::from(more))
}

/// Returns a power by repeated squaring: a caller may ask for windows of any length.
fn power(mut base: u64, mut exponent: usize) -> u64 {
    let mut power = 1;
    while exponent > 0 {
        if exponent % 2 == 1 {
            power = multiply_add(power, base, 0);
        }
        base = multiply_add(base, base, 0);
        exponent /= 2;
    }
    power
}

/// The hashes of the windows of `length` tokens of a text.
#[derive(Debug)]
pub struct Contents {
    length: usize,
    powers: [u64; 2],
    /// The values of both polynomials for each prefix of the text.
    prefixes: Vec<[u64; 2]>,
}

impl Contents {
    /// Makes room for texts whose windows have `length` tokens. O(log length).
    pub fn new(length: usize) -> Self {
        Self { length, powers: BASES.map(|base| power(base, length)), prefixes: Vec::new() }
    }

    /// Replaces the text. O(tokens).
    pub fn set(&mut self, tokens: &[u64], stop: &Stop) -> Result<()> {
        const CHECK_EVERY: usize = 1 << 14;
        self.prefixes.clear();
        memory::reserve(&mut self.prefixes, tokens.len() + 1, DOING)?;
        let mut last = [0; 2];
        self.prefixes.push(last);
        for tokens in tokens.chunks(CHECK_EVERY) {
            stop.check()?;
            for &token in tokens {
                last = [
                    multiply_add(last[0], BASES[0], token),
                    multiply_add(last[1], BASES[1], hash::mix(token)),
                ];
                self.prefixes.push(last);
            }
        }
        Ok(())
    }

    fn tokens(&self) -> usize {
        self.prefixes.len().saturating_sub(1)
    }

    /// Returns the number of windows of the text.
    pub fn windows(&self) -> usize {
        self.prefixes.len().saturating_sub(self.length)
    }

    /// Returns the hash of the window that begins with token number `first`.
    #[inline]
    pub fn content(&self, first: usize) -> u128 {
        let (before, after) = (self.prefixes[first], self.prefixes[first + self.length]);
        let [a, b] = [0, 1].map(|n| {
            let lost = multiply_add(before[n], self.powers[n], 0);
            reduce(u128::from(after[n] + PRIME - lost))
        });
        // The upper half selects the part of a sort, so its bits have to be even.
        u128::from(hash::mix(a)) << 64 | u128::from(b)
    }

    /// Returns a hash of `windows` windows one after the other, the first of which begins with
    /// token number `first`. There may be one more than a window has tokens, so that the first and
    /// the last of them have all tokens of the others.
    pub fn of_row(&self, first: usize, windows: usize) -> u128 {
        debug_assert!((1..=self.length + 1).contains(&windows));
        let [from, to] = [first, first + windows - 1].map(|first| self.content(first));
        let half =
            |from: u64, to: u64| u128::from(hash::mix(from ^ hash::mix(to.wrapping_add(windows as u64))));
        half((from >> 64) as u64, (to >> 64) as u64) << 64 | half(from as u64, to as u64)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.prefixes)
    }
}

/// The powers with which rows of tokens of two texts are compared, whose lengths are powers of two.
#[derive(Debug)]
pub struct Doublings([[u64; 2]; u32::BITS as usize]);

impl Default for Doublings {
    fn default() -> Self {
        let mut last = BASES;
        Self(std::array::from_fn(|_| {
            let power = last;
            last = power.map(|power| multiply_add(power, power, 0));
            power
        }))
    }
}

impl Doublings {
    /// Returns how many tokens two texts have in common one after the other, from these places on.
    /// O(log tokens).
    pub fn common(&self, [a, b]: [&Contents; 2], from: [usize; 2]) -> usize {
        let room = (a.tokens() - from[0]).min(b.tokens() - from[1]);
        let (mut common, mut step) = (0, 0);
        let is_common = |common: usize, step: usize| {
            common + (1 << step) <= room
                && (0..2).all(|base| {
                    let [of_a, of_b] = [(a, from[0]), (b, from[1])].map(|(text, first)| {
                        let (before, after) =
                            (text.prefixes[first + common], text.prefixes[first + common + (1 << step)]);
                        let lost = multiply_add(before[base], self.0[step][base], 0);
                        reduce(u128::from(after[base] + PRIME - lost))
                    });
                    of_a == of_b
                })
        };
        while is_common(common, step) {
            common += 1 << step;
            step += 1;
        }
        for step in (0..step).rev() {
            if is_common(common, step) {
                common += 1 << step;
            }
        }
        common
    }
}

/// Returns the hash of a row of tokens of any length. Rows of distinct lengths have distinct
/// hashes, like rows of distinct tokens.
pub fn content(tokens: &[u64]) -> u128 {
    let [a, b] = tokens.iter().fold([1, 1], |[a, b], &token| {
        [multiply_add(a, BASES[0], token), multiply_add(b, BASES[1], hash::mix(token))]
    });
    u128::from(hash::mix(a)) << 64 | u128::from(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equal_windows_have_equal_hashes(tokens in prop::collection::vec(0..3u64, 0..40), length in 1..6usize) {
            let tokens: Vec<u64> = tokens.into_iter().map(|token| u64::MAX - token).collect();
            let mut contents = Contents::new(length);
            contents.set(&tokens, &Stop::default()).unwrap();
            let windows: Vec<&[u64]> = tokens.windows(length).collect();
            prop_assert_eq!(contents.windows(), windows.len());
            for (i, a) in windows.iter().enumerate() {
                for (j, b) in windows.iter().enumerate() {
                    prop_assert_eq!(contents.content(i) == contents.content(j), a == b);
                    prop_assert_eq!(content(&tokens[..i]) == content(&tokens[..j]), i == j);
                    for n in 1..=(windows.len() - i.max(j)).min(length + 1) {
                        let equal = windows[i..i + n] == windows[j..j + n];
                        prop_assert_eq!(contents.of_row(i, n) == contents.of_row(j, n), equal);
                        prop_assert!(n == 1 || contents.of_row(i, n) != contents.of_row(j, n - 1));
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn common_tokens_are_counted(
            a in prop::collection::vec(0..2u64, 0..40),
            b in prop::collection::vec(0..2u64, 0..40),
            same in 0..70usize,
        ) {
            let texts = [a, b].map(|own| own.into_iter().chain((0..same as u64).map(|n| n % 3)).collect::<Vec<_>>());
            let contents = texts.each_ref().map(|tokens| {
                let mut contents = Contents::new(3);
                contents.set(tokens, &Stop::default()).unwrap();
                contents
            });
            let doublings = Doublings::default();
            for i in 0..=texts[0].len() {
                for j in 0..=texts[1].len() {
                    let expected = texts[0][i..].iter().zip(&texts[1][j..]).take_while(|(x, y)| x == y).count();
                    prop_assert_eq!(doublings.common([&contents[0], &contents[1]], [i, j]), expected);
                }
            }
        }
    }

    #[test]
    fn powers_are_products() {
        for base in BASES {
            let mut product = 1;
            for exponent in 0..200 {
                assert_eq!(power(base, exponent), product);
                product = multiply_add(product, base, 0);
            }
        }
        // By Fermat's little theorem; a loop of so many products would not end.
        assert_eq!(power(BASES[0], PRIME as usize - 1), 1);
    }

    #[test]
    fn products_are_reduced() {
        for (a, b, more) in [(PRIME - 1, PRIME - 1, u64::MAX), (0, 5, PRIME), (1 << 60, 1 << 60, 1)] {
            let expected = (u128::from(a) * u128::from(b) + u128::from(more)) % u128::from(PRIME);
            assert_eq!(u128::from(multiply_add(a, b, more)), expected);
        }
    }
}
