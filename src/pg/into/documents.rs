//! What statements are told of the documents, and of how these are joined.

use serde::{Deserialize, Serialize};

/// What documents are read as, in terms of the alias `d`; all names have their schemas.
#[derive(Debug, Clone)]
pub(super) struct Documents {
    /// The relation.
    pub table: String,
    /// The id of a row.
    pub id: String,
    /// The set of its document.
    pub set: String,
}

impl Documents {
    /// A query for `id` and `set` of all.
    pub(super) fn query(&self) -> String {
        let Self { table, id, set } = self;
        format!("SELECT {id} AS id, {set} AS set FROM {table} AS d")
    }
}

/// Bands of minhash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Bands {
    /// How many there are.
    pub bands: usize,
    /// Of how many values each.
    pub rows: usize,
    /// Draws the hash functions.
    pub seed: i64,
}
