//! A token as it is looked up: its hash and its content, in 32 bytes; and the hash table that maps
//! hashes to the places of tokens, by open addressing with linear probing.

use std::ops::Range;

use crate::error::Result;
use crate::features::tokens::Token;
use crate::simd::prefetch::prefetch;
use crate::{hash, memory};

const DOING: &str = "numbering tokens";

/// The kind of [`Lookup::content`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ContentKind {
    /// A string of at most 16 bytes, which does not end with a zero byte ([`short`]).
    Short,
    /// The start and the length of a string in an arena.
    Long,
    /// A number.
    #[default]
    Number,
    /// A further occurrence of a token in a document.
    Occurrence,
}

/// The length of the longest string that fits into [`Lookup::content`].
const SHORT: usize = 16;

/// Returns a string of at most 16 bytes as two numbers, padded with zeros. The bytes are read in
/// chunks of fixed lengths, because a copy of a length that is only known at run time would be a
/// function call.
#[inline]
fn short(bytes: &[u8]) -> [u64; 2] {
    match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(&first), _) if bytes.len() == 8 => [u64::from_le_bytes(first), 0],
        // The last eight bytes overlap the first eight; the shift keeps those that are not among
        // the first.
        (Some(&first), Some(&last)) => {
            [u64::from_le_bytes(first), u64::from_le_bytes(last) >> (8 * (SHORT - bytes.len()))]
        }
        _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(&first), Some(&last)) => {
                // Where the two halves overlap, they have the same bytes at the same positions.
                let last = u64::from(u32::from_le_bytes(last)) << (8 * (bytes.len() - 4));
                [u64::from(u32::from_le_bytes(first)) | last, 0]
            }
            _ => [bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)), 0],
        },
    }
}

/// Returns the string that was passed to [`short`].
pub(crate) fn short_bytes([first, last]: [u64; 2]) -> Vec<u8> {
    let mut bytes = [first.to_le_bytes(), last.to_le_bytes()].concat();
    let length = bytes.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    bytes.truncate(length);
    bytes
}

/// Returns a long string of an arena.
#[inline]
pub(crate) fn long_bytes(arena: &[u8], [start, length]: [u64; 2]) -> &[u8] {
    &arena[start as usize..][..length as usize]
}

/// Returns the hash of a short string from the two numbers that [`short`] returns for it. As in
/// XXH3 for strings of this length, it is a product of 128 bits whose halves are combined. The hash
/// differs from [`hash::hash_bytes`], which is allowed because the hash need not outlive the call.
/// No branch depends on the length of the string.
#[inline]
pub(crate) fn short_hash([first, last]: [u64; 2]) -> u64 {
    // Nearly all digits are digits of e. The most significant byte is 0xff, which no text contains.
    // So neither number of a text equals its constant here, and no factor of the product is zero.
    const FACTORS: [u64; 2] = [0xff8a_ed2a_6abf_7158, 0xff84_f3c7_62e7_160f];
    let product = u128::from(first ^ FACTORS[0]) * u128::from(last ^ FACTORS[1]);
    product as u64 ^ (product >> 64) as u64
}

/// Returns the hash of a short string or of a number, by its content.
pub(crate) fn hash_of(kind: ContentKind, content: [u64; 2]) -> u64 {
    if kind == ContentKind::Short { short_hash(content) } else { hash::mix(content[0]) }
}

/// A token that is to be numbered, and the document of the batch that contains it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lookup {
    /// The hash of the token.
    pub hash: u64,
    pub(crate) content: [u64; 2],
    /// The number of the document in the batch of its collector.
    pub document: u32,
    pub(crate) kind: ContentKind,
}

impl Lookup {
    /// Makes the lookup of a token of a document. Content that does not fit is appended to `long`.
    #[inline]
    pub fn new(token: Token<'_>, document: u32, long: &mut Vec<u8>) -> Result<Self> {
        let (hash, kind, content) = match token {
            Token::Number(value) => (hash::mix(value), ContentKind::Number, [value, 0]),
            Token::Bytes(bytes) if bytes.len() <= SHORT && bytes.last() != Some(&0) => {
                return Ok(Self::of_short(short(bytes), document));
            }
            Token::Bytes(bytes) => {
                let content = [long.len() as u64, bytes.len() as u64];
                memory::extend(long, bytes, DOING)?;
                (hash::hash_bytes(bytes), ContentKind::Long, content)
            }
        };
        Ok(Self { hash, content, document, kind })
    }

    #[inline]
    pub(crate) fn of_short(content: [u64; 2], document: u32) -> Self {
        Self { hash: short_hash(content), content, document, kind: ContentKind::Short }
    }
}

