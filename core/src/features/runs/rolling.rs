//! The hash of the last tokens of a text, which goes on from token to token in constant time (Karp
//! and Rabin, *Efficient randomized pattern-matching algorithms*, 1987).

use crate::hash;

/// The base of the polynomial of which a hash is made.
const BASE: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hash of the last tokens of a text. Equal rows of tokens have equal hashes. Distinct ones
/// hardly ever do, but whether they are equal has to be decided by more than this hash.
#[derive(Debug)]
pub struct Rolling {
    length: usize,
    /// The power of the base for the token that leaves.
    leaving: u64,
    value: u64,
}

impl Rolling {
    /// Starts before the first token of a text; the hash is that of the last `length` tokens.
    pub fn new(length: usize) -> Self {
        // A text has at most as many tokens as 32 bits can count: longer rows never lose one.
        let leaving = BASE.wrapping_pow(u32::try_from(length).unwrap_or(u32::MAX));
        Self { length, leaving, value: 0 }
    }

    /// Starts again, for another text.
    pub fn restart(&mut self) {
        self.value = 0;
    }

    /// Goes on to the last token in `tokens`, which has the text up to there, and returns the hash.
    /// As long as there are fewer than `length` tokens, it is that of no row of this length.
    #[inline]
    pub fn roll(&mut self, tokens: &[u64]) -> u64 {
        let last = tokens.len() - 1;
        self.value = self.value.wrapping_mul(BASE).wrapping_add(tokens[last]);
        if let Some(gone) = last.checked_sub(self.length) {
            self.value = self.value.wrapping_sub(tokens[gone].wrapping_mul(self.leaving));
        }
        // Without the mix, the hash would depend on the tokens' own hashes.
        hash::mix(self.value)
    }
}
