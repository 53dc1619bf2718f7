//! What an index of sets keeps of a set while it is pending, as bytes.
//!
//! | | |
//! | --- | --- |
//! | `NULL`, `EMPTY` | nothing |
//! | `WHOLE` | size u32; all tokens |
//! | `SPLIT` | size u32; some of the tokens to be posted |
//! | else | size u32; words of the bitmap u32; the bitmap; the tokens to be posted |
//!
//! Tokens are u32, ascending. How an item reads its flags say, not the metapage: an insert may be overtaken by the flush
//! that settles the order.

use crate::error::Result;
use crate::memory;
use crate::pg::index::layout::items::{Row, number, short};

const DOING: &str = "indexing a set";
const TOKEN: usize = size_of::<u32>();

/// The sizes that a bitmap can have, in 64-bit words.
pub(crate) const BITMAPS: [usize; 4] = [1, 2, 4, 8];

/// A set in an item.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SetItem<'a> {
    /// How many tokens the set has.
    pub size: u32,
    /// Its bitmap, if it has one.
    pub bitmap: Option<&'a [u8]>,
    tokens: &'a [u8],
}

impl<'a> SetItem<'a> {
    /// Reads the item of a row that is neither NULL nor empty; none if it cannot be one.
    pub(crate) fn read(row: Row, bytes: &'a [u8]) -> Option<Self> {
        let (size, rest) = bytes.split_at_checked(TOKEN)?;
        let (bitmap, tokens) = if row.has(Row::WHOLE | Row::SPLIT) {
            (None, rest)
        } else {
            let (words, rest) = rest.split_at_checked(TOKEN)?;
            let words = BITMAPS.into_iter().find(|&known| known == short(words) as usize)?;
            let (bitmap, tokens) = rest.split_at_checked(words * 8)?;
            (Some(bitmap), tokens)
        };
        let right = !tokens.is_empty() && tokens.len().is_multiple_of(TOKEN);
        right.then_some(Self { size: short(size), bitmap, tokens })
    }

    /// Puts the tokens in place of those in `tokens`.
    pub(crate) fn tokens(&self, tokens: &mut Vec<u32>) -> Result<()> {
        tokens.clear();
        memory::reserve(tokens, self.tokens.len() / TOKEN, DOING)?;
        tokens.extend(self.tokens.chunks_exact(TOKEN).map(short));
        Ok(())
    }

    /// The bytes of an item: `bitmap` is none for one that is whole or split.
    pub(crate) fn write(size: u32, bitmap: Option<&[u64]>, tokens: &[u32]) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        memory::reserve(&mut bytes, (2 + tokens.len()) * TOKEN + bitmap.map_or(0, size_of_val), DOING)?;
        bytes.extend(size.to_le_bytes());
        if let Some(bitmap) = bitmap {
            bytes.extend((bitmap.len() as u32).to_le_bytes());
            bytes.extend(bitmap.iter().flat_map(|word| word.to_le_bytes()));
        }
        bytes.extend(tokens.iter().flat_map(|token| token.to_le_bytes()));
        Ok(bytes)
    }
}

/// A set beside its row in a segment: its size and its bitmap.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline<'a> {
    /// How many tokens the set has.
    pub size: u32,
    bitmap: &'a [u8],
}

impl<'a> Outline<'a> {
    /// Bytes of it with a bitmap of this many words.
    pub(crate) const fn bytes(words: usize) -> usize {
        TOKEN + words * 8
    }

    /// Reads it.
    pub(crate) fn read(bytes: &'a [u8]) -> Self {
        let (size, bitmap) = bytes.split_at(TOKEN);
        Self { size: short(size), bitmap }
    }

    /// Puts its bytes in place of those in `bytes`.
    pub(crate) fn write(size: u32, bitmap: impl Iterator<Item = u64>, bytes: &mut Vec<u8>) {
        bytes.clear();
        bytes.extend(size.to_le_bytes());
        bytes.extend(bitmap.flat_map(u64::to_le_bytes));
    }

    /// In how many bits its bitmap differs from another one.
    pub(crate) fn differs(&self, bitmap: &[u64]) -> u32 {
        differs(self.bitmap, bitmap)
    }

    /// Whether the bitmap can be that of so many tokens: each flips one bit.
    pub(crate) fn is_possible(&self) -> bool {
        let bits: u32 = words(self.bitmap).map(u64::count_ones).sum();
        bits <= self.size && (self.size - bits).is_multiple_of(2)
    }
}

/// The words of a bitmap.
pub(crate) fn words(bitmap: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bitmap.chunks_exact(8).map(number)
}

/// In how many bits two bitmaps differ.
pub(crate) fn differs(one: &[u8], other: &[u64]) -> u32 {
    words(one).zip(other).map(|(a, b)| (a ^ b).count_ones()).sum()
}
