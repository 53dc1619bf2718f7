//! Numbers for tokens: equal tokens get the same number, unlike ones never do.
//!
//! Tokens are compared whole, not by their hashes, so that no pair of documents is found or lost by
//! a collision. Each worker fills a dictionary of its own; [`Dictionary::absorb`] joins them.

use std::borrow::Cow;

use hashbrown::HashTable;

use super::tokens::Token;
use crate::error::{Error, Result};
use crate::hash;
use crate::memory;

const DOING: &str = "numbering tokens";

/// A token and its number. What the token is stands here too, so that looking it up touches nothing
/// but the table; only strings over 16 bytes are in the arena.
#[derive(Debug, Clone, Copy)]
struct Slot {
    number: u32,
    kind: Kind,
    content: [u64; 2],
}

/// What [`Slot::content`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A string of so many bytes, at most 16, padded with zeros.
    Short(u8),
    /// Start and length of a string in the arena.
    Long,
    /// A number.
    Number,
    /// Another token, and which occurrence of it in a document: 2, 3, …
    Occurrence,
}

/// Tokens and their numbers, 0 to `len - 1` in order of arrival. About 40 bytes a token.
#[derive(Debug, Default)]
pub struct Dictionary {
    table: HashTable<Slot>,
    /// By number.
    hashes: Vec<u64>,
    arena: Vec<u8>,
}

/// The longest string that fits into a slot.
const SHORT: usize = 16;

#[inline]
fn short(bytes: &[u8]) -> [u64; 2] {
    let mut padded = [0; SHORT];
    padded[..bytes.len()].copy_from_slice(bytes);
    bytemuck::cast(padded)
}

impl Dictionary {
    /// How many tokens there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.table.allocation_size() + memory::bytes(&self.hashes) + memory::bytes(&self.arena)
    }

    /// The hash of a token: the same for equal tokens in any dictionary.
    #[inline]
    pub fn hash(&self, number: u32) -> u64 {
        self.hashes[number as usize]
    }

    /// The number of a token, a new one if it was not met before, and its hash.
    #[inline]
    pub fn number(&mut self, token: Token<'_>) -> Result<(u32, u64)> {
        let (hash, kind, content) = match token {
            Token::Number(value) => (hash::mix(value), Kind::Number, [value, 0]),
            Token::Bytes(bytes) if bytes.len() <= SHORT => {
                (hash::hash_bytes(bytes), Kind::Short(bytes.len() as u8), short(bytes))
            }
            Token::Bytes(bytes) => return self.number_of_long(bytes),
        };
        Ok((self.number_of(hash, kind, content)?, hash))
    }

    /// The number and the hash of the `nth` occurrence of a token with this number and hash; `nth`
    /// counts from 2.
    #[inline]
    pub fn occurrence(&mut self, of: (u32, u64), nth: u32) -> Result<(u32, u64)> {
        let hash = hash::mix(of.1 ^ hash::mix(nth.into()));
        Ok((self.number_of(hash, Kind::Occurrence, [of.0.into(), nth.into()])?, hash))
    }

    #[inline]
    fn number_of(&mut self, hash: u64, kind: Kind, content: [u64; 2]) -> Result<u32> {
        match self.table.find(hash, |slot| slot.content == content && slot.kind == kind) {
            Some(slot) => Ok(slot.number),
            None => self.add(hash, kind, content),
        }
    }

    fn number_of_long(&mut self, bytes: &[u8]) -> Result<(u32, u64)> {
        let hash = hash::hash_bytes(bytes);
        let found = self.table.find(hash, |slot| slot.kind == Kind::Long && self.long(slot.content) == bytes);
        if let Some(slot) = found {
            return Ok((slot.number, hash));
        }
        let content = [self.arena.len() as u64, bytes.len() as u64];
        memory::extend(&mut self.arena, bytes, DOING)?;
        Ok((self.add(hash, Kind::Long, content)?, hash))
    }

    fn long(&self, [start, length]: [u64; 2]) -> &[u8] {
        &self.arena[start as usize..][..length as usize]
    }

    #[cold]
    fn add(&mut self, hash: u64, kind: Kind, content: [u64; 2]) -> Result<u32> {
        let number = u32::try_from(self.len())
            .ok()
            .filter(|&n| n < u32::MAX - 1)
            .ok_or(Error::TooMany { what: "different tokens", limit: u32::MAX.into() })?;
        let hashes = &self.hashes;
        self.table
            .try_reserve(1, |slot| hashes[slot.number as usize])
            .map_err(|_| Error::OutOfMemory { doing: DOING })?;
        memory::push(&mut self.hashes, hash, DOING)?;
        let hashes = &self.hashes;
        let slot = Slot { number, kind, content };
        self.table.insert_unique(hash, slot, |slot| hashes[slot.number as usize]);
        Ok(number)
    }

    /// Its tokens in the order of their numbers, for another dictionary to [`Dictionary::absorb`].
    pub fn in_order(&self) -> Result<InOrder<'_>> {
        let none = Slot { number: 0, kind: Kind::Number, content: [0; 2] };
        let mut slots = memory::filled(none, self.len(), DOING)?;
        self.table.iter().for_each(|slot| slots[slot.number as usize] = *slot);
        Ok(InOrder { of: self, slots })
    }

    /// Takes over tokens from number `translation.len()` on, at most so many, and appends the numbers
    /// they have here. To be called until all have one.
    pub fn absorb(&mut self, other: &InOrder<'_>, translation: &mut Vec<u32>, most: usize) -> Result<()> {
        let from = translation.len();
        let to = other.slots.len().min(from.saturating_add(most));
        memory::reserve(translation, to - from, DOING)?;
        for &Slot { number, kind, content } in &other.slots[from..to] {
            let hash = other.of.hash(number);
            let here = match kind {
                Kind::Short(_) | Kind::Number => self.number_of(hash, kind, content)?,
                Kind::Long => self.number_of_long(other.of.long(content))?.0,
                // A token is numbered before its further occurrences.
                Kind::Occurrence => {
                    self.number_of(hash, kind, [translation[content[0] as usize].into(), content[1]])?
                }
            };
            translation.push(here);
        }
        Ok(())
    }
}

