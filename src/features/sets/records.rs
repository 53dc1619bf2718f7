//! Records: the distinct sets of a table in ascending order of size, and the rows whose sets they are.

use std::ops::Range;

use crate::error::Result;
use crate::memory;
use crate::ragged::Ragged;

/// Distinct sets in ascending order of size. Tokens are numbered by ascending frequency.
#[derive(Debug, Default)]
pub struct Records {
    tokens: Ragged<u32>,
    sizes: Vec<u32>,
}

impl Records {
    /// Records with these tokens; `starts` says where each begins and where the last ends.
    pub fn new(tokens: Vec<u32>, starts: Vec<usize>, sizes: Vec<u32>) -> Self {
        debug_assert_eq!(starts.len(), sizes.len() + 1);
        Self { tokens: Ragged::new(tokens, starts), sizes }
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
        self.tokens.get(record)
    }

    /// A copy of some of them.
    pub fn copy(&self, range: Range<usize>) -> Result<Self> {
        const DOING: &str = "taking records apart";
        let mut sizes = Vec::new();
        memory::extend(&mut sizes, &self.sizes[range.clone()], DOING)?;
        Ok(Self { tokens: self.tokens.copy(range, DOING)?, sizes })
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.tokens.bytes() + memory::bytes(&self.sizes)
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

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.rows.bytes()
    }
}
