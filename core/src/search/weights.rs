//! What the words of a ball or of an index weigh: a list of words and weights, with their keys.
//!
//! | bytes of each word, ascending by word, little-endian | |
//! | --- | --- |
//! | 0, 1 | its weight, less than [`GREATEST`]: other words are as if they were not in the list |
//! | 2 to 5 | the length of the word |
//! | from 6 on | the word as texts are cut, UTF-8 |
//!
//! A token's weight follows from its key: no word has the key of another word, and a token that is
//! not in the list has the next key that is of no word. So a set of keys weighs just what the set
//! of its tokens weighs.

use std::sync::Arc;

use super::json::{JsonReader, JsonWriter};
use crate::error::Result;
use crate::features::FeatureSpec;
use crate::features::dictionary::weights::{GREATEST, MOST, TOO_HEAVY, WordWeights, squared};
use crate::features::tokens::Token;
use crate::memory;

const DOING: &str = "weighing words";

/// The weight that counts as a hit of a search, where words weigh.
pub(super) const HIT: u32 = GREATEST as u32 / 64;

/// A list of words that are not as heavy as others, in the form in which balls and indexes keep it.
#[derive(Debug)]
pub struct KeyWeights {
    words: Arc<WordWeights>,
    bytes: Vec<u8>,
    /// The key and the weight of each word, by its place among the words.
    of_words: Vec<(u32, u16)>,
    /// The same, ascending by key.
    by_key: Vec<(u32, u16)>,
}

impl PartialEq for KeyWeights {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl KeyWeights {
    /// Returns the bytes of a list. Empty if all words weigh the same. O(words · log words).
    pub fn bytes_of(words: &WordWeights) -> Result<Vec<u8>> {
        let mut light = Vec::new();
        for (word, weight) in words.tokens().filter(|(_, weight)| *weight < GREATEST) {
            memory::push(&mut light, (word, weight), DOING)?;
        }
        light.sort_unstable();
        let mut bytes = Vec::new();
        light.iter().try_for_each(|(word, weight)| Self::append(&mut bytes, word, *weight))?;
        Ok(bytes)
    }

    /// Appends a word to the bytes of a list.
    fn append(bytes: &mut Vec<u8>, word: &[u8], weight: u16) -> Result<()> {
        memory::extend(bytes, &weight.to_le_bytes(), DOING)?;
        memory::extend(bytes, &(word.len() as u32).to_le_bytes(), DOING)?;
        memory::extend(bytes, word, DOING)
    }

