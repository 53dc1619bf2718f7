//! q-grams of characters: all windows of q characters of a text. The text is used unchanged, or in
//! lower case with each run of white space replaced by one space.
//!
//! A text of 0 < n < q characters gives one gram, the whole text, as with shingles.

use std::collections::VecDeque;

use super::characters::{WordClass, class, is_space, lower};
use crate::error::Result;
use crate::executor::Stop;
use crate::memory;

/// The last characters of a text, from which grams are made. Calls can reuse its memory.
#[derive(Debug, Default)]
pub struct GramScratch {
    /// The bytes of the characters, after some bytes that are no longer needed.
    bytes: Vec<u8>,
    /// The length of each character in bytes.
    lengths: VecDeque<u8>,
    /// The offset of the first character in `bytes`.
    start: usize,
}

impl GramScratch {
    fn clear(&mut self) {
        self.bytes.clear();
        self.lengths.clear();
        self.start = 0;
    }

    /// Adds a character. Once there are `q` characters, passes them to `each` and removes the first
    /// one.
    #[inline]
    fn push(&mut self, c: char, q: usize, each: &mut impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        const DONE: usize = 1 << 12;
        if self.start > DONE {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        memory::extend(
            &mut self.bytes,
            c.encode_utf8(&mut [0; 4]).as_bytes(),
            "cutting a text into characters",
        )?;
        self.lengths.push_back(c.len_utf8() as u8);
        if self.lengths.len() == q {
            each(&self.bytes[self.start..])?;
            self.start += usize::from(self.lengths.pop_front().unwrap_or(0));
        }
        Ok(())
    }
}

/// Calls `each` with every q-gram of `text` in lower case, in order; `q` is at least 1. O(bytes)
/// plus the cost of `each`; memory for q characters.
pub fn for_each_gram(
    text: &str,
    q: usize,
    last: &mut GramScratch,
    stop: &Stop,
    mut each: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 14;
    last.clear();
    let (mut space, mut read, mut pushed) = (false, 0usize, 0usize);
    for c in text.chars() {
        read += 1;
        stop.check_every(read, CHECK_EVERY)?;
        if is_space(c) {
            space = pushed > 0;
            continue;
        }
        if !c.is_ascii() && class(c) == WordClass::Unseen {
            continue;
        }
        if std::mem::take(&mut space) {
            last.push(' ', q, &mut each)?;
            pushed += 1;
        }
        last.push(lower(c), q, &mut each)?;
        pushed += 1;
    }
    if (1..q).contains(&pushed) {
        each(&last.bytes)?;
    }
    Ok(())
}

/// Calls `each` with a hash of every q-gram of the unchanged `text`, in order. Equal grams have
/// equal hashes; distinct grams hardly ever have equal hashes. `q` is at least 1. O(bytes) for any
/// `q`.
pub fn for_each_raw_gram(
    text: &str,
    q: usize,
    stop: &Stop,
    mut each: impl FnMut(u64) -> Result<()>,
) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 14;
    // The hash is a polynomial in an odd number; each step subtracts the term of the oldest
    // character.
    const BASE: u64 = 0x9e37_79b9_7f4a_7c15;
    let oldest = (0..q).fold(1u64, |power, _| power.wrapping_mul(BASE));
    let number = |c: char| u64::from(u32::from(c)) + 1;
    let (mut hash, mut given) = (0u64, false);
    let mut leaving = text.chars();
    for (n, c) in text.chars().enumerate() {
        stop.check_every(n, CHECK_EVERY)?;
        hash = hash.wrapping_mul(BASE).wrapping_add(number(c));
        if n >= q {
            hash = hash.wrapping_sub(leaving.next().map_or(0, number).wrapping_mul(oldest));
        }
        if n + 1 >= q {
            each(hash)?;
            given = true;
        }
    }
    if given || text.is_empty() { Ok(()) } else { each(hash) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grams(text: &str, q: usize) -> Vec<String> {
        let mut all = Vec::new();
        for_each_gram(text, q, &mut GramScratch::default(), &Stop::default(), |gram| {
            all.push(String::from_utf8(gram.to_vec()).expect("whole characters"));
            Ok(())
        })
        .expect("not stopped");
        all
    }

    #[test]
    fn grams_of_small_texts() {
        assert_eq!(grams("", 3), [""; 0]);
        assert_eq!(grams(" \n\t", 3), [""; 0]);
        assert_eq!(grams("Ab", 3), ["ab"]);
        assert_eq!(grams("abc", 3), ["abc"]);
        assert_eq!(grams("  A\n\nbÉ字 ", 3), ["a b", " bé", "bé字"]);
        assert_eq!(grams("aaa", 1), ["a", "a", "a"]);
        assert_eq!(grams("Σ\u{ad}ς \u{200b} a\u{feff}", 3), ["σσ ", "σ a"]);
        let long: String = ('a'..='z').chain('α'..='ω').cycle().take(20_000).collect();
        let all: Vec<char> = long.chars().collect();
        let expected: Vec<String> =
            all.windows(7).map(|window| window.iter().map(|&c| lower(c)).collect()).collect();
        assert_eq!(grams(&long, 7), expected);
    }

    proptest! {
        #[test]
        fn raw_grams_are_equal_where_their_characters_are(text in "[aA 字é]{0,12}", q in 1..6usize) {
            let mut hashes = Vec::new();
            for_each_raw_gram(&text, q, &Stop::default(), |hash| {
                hashes.push(hash);
                Ok(())
            }).expect("not stopped");
            let text: Vec<char> = text.chars().collect();
            let mut windows: Vec<&[char]> = text.windows(q).collect();
            if windows.is_empty() && !text.is_empty() {
                windows.push(&text);
            }
            prop_assert_eq!(hashes.len(), windows.len());
            for (i, a) in windows.iter().enumerate() {
                for (j, b) in windows.iter().enumerate() {
                    prop_assert_eq!(hashes[i] == hashes[j], a == b);
                }
            }
        }
    }
}
