//! The order of tokens that defines prefixes: rare tokens first. It is derived from a sample and is
//! the same for all parts.
//!
//! Tokens that are not listed are the rarest. They come first, ordered by their hashes. Any order
//! gives the same pairs; a better one gives fewer candidates.
//!
//! | bytes | |
//! | --- | --- |
//! | 0 | version of this format |
//! | 1 to 7 | 0 |
//! | 8 for each | hashes of tokens, in ascending order |
//! | 4 for each | their ranks from 1 on: the greater, the more frequent |

use std::ops::Range;

use crate::error::{Error, Result, split_header};
use crate::executor::Stop;
use crate::memory;
use crate::set_index::token_counts::TokenCounts;
use crate::simd::prefetch::prefetch;

/// The name of the value, for error messages.
const NAME: &str = "order of tokens";
const VERSION: u8 = 1;
const HEADER: usize = 8;
const DOING: &str = "ordering tokens";

fn bad(why: impl Into<String>) -> Error {
    Error::Malformed { what: NAME, why: why.into() }
}

/// The ranks of the frequent tokens, in their encoded form.
#[derive(Debug, Clone, Copy)]
pub struct TokenRanks<'a> {
    hashes: &'a [[u8; size_of::<u64>()]],
    ranks: &'a [[u8; size_of::<u32>()]],
    places: Option<&'a TokenPlaces>,
}

/// An index of the tokens by the upper bits of their hashes, which speeds up the lookup of the
/// ranks of many sets.
#[derive(Debug)]
pub struct TokenPlaces {
    /// The place of the first token for each value of these bits, followed by the number of tokens.
    starts: Vec<u32>,
    shift: u32,
}

impl TokenPlaces {
    /// Computes the places of the tokens of ranks. O(n) for n tokens.
    pub fn new(ranks: &TokenRanks<'_>) -> Result<Self> {
        let count = ranks.len();
        if u32::try_from(count).is_err() {
            return Err(Error::TooMany { what: "tokens that have ranks", limit: u32::MAX.into() });
        }
        // There are at least two values, because a number cannot be shifted by all of its bits.
        let values = count.next_power_of_two().max(2);
        let shift = u64::BITS - values.trailing_zeros();
        let mut starts = memory::filled(count as u32, values + 1, DOING)?;
        let mut value = 0;
        for place in 0..count {
            // In unchecked bytes, tokens may be in any order and are then not found.
            while value <= (ranks.hash(place) >> shift) as usize {
                starts[value] = place as u32;
                value += 1;
            }
        }
        Ok(Self { starts, shift })
    }
}

impl<'a> TokenRanks<'a> {
    /// Parses ranks. Fails for malformed bytes. O(1).
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let (header, rest) = split_header::<HEADER>(NAME, bytes, VERSION)?;
        if header[1..] != [0; HEADER - 1] {
            return Err(bad("reserved bytes are not 0"));
        }
        let count = rest.len() / (size_of::<u64>() + size_of::<u32>());
        let (hashes, ranks) = rest.split_at(count * size_of::<u64>());
        let (ranks, left_over) = ranks.as_chunks();
        if ranks.len() != count || !left_over.is_empty() {
            return Err(bad(format!("{} bytes are no whole number of tokens", bytes.len())));
        }
        Ok(Self { hashes: hashes.as_chunks().0, ranks, places: None })
    }

    /// Returns the number of listed tokens.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns the same ranks with faster lookup.
    pub fn with(self, places: &'a TokenPlaces) -> Self {
        Self { places: Some(places), ..self }
    }

    /// Returns the rank of a token, or 0 if it is not listed.
    pub fn rank(&self, hash: u64) -> u32 {
        self.within(0..self.len(), hash)
    }

    /// Returns the ranks of several tokens, as [`TokenRanks::rank`] returns them. If places are
    /// known, the memory of all tokens is fetched in parallel.
    pub fn of_each<const N: usize>(&self, hashes: [u64; N]) -> [u32; N] {
        let Some(TokenPlaces { starts, shift }) = self.places else {
            return hashes.map(|hash| self.rank(hash));
        };
        // Loops, because the functions of arrays are calls where no link-time optimisation is made.
        for hash in hashes {
            prefetch(starts, (hash >> shift) as usize);
        }
        let mut places = [(0, 0); N];
        for (place, hash) in places.iter_mut().zip(hashes) {
            let value = (hash >> shift) as usize;
            *place = (starts[value] as usize, starts[value + 1] as usize);
            prefetch(self.hashes, place.0);
            prefetch(self.ranks, place.0);
        }
        let mut ranks = [0; N];
        for ((rank, (start, end)), hash) in ranks.iter_mut().zip(places).zip(hashes) {
            *rank = self.within(start..end, hash);
        }
        ranks
    }

    #[inline]
    fn hash(&self, place: usize) -> u64 {
        u64::from_le_bytes(self.hashes[place])
    }

    /// Returns the rank of a token that is at one of these places if it is listed.
    #[inline]
    fn within(&self, places: Range<usize>, hash: u64) -> u32 {
        let Range { start: mut low, end: mut high } = places;
        while low < high {
            let middle = low.midpoint(high);
            if self.hash(middle) < hash { low = middle + 1 } else { high = middle }
        }
        let listed = low < self.len() && self.hash(low) == hash;
        if listed { u32::from_le_bytes(self.ranks[low]) } else { 0 }
    }
}

/// Returns the encoded order of the `keep` most frequent tokens. Tokens that only one set has are
/// left out.
pub fn ranks(counts: &mut TokenCounts<u64>, keep: usize, stop: &Stop) -> Result<Vec<u8>> {
    // Ranks fit into 32 bits, because a value of the server holds fewer than 2^32 tokens.
    let ranked = counts.ranks(keep, stop)?;
    let mut bytes = Vec::new();
    memory::reserve(&mut bytes, HEADER + ranked.len() * (size_of::<u64>() + size_of::<u32>()), DOING)?;
    bytes.push(VERSION);
    bytes.extend([0; HEADER - 1]);
    ranked.iter().for_each(|(hash, _)| bytes.extend(hash.to_le_bytes()));
    ranked.iter().for_each(|(_, rank)| bytes.extend(rank.to_le_bytes()));
    Ok(bytes)
}
