//! Tokens that have no number in a dictionary, in temporary files: those of a full dictionary, and
//! those that are numbers.
//!
//! Each token goes to the file of a range of hashes, and another file keeps the ranges of the
//! tokens of each set. When all sets are known, the tokens of each range are sorted and counted in
//! memory. The places of the counts, and later the ranks, are written in the order of the tokens,
//! so that each set finds its ranks by reading all files from their beginnings to their ends. So
//! sets can have any number of distinct tokens in any memory.

use bytemuck::Pod;

use super::equal_tokens::CountedToken;
use super::overflow::OverflowToken;
use super::token_tree::HashedToken;
use crate::error::Result;
use crate::features::dictionary::lookup::ContentKind;
use crate::hash::unmix;
use crate::storage::files::TempFiles;
use crate::storage::log::Log;

/// The number of bits of a hash that choose among the files.
pub(super) const PART_BITS: u32 = 6;
pub(super) const PARTS: usize = 1 << PART_BITS;
/// The number of bytes that are written at one time. In tests it is so small that nothing is held.
pub(super) const WRITE: usize = if cfg!(test) { 16 } else { 1 << 14 };
/// What ends a set in the file of the order.
pub(super) const END: u8 = u8::MAX;

/// A token of a file.
pub(super) trait FileToken: CountedToken + HashedToken + Send {
    /// Returns the content of the token, given the number of its first part.
    fn content(&self, part: usize) -> (ContentKind, [u64; 2]);
}

/// The lower bits of a hash, and the bit that is set if the token repeats.
impl HashedToken for u64 {
    #[inline]
    fn rest_of_hash(&self) -> u64 {
        *self
    }
}

impl FileToken for u64 {
    fn content(&self, part: usize) -> (ContentKind, [u64; 2]) {
        let hash = (part as u64) << (u64::BITS - PART_BITS) | self >> PART_BITS;
        (ContentKind::Number, [unmix(hash), 0])
    }
}

impl HashedToken for OverflowToken {
    #[inline]
    fn rest_of_hash(&self) -> u64 {
        self.sort_key() << PART_BITS
    }
}

impl FileToken for OverflowToken {
    fn content(&self, _: usize) -> (ContentKind, [u64; 2]) {
        self.kind_and_content()
    }
}

/// The tokens of a range of hashes, in the order of the sets.
pub(super) struct TokenPart<T> {
    pub(super) tokens: Log<T>,
    /// The number of the first token of the right table.
    pub(super) right_from: u64,
}

impl<T: Pod> TokenPart<T> {
    /// Returns so many parts without tokens.
    pub(super) fn some(count: usize) -> Vec<Self> {
        (0..count).map(|_| Self { tokens: Log::new(WRITE), right_from: u64::MAX }).collect()
    }

    /// Adds a token of the next set.
    #[inline]
    pub(super) fn push(&mut self, token: T, is_right: bool, files: &dyn TempFiles) -> Result<()> {
        if is_right {
            self.right_from = self.right_from.min(self.tokens.len());
        }
        self.tokens.push(token, files)
    }
}

/// The tokens of all sets, in files.
pub(super) struct TokenFiles<'a> {
    pub(super) files: &'a dyn TempFiles,
    pub(super) words: Vec<TokenPart<OverflowToken>>,
    pub(super) numbers: Vec<TokenPart<u64>>,
    /// For each token of each set, the number of its part; those of numbers follow those of words.
    pub(super) order: Log<u8>,
    /// The number of the first set in `order`.
    pub(super) first: u32,
}

impl<'a> TokenFiles<'a> {
    /// Creates files without tokens. The next set has the number `first`.
    pub(super) fn new(files: &'a dyn TempFiles, first: u32) -> Self {
        Self {
            files,
            words: TokenPart::some(PARTS),
            numbers: TokenPart::some(PARTS),
            order: Log::new(WRITE),
            first,
        }
    }

    /// Adds the tokens of the next set: those of a full dictionary, and the hashes of those that
    /// are numbers, equal ones next to each other.
    pub(super) fn push_set(&mut self, words: &[OverflowToken], hashes: &[u64], is_right: bool) -> Result<()> {
        for token in words {
            let part = (token.sort_key() >> (u64::BITS - PART_BITS)) as usize;
            self.words[part].push(*token, is_right, self.files)?;
            self.order.push(part as u8, self.files)?;
        }
        let mut last = None;
        for &hash in hashes {
            let repeats = last.replace(hash) == Some(hash);
            let part = (hash >> (u64::BITS - PART_BITS)) as usize;
            self.numbers[part].push(hash << PART_BITS | u64::from(repeats), is_right, self.files)?;
            self.order.push((PARTS + part) as u8, self.files)?;
        }
        self.order.push(END, self.files)
    }
}

#[cfg(test)]
mod tests;
