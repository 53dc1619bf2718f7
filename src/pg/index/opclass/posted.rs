//! What a segment keeps of a row.

use crate::joins::search::keys::KeyScratch;

/// What a segment gets of an item, and space to make it.
#[derive(Debug, Default)]
pub(crate) struct Posted {
    /// What stands beside the row.
    pub sketch: Vec<u8>,
    /// Its signatures.
    pub signatures: Vec<u64>,
    /// Space for the tokens of a set.
    pub tokens: Vec<u32>,
    /// Space for its prefix.
    pub prefix: Vec<u32>,
    /// Space for the places of tokens.
    pub scratch: KeyScratch,
}