    /// Returns each word of a list, or `None` in its place where the bytes are none.
    fn each(mut bytes: &[u8]) -> impl Iterator<Item = Option<(&str, u16)>> {
        let mut next = move || {
            let (weight, rest) = bytes.split_first_chunk()?;
            let (length, rest) = rest.split_first_chunk()?;
            let (word, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
            bytes = rest;
            Some((std::str::from_utf8(word).ok()?, u16::from_le_bytes(*weight), rest.is_empty()))
        };
        let mut is_last = bytes.is_empty();
        std::iter::from_fn(move || {
            if is_last {
                return None;
            }
            let found = next();
            is_last = found.is_none_or(|(.., is_last)| is_last);
            Some(found.map(|(word, weight, _)| (word, weight)))
        })
    }

    /// Reads a list for texts that are cut in this way. If `squares` is true, each word counts with
    /// the square of its weight. Returns `None` if the bytes are no list. O(words · log words).
    pub fn parse(bytes: &[u8], spec: FeatureSpec, squares: bool) -> Result<Option<Self>> {
        let (mut words, mut of_words) = (WordWeights::new(spec), Vec::new());
        let mut last = None;
        for found in Self::each(bytes) {
            let Some((word, weight)) = found.filter(|(word, weight)| {
                (1..GREATEST).contains(weight) && last.is_none_or(|last| last < *word)
            }) else {
                return Ok(None);
            };
            last = Some(word);
            let token = Token::Bytes(word.as_bytes());
            words.add_token(token, f64::from(weight) / f64::from(GREATEST))?;
            let weight = if squares { squared(weight) } else { weight };
            memory::push(&mut of_words, ((token.hash() >> u32::BITS) as u32, weight), DOING)?;
        }
        let places = of_words.iter().zip(0..).map(|(&(key, _), place): (_, usize)| (key, place));
        let mut places = memory::collect(places, DOING)?;
        places.sort_unstable();
        // Of several words with a key, the first one keeps it.
        let is_first = |at: usize| at == 0 || places[at - 1].0 != places[at].0;
        let first = (0..places.len()).filter(|&at| is_first(at)).map(|at| of_words[places[at].1]);
        let mut by_key: Vec<(u32, u16)> = memory::collect(first, DOING)?;
        for at in (0..places.len()).filter(|&at| !is_first(at)) {
            let (key, weight) = &mut of_words[places[at].1];
            *key = free_key(&by_key, *key);
            memory::reserve(&mut by_key, 1, DOING)?;
            by_key.insert(by_key.partition_point(|(other, _)| other < key), (*key, *weight));
        }
        let mut own = Vec::new();
        memory::extend(&mut own, bytes, DOING)?;
        Ok((!by_key.is_empty()).then(|| Self { words: Arc::new(words), bytes: own, of_words, by_key }))
    }

    /// Returns the bytes of the list.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the words and their weights, ascending.
    pub fn list(&self) -> impl Iterator<Item = (&str, u16)> {
        Self::each(&self.bytes).flatten()
    }

    /// Writes the list as text: `["gmbh",410]`.
    pub(super) fn write_text(&self, writer: &mut JsonWriter<'_>) -> Result<()> {
        writer.list(self.list(), |writer, (word, weight)| {
            writer.string(word)?;
            writer.put(&format!(",{weight}"))
        })
    }

    /// Reads the text of a list and the colon after it, and returns the bytes of the list. Returns
    /// `None` if it is none.
    pub(super) fn read_text(reader: &mut JsonReader<'_>) -> Result<Option<Vec<u8>>> {
        let (mut list, mut word, mut fits) = (Vec::new(), None::<Vec<u8>>, true);
        reader.list(|reader| match word.take() {
            None => reader.string(word.insert(Vec::new())),
            Some(word) => {
                let weight = u16::try_from(reader.number()?);
                fits &= weight.is_ok();
                Self::append(&mut list, &word, weight.unwrap_or(0))
            }
        })?;
        Ok((fits && word.is_none() && reader.takes(':') && !list.is_empty()).then_some(list))
    }

    /// Returns the words, as joins take them.
    pub fn words(&self) -> &Arc<WordWeights> {
        &self.words
    }

    fn word(&self, token: Token<'_>) -> Result<Option<(u32, u16)>> {
        Ok(self.words.place_of(token)?.map(|place| self.of_words[place]))
    }

    /// Returns the key of a token.
    pub fn key(&self, token: Token<'_>) -> Result<u32> {
        let known = self.word(token)?.map(|(key, _)| key);
        Ok(known.unwrap_or_else(|| free_key(&self.by_key, (token.hash() >> u32::BITS) as u32)))
    }

    /// Returns the weight of a token, by its key.
    #[inline]
    pub fn of_key(&self, key: u32) -> u32 {
        let place = self.by_key.binary_search_by_key(&key, |(key, _)| *key);
        place.map_or(GREATEST, |place| self.by_key[place].1).into()
    }

    /// Returns how many hits a token is: at least what it weighs.
    pub(super) fn hits(&self, key: u32) -> u32 {
        self.of_key(key).div_ceil(HIT)
    }

    /// Returns the weight of a token, by its bytes.
    pub fn of_token(&self, token: &[u8]) -> Result<u32> {
        Ok(self.word(Token::Bytes(token))?.map_or(GREATEST, |(_, weight)| weight).into())
    }
}

/// Returns the first key from `key` on that none of these words has. Keys go on from 0.
fn free_key(words: &[(u32, u16)], mut key: u32) -> u32 {
    while words.binary_search_by_key(&key, |(key, _)| *key).is_ok() {
        key = key.wrapping_add(1);
    }
    key
}

/// Returns the weight of a set. Fails if it has more than 32 bits.
pub(super) fn sum(mut weights: impl Iterator<Item = Result<u32>>) -> Result<u32> {
    let sum = weights.try_fold(0, |sum: u64, weight| Ok(sum + u64::from(weight?)))?;
    u32::try_from(sum).ok().filter(|&sum| sum <= MOST).ok_or(TOO_HEAVY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::Stop;

    fn list(words: &[(&str, f64)]) -> Vec<u8> {
        let mut list = WordWeights::new(FeatureSpec::WORDS);
        for &(word, weight) in words {
            assert_eq!(list.add(word.to_owned(), weight, &Stop::default()), Ok(None));
        }
        KeyWeights::bytes_of(&list).unwrap()
    }

    /// The bytes are part of balls.
    #[test]
    fn lists_stay_as_they_are() {
        let bytes = list(&[("Limited", 0.1), ("GmbH", 0.5), ("Zyntherion", 1.0)]);
        assert_eq!(bytes, [&[0, 8, 4, 0, 0, 0][..], b"gmbh", &[154, 1, 7, 0, 0, 0], b"limited"].concat());
        let weights = KeyWeights::parse(&bytes, FeatureSpec::WORDS, false).unwrap().unwrap();
        assert_eq!(weights.list().collect::<Vec<_>>(), [("gmbh", 2048), ("limited", 410)]);
        assert_eq!(KeyWeights::bytes_of(weights.words()), Ok(bytes.clone()));
        let squares = KeyWeights::parse(&bytes, FeatureSpec::WORDS, true).unwrap().unwrap();
        for (word, [plain, square]) in [("gmbh", [2048, 1024]), ("limited", [410, 41]), ("x", [4096; 2])] {
            let token = word.as_bytes();
            let key = weights.key(Token::Bytes(token)).unwrap();
            assert_eq!([weights.of_key(key), squares.of_key(key)], [plain, square]);
            assert_eq!([weights.of_token(token), squares.of_token(token)], [Ok(plain), Ok(square)]);
        }
        // In proportion to the heaviest word, which weighs at least 1.
        assert_eq!(list(&[("Limited", 1.0), ("GmbH", 5.0), ("Zyntherion", 10.0)]), bytes);
        assert!(list(&[("gmbh", 2.0), ("limited", 2.0)]).is_empty());
        for end in 0..bytes.len() {
            let cut = KeyWeights::parse(&bytes[..end], FeatureSpec::WORDS, false).unwrap();
            assert_eq!(cut.is_some(), end == 10, "{end}");
        }
        for (at, with) in [(0, [0, 0]), (0, [0, 16]), (6, [b'm', b'm']), (8, [0xff, 0xff])] {
            let mut bytes = bytes.clone();
            bytes[at..at + 2].copy_from_slice(&with);
            assert_eq!(KeyWeights::parse(&bytes, FeatureSpec::WORDS, false).unwrap(), None, "{at}");
        }
    }

    #[test]
    fn no_two_weights_have_a_key_in_common() {
        assert_eq!(free_key(&[], 7), 7);
        let words = [(0, 1), (7, 1), (8, 2), (u32::MAX, 3)];
        assert_eq!([6, 7, 8, 9, u32::MAX].map(|key| free_key(&words, key)), [6, 9, 9, 9, 1]);
    }

    #[test]
    fn weights_have_32_bits() {
        assert_eq!(sum([Ok(MOST)].into_iter()), Ok(MOST));
        assert_eq!(sum([Ok(MOST), Ok(1)].into_iter()), Err(TOO_HEAVY));
    }
}
