//! What pieces of a join found, until it is handed on.

use crate::joins::{Counts, RecordPair};

/// What a piece of work found.
#[derive(Debug, Default)]
pub struct FoundPairs {
    /// The pairs, in the order they were found.
    pub pairs: Vec<RecordPair>,
    /// What the filters did.
    pub counts: Counts,
}

impl FoundPairs {
    /// Whether there are enough pairs to be handed on first.
    #[inline]
    pub fn is_enough(&self) -> bool {
        const ENOUGH: usize = 1 << 16;
        self.pairs.len() >= ENOUGH
    }
}
