//! The pairs that the tasks of a join found, until they are handed on.

use crate::joins::{Counts, RecordPair};

/// The results of a task.
#[derive(Debug, Default)]
pub struct FoundPairs {
    /// The pairs, in the order in which they were found.
    pub pairs: Vec<RecordPair>,
    /// The counters of the filters.
    pub counts: Counts,
    /// The number of pairs that should be handed on before more are searched.
    pub enough: usize,
}

impl FoundPairs {
    /// Starts without pairs.
    pub fn up_to(enough: usize) -> Self {
        Self { enough, ..Self::default() }
    }

    /// Reports whether there are so many pairs that they should be handed on before more are
    /// searched.
    #[inline]
    pub fn is_enough(&self) -> bool {
        self.pairs.len() >= self.enough
    }
}
