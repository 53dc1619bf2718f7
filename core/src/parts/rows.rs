//! The rows of a part in memory and in files: 64-bit words, concatenated.
//!
//! A row consists of these words: the id of its document; the size of its set; in 16 bits each, the
//! number of words of its bitmap and of its earlier marks, with the number of tokens in the upper
//! half; the bitmap, the earlier marks, the scrambled tokens, and the places of the tokens, two to
//! a word.

use std::ops::Range;

use super::{bitmaps, earlier, filtered_keys, groups};
use crate::error::{Error, Result};
use crate::executor::{self, Stop};
use crate::hash;
use crate::memory;
use crate::simd::prefetch::prefetch;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;
use crate::storage::rows::Ragged;

pub(super) const DOING: &str = "joining a part";
const HEADER: usize = 3;
const HALF: u32 = u32::BITS;
const QUARTER: u32 = u16::BITS;

/// The encoded tokens or keys of a row, of which it shares at least one with each partner.
#[derive(Debug, Clone, Copy)]
pub enum Shared<'a> {
    /// The tokens of a prefix, each with its place ([`groups`]).
    Tokens(&'a [u8]),
    /// The keys of bands ([`filtered_keys`]), which have no order.
    Keys(&'a [u8]),
}

/// Rows.
#[derive(Debug, Default)]
pub struct WireRows {
    rows: Ragged<u64>,
    /// The number of tokens of all rows.
    tokens: usize,
    /// The rows in ascending order of size, once they have been sorted.
    order: Vec<u32>,
}

/// A row.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// The number of tokens of the set.
    pub size: u32,
    words: &'a [u64],
    bitmap: usize,
    earlier: usize,
    tokens: usize,
}

/// Rows that were written to a file.
#[derive(Debug, Clone, Copy)]
pub struct WrittenRows {
    /// The start of the run, in words.
    at: u64,
    rows: usize,
    words: usize,
}

impl<'a> Row<'a> {
    #[inline]
    fn new(words: &'a [u64]) -> Self {
        let lengths = words[2];
        let (bitmap, earlier) = (lengths as u16 as usize, (lengths >> QUARTER) as u16 as usize);
        // A size has 32 bits.
        Self { size: words[1] as u32, words, bitmap, earlier, tokens: (lengths >> HALF) as usize }
    }

    /// Returns the number of words.
    fn len(&self) -> usize {
        HEADER + self.bitmap + self.earlier + self.tokens + self.tokens.div_ceil(2)
    }

    /// Returns the id.
    pub fn id(&self) -> u64 {
        self.words[0]
    }

    /// Returns the bitmap.
    #[inline]
    pub fn bitmap(&self) -> &'a [u64] {
        &self.words[HEADER..][..self.bitmap]
    }

    /// Returns the words of the earlier marks. Rows that share one of them are candidates in an
    /// earlier part.
    #[inline]
    pub fn earlier(&self) -> &'a [u64] {
        &self.words[HEADER + self.bitmap..][..self.earlier]
    }

    /// Returns the tokens in this part, scrambled, and their places in the order of the set.
    #[inline]
    pub fn tokens(&self) -> impl Iterator<Item = (u64, u32)> + 'a {
        let (tokens, places) = self.words[HEADER + self.bitmap + self.earlier..].split_at(self.tokens);
        tokens
            .iter()
            .enumerate()
            .map(|(n, &token)| (token, (places[n / 2] >> (HALF as usize * (n % 2))) as u32))
    }
}

