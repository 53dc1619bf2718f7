//! Numbers for tokens: equal tokens get the same number, unlike ones never do.
//!
//! Tokens are compared whole, not by their hashes, so that no pair of documents is found or lost by
//! a collision. Each worker fills a dictionary of its own; [`Dictionary::absorb`] joins them.

use hashbrown::HashTable;

use super::tokens::Token;
use crate::error::{Error, Result};
use crate::hash;
use crate::memory;

const DOING: &str = "numbering tokens";

/// What a number stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    /// The bytes of the arena before `end`, from the end of the string before it.
    Bytes { start: u64, length: u32 },
    /// A number.
    Number(u64),
    /// The `nth` (2, 3, …) occurrence of another token in its document.
    Occurrence { of: u32, nth: u32 },
}

/// Tokens and their numbers, 0 to `len - 1` in order of arrival. About 40 bytes a token and its bytes.
#[derive(Debug, Default)]
pub struct Dictionary {
    table: HashTable<u32>,
    hashes: Vec<u64>,
    keys: Vec<Key>,
    arena: Vec<u8>,
}

impl Dictionary {
    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.table.allocation_size()
            + memory::bytes(&self.hashes)
            + memory::bytes(&self.keys)
            + memory::bytes(&self.arena)
    }

    /// The hash of a token: the same for equal tokens in any dictionary.
    #[inline]
    pub fn hash(&self, number: u32) -> u64 {
        self.hashes[number as usize]
    }

    /// The number of a token, a new one if it was not met before.
    #[inline]
    pub fn number(&mut self, token: Token<'_>) -> Result<u32> {
        match token {
            Token::Bytes(bytes) => {
                let hash = hash::hash_bytes(bytes);
                let (keys, arena) = (&self.keys, &self.arena);
                let found = self.table.find(hash, |&n| match keys[n as usize] {
                    Key::Bytes { start, length } => {
                        length as usize == bytes.len() && &arena[start as usize..][..bytes.len()] == bytes
                    }
                    _ => false,
                });
                if let Some(&number) = found {
                    return Ok(number);
                }
                let length = u32::try_from(bytes.len())
                    .map_err(|_| Error::TooMany { what: "bytes in a token", limit: u32::MAX.into() })?;
                let start = self.arena.len() as u64;
                memory::extend(&mut self.arena, bytes, DOING)?;
                self.add(hash, Key::Bytes { start, length })
            }
            Token::Number(value) => self.number_of_key(hash::mix(value), Key::Number(value)),
        }
    }

    /// The number of the `nth` occurrence of token `of`; `nth` counts from 2.
    #[inline]
    pub fn occurrence(&mut self, of: u32, nth: u32) -> Result<u32> {
        let hash = hash::mix(self.hash(of) ^ hash::mix(nth.into()));
        self.number_of_key(hash, Key::Occurrence { of, nth })
    }

    #[inline]
    fn number_of_key(&mut self, hash: u64, key: Key) -> Result<u32> {
        let keys = &self.keys;
        match self.table.find(hash, |&n| keys[n as usize] == key) {
            Some(&number) => Ok(number),
            None => self.add(hash, key),
        }
    }

    fn add(&mut self, hash: u64, key: Key) -> Result<u32> {
        let number = u32::try_from(self.keys.len())
            .ok()
            .filter(|&n| n < u32::MAX)
            .ok_or(Error::TooMany { what: "different tokens", limit: u32::MAX.into() })?;
        let hashes = &self.hashes;
        self.table
            .try_reserve(1, |&n| hashes[n as usize])
            .map_err(|_| Error::OutOfMemory { doing: DOING })?;
        memory::push(&mut self.keys, key, DOING)?;
        memory::push(&mut self.hashes, hash, DOING)?;
        let hashes = &self.hashes;
        self.table.insert_unique(hash, number, |&n| hashes[n as usize]);
        Ok(number)
    }

    /// Takes over the tokens of `other` from its number `translation.len()` on, and appends the
    /// numbers they have here. Call it again to go on where a budget of `most` tokens ended.
    pub fn absorb(&mut self, other: &Self, translation: &mut Vec<u32>, most: usize) -> Result<()> {
        let from = translation.len();
        let to = other.len().min(from.saturating_add(most));
        memory::reserve(translation, to - from, DOING)?;
        for number in from..to {
            let here = match other.keys[number] {
                Key::Bytes { start, length } => {
                    self.number(Token::Bytes(&other.arena[start as usize..][..length as usize]))?
                }
                Key::Number(value) => self.number(Token::Number(value))?,
                // A token is numbered before its further occurrences.
                Key::Occurrence { of, nth } => self.occurrence(translation[of as usize], nth)?,
            };
            translation.push(here);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_tokens_and_only_these_share_a_number() {
        let mut d = Dictionary::default();
        let a = d.number(Token::Bytes(b"as")).unwrap();
        let b = d.number(Token::Bytes(b"a")).unwrap();
        let n = d.number(Token::Number(7)).unwrap();
        let a2 = d.occurrence(a, 2).unwrap();
        let a3 = d.occurrence(a, 3).unwrap();
        let b2 = d.occurrence(b, 2).unwrap();
        assert_eq!([a, b, n, a2, a3, b2], [0, 1, 2, 3, 4, 5]);
        assert_eq!(d.number(Token::Bytes(b"as")).unwrap(), a);
        assert_eq!(d.number(Token::Bytes(b"")).unwrap(), 6);
        assert_eq!(d.number(Token::Number(7)).unwrap(), n);
        assert_eq!(d.occurrence(a, 3).unwrap(), a3);
        assert_eq!(d.len(), 7);
    }

    #[test]
    fn dictionaries_are_joined_by_meaning() {
        let mut one = Dictionary::default();
        let mut two = Dictionary::default();
        for word in ["x", "y", "z"] {
            one.number(Token::Bytes(word.as_bytes())).unwrap();
        }
        for word in ["z", "new", "x"] {
            let n = two.number(Token::Bytes(word.as_bytes())).unwrap();
            two.occurrence(n, 2).unwrap();
        }
        let mut translation = Vec::new();
        while translation.len() < two.len() {
            one.absorb(&two, &mut translation, 2).unwrap();
        }
        assert_eq!(translation, [2, 3, 4, 5, 0, 6]);
        for (there, &here) in translation.iter().enumerate() {
            assert_eq!(two.hash(there as u32), one.hash(here), "hashes do not depend on the dictionary");
        }
    }
}
