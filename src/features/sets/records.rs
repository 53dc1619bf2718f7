//! Records: the distinct sets of a table in ascending order of size, and the rows whose sets they are.

use std::ops::Range;

use crate::error::Result;
use crate::memory;
use crate::prefetch::prefetch;
use crate::ragged::Ragged;

/// Distinct sets in ascending order of size. Tokens are numbered by ascending frequency.
#[derive(Debug, Default)]
pub struct Records {
    /// The tokens of all, in parts, and in these in any order: sets stay where they were made.
    parts: Vec<Vec<u32>>,
    /// Where those of each record are.
    places: Vec<Place>,
    sizes: Vec<u32>,
}

/// Where the tokens of a record are.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// In which part.
    pub part: u32,
    /// How many there are.
    pub length: u32,
    /// Where the first one is.
    pub start: usize,
}

impl Records {
    /// Records with these tokens; `starts` says where each begins and where the last ends.
    pub fn new(tokens: Vec<u32>, starts: &[usize], sizes: Vec<u32>) -> Result<Self> {
        let mut places = Vec::new();
        memory::reserve(&mut places, sizes.len(), "placing records")?;
        places.extend(starts.windows(2).map(|ends| Place {
            part: 0,
            length: (ends[1] - ends[0]) as u32,
            start: ends[0],
        }));
        Ok(Self::of_parts(vec![tokens], places, sizes))
    }

    /// Records whose tokens are at these places of some parts.
    pub fn of_parts(parts: Vec<Vec<u32>>, places: Vec<Place>, sizes: Vec<u32>) -> Self {
        debug_assert_eq!(places.len(), sizes.len());
        Self { parts, places, sizes }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// The number of tokens of a record, those that no other record has included.
    #[inline]
    pub fn size(&self, record: usize) -> u32 {
        self.sizes[record]
    }

    /// All sizes, ascending.
    pub fn sizes(&self) -> &[u32] {
        &self.sizes
    }

    /// The tokens of a record that other records may have too, rarest first. They stand after
    /// `size - tokens.len()` still rarer ones, which nothing can be shared of.
    #[inline]
    pub fn tokens(&self, record: usize) -> &[u32] {
        let Place { part, length, start } = self.places[record];
        &self.parts[part as usize][start..][..length as usize]
    }

    /// Asks for the first tokens of a record, if there is such a one: for those that are looked at in order, as their tokens
    /// are all over the memory.
    #[inline]
    pub fn prefetch(&self, record: usize, tokens: usize) {
        /// Tokens in a line of the cache.
        const LINE: usize = 64 / size_of::<u32>();
        if let Some(place) = self.places.get(record) {
            let all = &self.parts[place.part as usize];
            let length = tokens.min(place.length as usize);
            (0..length.div_ceil(LINE)).for_each(|line| prefetch(all, place.start + line * LINE));
        }
    }

    /// Asks for what [`Records::tokens`] and [`Records::prefetch`] look at first.
    #[inline]
    pub fn prefetch_place(&self, record: u32) {
        prefetch(&self.places, record as usize);
    }

    /// A copy of some of them.
    pub fn copy(&self, range: Range<usize>) -> Result<Self> {
        const DOING: &str = "taking records apart";
        let (mut tokens, mut starts, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        memory::extend(&mut sizes, &self.sizes[range.clone()], DOING)?;
        memory::reserve(&mut starts, range.len() + 1, DOING)?;
        starts.push(0);
        memory::reserve(&mut tokens, range.clone().map(|record| self.tokens(record).len()).sum(), DOING)?;
        for record in range {
            tokens.extend_from_slice(self.tokens(record));
            starts.push(tokens.len());
        }
        Self::new(tokens, &starts, sizes)
    }

    /// The tokens of all where they are in one part, as space for others.
    pub fn into_tokens(mut self) -> Option<Vec<u32>> {
        if self.parts.len() == 1 { self.parts.pop() } else { None }
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let tokens: usize = self.parts.iter().map(memory::bytes).sum();
        tokens + memory::bytes(&self.places) + memory::bytes(&self.sizes)
    }
}

/// The rows whose set each record is.
#[derive(Debug, Default)]
pub struct Members {
    rows: Ragged<u32>,
}

impl Members {
    /// Members of records; `starts` says where those of each begin and where the last end.
    pub fn new(rows: Vec<u32>, starts: Vec<usize>) -> Self {
        Self { rows: Ragged::new(rows, starts) }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The rows whose set this is.
    #[inline]
    pub fn rows(&self, record: usize) -> &[u32] {
        self.rows.get(record)
    }

    /// Asks for where the rows of a record are.
    #[inline]
    pub fn prefetch_range(&self, record: u32) {
        self.rows.prefetch_range(record as usize);
    }

    /// Asks for its rows.
    #[inline]
    pub fn prefetch(&self, record: u32) {
        self.rows.prefetch(record as usize);
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.rows.bytes()
    }
}
