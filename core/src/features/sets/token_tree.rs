//! Values of tokens in files, in the order of the tokens: parts of tokens that had to be split
//! again are read as if they had not been.

use std::ops::Range;

use bytemuck::Pod;

use crate::error::Result;
use crate::memory;
use crate::storage::log::Log;

/// Reads a range of a log from its beginning to its end.
#[derive(Debug, Default)]
pub(super) struct LogCursor<T> {
    rest: Range<u64>,
    /// The number of records that are read at one time.
    piece: usize,
    records: Vec<T>,
    next: usize,
}

impl<T: Pod> LogCursor<T> {
    /// Begins with the first record of the range.
    pub(super) fn new(range: Range<u64>, piece: usize) -> Self {
        Self { rest: range, piece, records: Vec::new(), next: 0 }
    }

    /// Returns the next record; there must be one.
    #[inline]
    pub(super) fn next(&mut self, log: &mut Log<T>) -> Result<T> {
        if self.next == self.records.len() {
            self.fill(log)?;
        }
        self.next += 1;
        Ok(self.records[self.next - 1])
    }

    #[cold]
    fn fill(&mut self, log: &mut Log<T>) -> Result<()> {
        let length = (self.rest.end - self.rest.start).min(self.piece as u64);
        memory::clear(&mut self.records);
        log.append(self.rest.start, length as usize, &mut self.records)?;
        self.rest.start += length;
        self.next = 0;
        Ok(())
    }
}

/// A token in a file, which the bits of a hash assign to a part.
pub(super) trait HashedToken: Pod {
    /// Returns the bits of the hash that did not choose the first part, from the uppermost bit on.
    fn rest_of_hash(&self) -> u64;
}

/// A part of the tokens.
pub(super) enum TokenTree<T> {
    /// The values of these tokens are in this range of the log of all values.
    Leaf(Range<u64>, LogCursor<u32>),
    /// The tokens are in several smaller parts; here they are in their order.
    Split { tokens: Log<T>, cursor: LogCursor<T>, digit: HashDigit, parts: Vec<TokenTree<T>> },
}

/// Some bits of a hash.
#[derive(Debug, Clone, Copy)]
pub(super) struct HashDigit {
    /// The number of bits above them.
    pub(super) above: u32,
    pub(super) bits: u32,
}

impl HashDigit {
    /// Returns the part of a token.
    #[inline]
    pub(super) fn part(self, token: &impl HashedToken) -> usize {
        (token.rest_of_hash() << self.above >> (u64::BITS - self.bits)) as usize
    }
}

impl<T: HashedToken> TokenTree<T> {
    /// Returns the number of files that are read at a time.
    pub(super) fn count(&self) -> usize {
        match self {
            Self::Leaf(..) => 1,
            Self::Split { parts, .. } => 1 + parts.iter().map(Self::count).sum::<usize>(),
        }
    }

    /// Goes to the first token; so many values are read at one time.
    pub(super) fn rewind(&mut self, piece: usize) {
        match self {
            Self::Leaf(range, cursor) => *cursor = LogCursor::new(range.clone(), piece),
            Self::Split { tokens, cursor, parts, .. } => {
                *cursor = LogCursor::new(0..tokens.len(), piece);
                parts.iter_mut().for_each(|part| part.rewind(piece));
            }
        }
    }

    /// Returns the value of the next token; there must be one.
    pub(super) fn next(&mut self, values: &mut Log<u32>) -> Result<u32> {
        match self {
            Self::Leaf(_, cursor) => cursor.next(values),
            Self::Split { tokens, cursor, digit, parts } => {
                let token = cursor.next(tokens)?;
                parts[digit.part(&token)].next(values)
            }
        }
    }
}
