//! The tokens of a document as hashes, in the order of the text. O(bytes).
//!
//! The hash of the last tokens goes on from token to token in constant time (Karp and Rabin,
//! *Efficient randomized pattern-matching algorithms*, 1987).

use crate::error::Result;
use crate::executor::Stop;
use crate::features::tokens::{DocumentRef, FeatureSpec, Scratch, Tokenizer, for_each_token};
use crate::{hash, memory};

/// Replaces the content of `hashes` with the hashes of the document's tokens, repeats included.
/// Tokens are single words, single characters with `Tokenizer::Chars`, or ready-made tokens.
pub fn read_tokens<'a>(
    document: impl Into<DocumentRef<'a>>,
    tokenizer: Tokenizer,
    scratch: &mut Scratch,
    hashes: &mut Vec<u64>,
    stop: &Stop,
) -> Result<()> {
    hashes.clear();
    each_token(document, tokenizer, scratch, stop, |hash| {
        memory::push(hashes, hash, "reading the tokens of a text")
    })
}

/// Calls `each` with the hashes of the document's tokens, one after the other, until it fails.
pub fn each_token<'a>(
    document: impl Into<DocumentRef<'a>>,
    tokenizer: Tokenizer,
    scratch: &mut Scratch,
    stop: &Stop,
    mut each: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    let spec = FeatureSpec { tokenizer, ..FeatureSpec::WORDS };
    for_each_token(document, &spec, scratch, stop, |token| each(token.hash()))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_in_the_order_of_the_text() {
        let read = |text: &str, tokenizer| {
            let mut hashes = vec![7];
            read_tokens(text, tokenizer, &mut Scratch::default(), &mut hashes, &Stop::default()).unwrap();
            hashes
        };
        let words = read("The crane; the CRANE", Tokenizer::Words);
        assert_eq!((words.len(), words[0], words[1]), (4, words[2], words[3]));
        assert!(read("", Tokenizer::Words).is_empty());
        assert_eq!(read("aA b", Tokenizer::Chars).len(), 4);
    }
}
