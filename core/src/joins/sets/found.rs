//! The pairs that the tasks of a join found, until they are handed on.

use crate::joins::{Counts, RecordPair};

/// The results of a task.
#[derive(Debug, Default)]
pub struct FoundPairs {
    /// The pairs, in the order in which they were found.
    pub pairs: Vec<RecordPair>,
    /// The counters of the filters.
    pub counts: Counts,
}

impl FoundPairs {
    /// Reports whether there are so many pairs that they should be handed on before more are
    /// searched.
    #[inline]
    pub fn is_enough(&self) -> bool {
        const ENOUGH: usize = 1 << 16;
        self.pairs.len() >= ENOUGH
    }
}
