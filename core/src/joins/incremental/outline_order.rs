//! The parameters of the outlines of a job's rows: the order of tokens and the length of bitmaps.
//! They are frozen with the first outlines.

use crate::error::Result;
use crate::joins::set_index::token_order::TokenOrder;
use crate::memory;

/// The version of outlines. Lists of another version are rebuilt.
pub const VERSION: u8 = 3;

/// An order, and the number of words of a bitmap: 1, 2, 4 or 8.
#[derive(Debug, Clone)]
pub struct OutlineOrder {
    /// The order of tokens, by the upper halves of their hashes.
    pub tokens: TokenOrder,
    /// The number of 64-bit words of a bitmap.
    pub words: usize,
}

impl OutlineOrder {
    /// Encodes the version, the number of words, and the order.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![VERSION, self.words as u8];
        memory::extend(&mut bytes, &self.tokens.to_bytes()?, "storing the order of tokens")?;
        Ok(bytes)
    }

    /// Decodes the bytes. Returns `None` if they are of another version.
    ///
    /// # Errors
    /// Fails on malformed bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Option<Self>> {
        let [VERSION, words @ (1 | 2 | 4 | 8), tokens @ ..] = bytes else { return Ok(None) };
        Ok(Some(Self { tokens: TokenOrder::from_bytes(tokens)?, words: usize::from(*words) }))
    }
}