impl WireRows {
    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Reports whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns the number of tokens of all rows.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + memory::bytes(&self.order)
    }

    /// Adds a row from its encoded form. After an error nothing has changed.
    pub fn push(&mut self, id: u64, size: u32, bitmap: &[u8], shared: Shared<'_>) -> Result<()> {
        if u32::try_from(self.rows.len() + 1).is_err() {
            return Err(Error::TooMany { what: "rows in memory", limit: u32::MAX.into() });
        }
        let start = self.rows.values.len();
        let added = self.add(id, size, bitmap, shared);
        if added.is_err() {
            self.rows.values.truncate(start);
        }
        added
    }

    fn add(&mut self, id: u64, size: u32, bitmap: &[u8], shared: Shared<'_>) -> Result<()> {
        let start = self.rows.values.len();
        let words = bitmaps::parse(bitmap)?;
        let values = &mut self.rows.values;
        memory::reserve(values, HEADER + words.len(), DOING)?;
        values.extend([id, size.into(), 0]);
        values.extend(words.iter().map(|&word| u64::from_le_bytes(word)));
        let (bytes, name) = match shared {
            Shared::Tokens(bytes) => (bytes, groups::NAME),
            Shared::Keys(bytes) => (bytes, filtered_keys::NAME),
        };
        let earlier = earlier::append(bytes, name, values, DOING)?;
        let mut tokens = 0u64;
        let mut places: Vec<u64> = Vec::new();
        let mut each = |token: u64, place: u32| {
            memory::push(values, token, DOING)?;
            match places.last_mut().filter(|_| tokens % 2 == 1) {
                Some(last) => *last |= u64::from(place) << HALF,
                None => memory::push(&mut places, place.into(), DOING)?,
            }
            tokens += 1;
            Ok(())
        };
        match shared {
            Shared::Tokens(bytes) => {
                groups::for_each_token(bytes, size, |token, place| each(hash::mix(token), place))?;
            }
            Shared::Keys(bytes) => filtered_keys::for_each_key(bytes, each)?,
        }
        memory::extend(values, &places, DOING)?;
        // A set has at most `u32::MAX` tokens.
        values[start + 2] = words.len() as u64 | earlier << QUARTER | tokens << HALF;
        self.rows.close(DOING)?;
        self.tokens += tokens as usize;
        Ok(())
    }

    /// Returns the rows that may share a mark of this part with one of `others`, in the order in
    /// which they were added. A few of them share none.
    pub fn sharing(&self, others: &Self, stop: &Stop) -> Result<Self> {
        /// The bits for each mark, of which one is set.
        const BITS: usize = 16;
        const WORD: usize = u64::BITS as usize;
        let words = (others.tokens.saturating_mul(BITS) / WORD + 1).next_power_of_two();
        let mut filter = memory::filled(0u64, words, DOING)?;
        let bit = |token: u64| {
            let bit = hash::mix(earlier::mark(token).into()) as usize & (words * WORD - 1);
            (bit / WORD, 1 << (bit % WORD))
        };
        for row in others.rows.iter() {
            stop.check()?;
            for (token, _) in Row::new(row).tokens() {
                let (word, bit) = bit(token);
                filter[word] |= bit;
            }
        }
        let mut kept = Self::default();
        for words in self.rows.iter() {
            stop.check()?;
            let row = Row::new(words);
            if row.tokens().any(|(token, _)| matches!(bit(token), (word, bit) if filter[word] & bit != 0)) {
                memory::extend(&mut kept.rows.values, words, DOING)?;
                kept.rows.close(DOING)?;
                kept.tokens += row.tokens;
            }
        }
        Ok(kept)
    }

    /// Sorts the rows in ascending order of size.
    pub fn sort(&mut self, stop: &Stop) -> Result<()> {
        // The upper half of a key is a size and the lower half is the row's number, so comparisons
        // need not look up rows.
        let keys = self.rows.iter().zip(0..).map(|(row, n)| u64::from(Row::new(row).size) << HALF | n);
        let mut keys: Vec<u64> = memory::collect(keys, DOING)?;
        executor::sort_unstable_by(&mut keys, stop, &Ord::cmp)?;
        memory::refill(&mut self.order, keys.iter().map(|&key| key as u32), DOING)
    }

    /// Returns a row by its place in the order of sizes.
    #[inline]
    pub fn get(&self, place: usize) -> Row<'_> {
        Row::new(self.rows.get(self.order[place] as usize))
    }

    /// Prefetches the memory of a row, if there is one at this place in the order of sizes.
    #[inline]
    pub fn ask(&self, place: usize) {
        if let Some(&row) = self.order.get(place) {
            let words = self.rows.get(row as usize);
            (0..words.len().min(64)).step_by(8).for_each(|at| prefetch(words, at));
        }
    }

    /// Returns the range of a row's bitmap in [`WireRows::words`].
    pub fn bitmap_of(&self, place: usize) -> Range<usize> {
        let at = self.rows.range(self.order[place] as usize);
        let row = Row::new(&self.rows.values[at.clone()]);
        let start = at.start + HEADER;
        start..start + row.bitmap
    }

    /// Returns the words of all rows.
    pub fn words(&self) -> &[u64] {
        &self.rows.values
    }

    /// Appends all rows to a file and removes them. Each half of the rows becomes a run, if it has
    /// any.
    pub fn write(
        &mut self,
        runs: &mut Vec<WrittenRows>,
        file: &mut Log<u64>,
        files: &dyn TempFiles,
    ) -> Result<()> {
        let mut at = file.len();
        file.extend(&self.rows.values, files)?;
        let middle = self.len() / 2;
        for half in [0..middle, middle..self.len()].into_iter().filter(|half| !half.is_empty()) {
            let (rows, words) = (half.len(), self.rows.range_of(half).len());
            memory::push(runs, WrittenRows { at, rows, words }, DOING)?;
            at += words as u64;
        }
        *self = Self::default();
        Ok(())
    }

    /// Reads a run of rows.
    pub fn read(file: &mut Log<u64>, &WrittenRows { at, rows, words }: &WrittenRows) -> Result<Self> {
        let mut values = Vec::new();
        file.append(at, words, &mut values)?;
        let mut starts = Vec::new();
        memory::reserve(&mut starts, rows + 1, DOING)?;
        starts.push(0);
        let mut tokens = 0;
        for _ in 0..rows {
            let start = starts[starts.len() - 1];
            let row = Row::new(&values[start..]);
            tokens += row.tokens;
            starts.push(start + row.len());
        }
        Ok(Self { rows: Ragged::new(values, starts), tokens, order: Vec::new() })
    }
}
