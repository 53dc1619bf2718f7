//! What the outlines of a job's rows are made by: the order of tokens, and how long bitmaps are. Frozen with the first outlines.

use crate::error::Result;
use crate::joins::set_index::token_order::TokenOrder;
use crate::memory;

/// The version of outlines: lists of another one are made again.
pub const VERSION: u8 = 3;

/// An order, and the words of a bitmap: 1, 2, 4 or 8.
#[derive(Debug, Clone)]
pub struct OutlineOrder {
    /// The order of tokens, by the upper halves of their hashes.
    pub tokens: TokenOrder,
    /// 64-bit words of a bitmap.
    pub words: usize,
}

impl OutlineOrder {
    /// Its bytes: the version, the words, the order.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![VERSION, self.words as u8];
        memory::extend(&mut bytes, &self.tokens.to_bytes()?, "storing the order of tokens")?;
        Ok(bytes)
    }

    /// Reads it again; none if it is of another version.
    ///
    /// # Errors
    /// Fails on malformed bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Option<Self>> {
        let [VERSION, words @ (1 | 2 | 4 | 8), tokens @ ..] = bytes else { return Ok(None) };
        Ok(Some(Self { tokens: TokenOrder::from_bytes(tokens)?, words: usize::from(*words) }))
    }
}