/// The tokens of a dictionary in the order of their numbers.
#[derive(Debug)]
pub struct InOrder<'a> {
    of: &'a Dictionary,
    slots: Vec<Slot>,
}

impl InOrder<'_> {
    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// What a token is: its bytes, or those of a number, the most significant first.
    pub fn bytes(&self, number: u32) -> Cow<'_, [u8]> {
        let Slot { kind, content, .. } = &self.slots[number as usize];
        match kind {
            Kind::Short(length) => Cow::Borrowed(&bytemuck::bytes_of(content)[..usize::from(*length)]),
            Kind::Long => Cow::Borrowed(self.of.long(*content)),
            Kind::Number | Kind::Occurrence => Cow::Owned(content[0].to_be_bytes().to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tokens_and_only_these_share_a_number() {
        let mut d = Dictionary::default();
        let long = "a string that is longer than sixteen bytes";
        let strings = ["as", "a", "as\0", "", "sixteen bytes ok", "seventeen bytes !", long, &long[1..]];
        let mut tokens: Vec<Token<'_>> = strings.iter().map(|s| Token::Bytes(s.as_bytes())).collect();
        tokens.extend([7, 0, u64::MAX, u64::from_le_bytes(*b"as\0\0\0\0\0\0")].map(Token::Number));
        for (number, &token) in tokens.iter().enumerate() {
            assert_eq!(d.number(token).unwrap().0, number as u32, "{token:?}");
        }
        let (a, b) = (d.number(tokens[0]).unwrap(), d.number(tokens[1]).unwrap());
        let others = [(a, 2), (a, 3), (b, 2)].map(|(of, nth)| d.occurrence(of, nth).unwrap());
        assert_eq!(others.map(|(number, _)| number), [12, 13, 14]);
        for (number, &token) in tokens.iter().enumerate() {
            let (found, hash) = d.number(token).unwrap();
            assert_eq!((found, hash), (number as u32, d.hash(number as u32)));
        }
        assert_eq!(d.occurrence(a, 3).unwrap(), others[1]);
        assert_eq!(d.len(), 15);
    }

    #[test]
    fn dictionaries_are_joined_by_meaning() {
        let mut one = Dictionary::default();
        let mut two = Dictionary::default();
        for word in ["x", "y", "a word of many letters"] {
            one.number(Token::Bytes(word.as_bytes())).unwrap();
        }
        for word in ["a word of many letters", "new", "x"] {
            let n = two.number(Token::Bytes(word.as_bytes())).unwrap();
            two.occurrence(n, 2).unwrap();
        }
        let mut translation = Vec::new();
        let in_order = two.in_order().unwrap();
        while translation.len() < in_order.len() {
            one.absorb(&in_order, &mut translation, 2).unwrap();
        }
        assert_eq!(translation, [2, 3, 4, 5, 0, 6]);
        for (there, &here) in translation.iter().enumerate() {
            assert_eq!(two.hash(there as u32), one.hash(here), "hashes do not depend on the dictionary");
        }
    }
}