/// Returns the numbers of [`short`] for a word in a longer text. 16 bytes are read at once, however
/// long the word is. Returns `None` if the word is too long or too near the end of the text.
#[inline]
pub(crate) fn short_word(text: &[u8], word: Range<usize>) -> Option<[u64; 2]> {
    let mask = MASKS.get(word.len())?;
    let bits = u128::from_le_bytes(*text[word.start..].first_chunk::<SHORT>()?) & mask;
    Some([bits as u64, (bits >> 64) as u64])
}

/// For each n from 0 to 16, a mask that keeps the first n of sixteen bytes.
const MASKS: [u128; SHORT + 1] = {
    let mut masks = [0; SHORT + 1];
    let mut length = 1;
    while length <= SHORT {
        masks[length] = u128::MAX >> (8 * (SHORT - length));
        length += 1;
    }
    masks
};

/// A slot has the high half of a token's hash, and the token's place plus 1; an empty slot is 0. At
/// least half of the slots are empty.
#[derive(Debug, Default)]
pub(super) struct Slots(Vec<u64>);

impl Slots {
    /// Creates a table without slots.
    pub(super) const fn new() -> Self {
        Self(Vec::new())
    }

    #[inline]
    fn home(&self, hash: u64) -> usize {
        hash as usize & self.0.len().wrapping_sub(1)
    }

    /// Prefetches the slot of a hash.
    #[inline]
    pub(super) fn prefetch(&self, hash: u64) {
        prefetch(&self.0, self.home(hash));
    }

    /// Returns the place that a lookup of a hash examines first, or an invalid place if there is
    /// none.
    #[inline]
    pub(super) fn first(&self, hash: u64) -> usize {
        let slot = self.0.get(self.home(hash)).copied().unwrap_or(0);
        (slot as u32).wrapping_sub(1) as usize
    }

    /// Returns the place of the token with this hash for which `is_it` returns true.
    #[inline]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        if self.0.is_empty() {
            return None;
        }
        let mut at = self.home(hash);
        loop {
            let slot = self.0[at];
            if slot == 0 {
                return None;
            }
            let place = slot as u32 - 1;
            if slot >> 32 == hash >> 32 && is_it(place) {
                return Some(place);
            }
            at = (at + 1) & (self.0.len() - 1);
        }
    }

    /// Reports whether there are too few slots for one more place than `places`.
    #[inline]
    pub(super) fn are_few(&self, places: usize) -> bool {
        2 * (places + 1) > self.0.len()
    }

    /// Makes room for twice as many places as `places`, and inserts the places that are known.
    pub(super) fn grow(&mut self, places: usize, known: impl Iterator<Item = (u64, u32)>) -> Result<()> {
        const FEWEST: usize = 16;
        let size = (4 * places).next_power_of_two().max(FEWEST);
        self.0 = Vec::new();
        self.0 = memory::filled(0, size, DOING)?;
        for (hash, place) in known {
            self.take(hash, place);
        }
        Ok(())
    }

    /// Inserts a place.
    pub(super) fn take(&mut self, hash: u64, place: u32) {
        let mut at = self.home(hash);
        while self.0[at] != 0 {
            at = (at + 1) & (self.0.len() - 1);
        }
        self.0[at] = hash >> 32 << 32 | u64::from(place + 1);
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_strings_are_what_their_numbers_say() {
        let text: String = ('a'..='z').collect();
        for length in 0..=SHORT {
            let string = &text.as_bytes()[..length];
            assert_eq!(short_bytes(short(string)), string);
            // Changing one byte, wherever it is, changes the numbers.
            for n in 0..length {
                let mut other = string.to_vec();
                other[n] = b'A';
                assert_ne!(short(&other), short(string));
                assert_eq!(short_bytes(short(&other)), other);
            }
        }
    }

    #[test]
    fn a_word_is_read_alike_wherever_it_stands() {
        let text = b"a word of sixteen bytes, abcdefghijklmnop, abcdefghijklmnopq, and ends";
        for from in 0..text.len() {
            for to in from + 1..=text.len().min(from + SHORT + 2) {
                let within = short_word(text, from..to);
                let fits = to - from <= SHORT && from + SHORT <= text.len();
                assert_eq!(within, fits.then(|| short(&text[from..to])));
            }
        }
    }

    #[test]
    fn zeros_at_the_end_are_not_lost() {
        let mut long = Vec::new();
        let mut of = |bytes: &'static [u8]| Lookup::new(Token::Bytes(bytes), 0, &mut long).unwrap();
        for (bytes, kind) in [
            (&b"a"[..], ContentKind::Short),
            (b"", ContentKind::Short),
            (b"\0a", ContentKind::Short),
            (b"a\0", ContentKind::Long),
            (b"\0", ContentKind::Long),
        ] {
            assert_eq!(of(bytes).kind, kind);
        }
    }
}
