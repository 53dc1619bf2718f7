//! The data that a segment stores of a row.

use neardup_core::joins::search::keys::KeyScratch;

/// The data that a segment stores of an item, and buffers for making it.
#[derive(Debug, Default)]
pub(crate) struct Posted {
    /// The bytes stored next to the row.
    pub sketch: Vec<u8>,
    /// The signatures of the row.
    pub signatures: Vec<u64>,
    /// A buffer for the tokens of a set.
    pub tokens: Vec<u32>,
    /// A buffer for the prefix of a set.
    pub prefix: Vec<u32>,
    /// A buffer for the ranks of tokens.
    pub scratch: KeyScratch,
}
