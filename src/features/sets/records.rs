//! Records: the distinct sets of a table in ascending order of size, and the rows whose sets they are.

use std::ops::Range;

use crate::error::Result;
use crate::memory;

/// Distinct sets in ascending order of size. Tokens are numbered by ascending frequency.
#[derive(Debug, Default)]
pub struct Records {
    tokens: Vec<u32>,
    starts: Vec<usize>,
    sizes: Vec<u32>,
}

impl Records {
    /// Records with these tokens; `starts` says where each begins and where the last ends.
    pub fn new(tokens: Vec<u32>, starts: Vec<usize>, sizes: Vec<u32>) -> Self {
        debug_assert_eq!(starts.len(), sizes.len() + 1);
        Self { tokens, starts, sizes }
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

    /// The tokens of a record that other records may have too, rarest first. They stand behind
    /// `size - tokens.len()` still rarer ones, which nothing can be shared of.
    #[inline]
    pub fn tokens(&self, record: usize) -> &[u32] {
        &self.tokens[self.starts[record]..self.starts[record + 1]]
    }

    /// A copy of some of them.
    pub fn copy(&self, range: Range<usize>) -> Result<Self> {
        const DOING: &str = "taking records apart";
        let (from, to) = (self.starts[range.start], self.starts[range.end]);
        let (mut tokens, mut starts, mut sizes) = (Vec::new(), Vec::new(), Vec::new());
        memory::extend(&mut tokens, &self.tokens[from..to], DOING)?;
        memory::extend(&mut sizes, &self.sizes[range.clone()], DOING)?;
        memory::extend(&mut starts, &self.starts[range.start..=range.end], DOING)?;
        starts.iter_mut().for_each(|start| *start -= from);
        Ok(Self { tokens, starts, sizes })
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.tokens) + memory::bytes(&self.starts) + memory::bytes(&self.sizes)
    }
}

/// The rows whose set each record is.
#[derive(Debug, Default)]
pub struct Members {
    rows: Vec<u32>,
    starts: Vec<usize>,
}

impl Members {
    /// Members of records; `starts` says where those of each begin and where the last end.
    pub fn new(rows: Vec<u32>, starts: Vec<usize>) -> Self {
        Self { rows, starts }
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The rows whose set this is.
    #[inline]
    pub fn rows(&self, record: usize) -> &[u32] {
        &self.rows[self.starts[record]..self.starts[record + 1]]
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.rows) + memory::bytes(&self.starts)
    }
}
