//! The rows of a part in memory and in files: numbers of 64 bits, concatenated.
//!
//! A row: the size of its set and in the upper half how many words its id has; how many words its bitmap has and in the
//! upper half how many tokens; the id, the bitmap, the tokens, and two places a word.

use std::ops::Range;

use super::{bands, bitmaps, groups};
use crate::error::{Error, Result};
use crate::executor::{self, Stop};
use crate::files::TempFile;
use crate::memory;
use crate::prefetch::prefetch;
use crate::ragged::Ragged;

pub(super) const DOING: &str = "joining a part";
const HEADER: usize = 2;
const HALF: u32 = u32::BITS;

/// What a row shares with its partners, as bytes.
#[derive(Debug, Clone, Copy)]
pub enum Shared<'a> {
    /// The tokens of a prefix, each with its place ([`groups`]).
    Tokens(&'a [u8]),
    /// The keys of bands ([`bands`]), which have no order.
    Keys(&'a [u8]),
}

/// Rows, which know no more of an id than its words.
#[derive(Debug, Default)]
pub struct Rows {
    rows: Ragged<u64>,
    /// How many tokens they have in all.
    tokens: usize,
    /// The rows in ascending order of size, once that was asked for.
    order: Vec<u32>,
}

/// One of them.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a> {
    /// How many tokens the set has.
    pub size: u32,
    words: &'a [u64],
    id: usize,
    bitmap: usize,
    tokens: usize,
}

impl<'a> Row<'a> {
    #[inline]
    fn new(words: &'a [u64]) -> Self {
        let (first, second) = (words[0], words[1]);
        // Both halves are numbers of 32 bits.
        let (size, id) = (first as u32, (first >> HALF) as usize);
        Self { size, words, id, bitmap: second as u32 as usize, tokens: (second >> HALF) as usize }
    }

    /// The words of its id.
    pub fn id(&self) -> &'a [u64] {
        &self.words[HEADER..][..self.id]
    }

    /// Its bitmap.
    #[inline]
    pub fn bitmap(&self) -> &'a [u64] {
        &self.words[HEADER + self.id..][..self.bitmap]
    }

    /// Its tokens in this part, and their places in the order of the set.
    #[inline]
    pub fn tokens(&self) -> impl Iterator<Item = (u64, u32)> + 'a {
        let (tokens, places) = self.words[HEADER + self.id + self.bitmap..].split_at(self.tokens);
        tokens
            .iter()
            .enumerate()
            .map(|(n, &token)| (token, (places[n / 2] >> (HALF as usize * (n % 2))) as u32))
    }
}

impl Rows {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many tokens they have in all.
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.rows.bytes() + memory::bytes(&self.order)
    }

    /// Adds a row from its bytes; after an error all is as before.
    pub fn push(&mut self, id: &[u64], size: u32, bitmap: &[u8], shared: Shared<'_>) -> Result<()> {
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

    fn add(&mut self, id: &[u64], size: u32, bitmap: &[u8], shared: Shared<'_>) -> Result<()> {
        let start = self.rows.values.len();
        let words = bitmaps::parse(bitmap)?;
        let values = &mut self.rows.values;
        memory::reserve(values, HEADER + id.len() + words.len(), DOING)?;
        values.extend([u64::from(size) | (id.len() as u64) << HALF, 0]);
        values.extend(id);
        values.extend(words.iter().map(|&word| u64::from_le_bytes(word)));
        let mut tokens = 0u64;
        let mut places: Vec<u64> = Vec::new();
        let each = |token: u64, place: u32| {
            memory::push(values, token, DOING)?;
            match places.last_mut().filter(|_| tokens % 2 == 1) {
                Some(last) => *last |= u64::from(place) << HALF,
                None => memory::push(&mut places, place.into(), DOING)?,
            }
            tokens += 1;
            Ok(())
        };
        match shared {
            Shared::Tokens(bytes) => groups::for_each_token(bytes, size, each)?,
            Shared::Keys(bytes) => bands::for_each_key(bytes, each)?,
        }
        memory::extend(values, &places, DOING)?;
        // A set has fewer tokens than 32 bits count.
        values[start + 1] = words.len() as u64 | tokens << HALF;
        self.rows.close(DOING)?;
        self.tokens += tokens as usize;
        Ok(())
    }

    /// Puts the rows in ascending order of size.
    pub fn sort(&mut self, stop: &Stop) -> Result<()> {
        let count = self.len();
        // Sizes in front of rows, which are numbered with 32 bits: so a comparison looks no row up.
        let mut keys: Vec<u64> = Vec::new();
        memory::reserve(&mut keys, count, DOING)?;
        keys.extend(self.rows.iter().zip(0..).map(|(row, n)| u64::from(Row::new(row).size) << HALF | n));
        executor::sort_unstable_by(&mut keys, stop, &Ord::cmp)?;
        self.order.clear();
        memory::reserve(&mut self.order, count, DOING)?;
        self.order.extend(keys.iter().map(|&key| key as u32));
        Ok(())
    }

    /// A row by its place in the order of sizes.
    #[inline]
    pub fn get(&self, place: usize) -> Row<'_> {
        Row::new(self.rows.get(self.order[place] as usize))
    }

    /// Asks for the memory of a row, if there is one at this place in the order of sizes.
    #[inline]
    pub fn ask(&self, place: usize) {
        if let Some(&row) = self.order.get(place) {
            let words = self.rows.get(row as usize);
            (0..words.len().min(64)).step_by(8).for_each(|at| prefetch(words, at));
        }
    }

    /// Where the bitmap of a row is among [`Rows::words`].
    pub fn bitmap_of(&self, place: usize) -> Range<usize> {
        let at = self.rows.range(self.order[place] as usize);
        let row = Row::new(&self.rows.values[at.clone()]);
        let start = at.start + HEADER + row.id;
        start..start + row.bitmap
    }

    /// The words of all rows.
    pub fn words(&self) -> &[u64] {
        &self.rows.values
    }

    /// Writes all rows behind what a file has, and forgets them; in runs of about half of them, each with its rows and
    /// words.
    pub fn write(&mut self, file: &mut dyn TempFile) -> Result<Vec<(usize, usize)>> {
        file.write(bytemuck::cast_slice(&self.rows.values))?;
        let middle = self.len() / 2;
        let halves = [0..middle, middle..self.len()].into_iter().filter(|half| !half.is_empty());
        let runs = halves.map(|half| (half.len(), self.rows.range_of(half).len())).collect();
        *self = Self::default();
        Ok(runs)
    }

    /// Reads a run of rows.
    pub fn read(file: &mut dyn TempFile, at: u64, rows: usize, words: usize) -> Result<Self> {
        let mut values = memory::filled(0u64, words, DOING)?;
        file.read(at * size_of::<u64>() as u64, bytemuck::cast_slice_mut(&mut values))?;
        let mut starts = Vec::new();
        memory::reserve(&mut starts, rows + 1, DOING)?;
        starts.push(0);
        let mut tokens = 0;
        for _ in 0..rows {
            let start = starts[starts.len() - 1];
            let row = Row::new(&values[start..]);
            tokens += row.tokens;
            starts.push(start + HEADER + row.id + row.bitmap + row.tokens + row.tokens.div_ceil(2));
        }
        Ok(Self { rows: Ragged::new(values, starts), tokens, order: Vec::new() })
    }
}
