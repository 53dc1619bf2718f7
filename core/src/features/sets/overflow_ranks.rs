//! The ranks of tokens that the dictionary has no number for, by set.

use bytemuck::{Pod, Zeroable};

use crate::error::Result;
use crate::executor::Executor;
use crate::memory;
use crate::storage::sort::{Sorted, Sorter, both, order_by_key};

const DOING: &str = "reading ranks of tokens";

/// The rank of a token of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct SetRank {
    pub(super) set: u32,
    pub(super) rank: u32,
}

order_by_key!(SetRank, |of| both(of.set, of.rank));

/// The ranks of all sets, by set.
pub(super) struct OverflowRanks {
    ranks: Sorted<SetRank>,
    /// The first rank that is not taken yet.
    next: Option<SetRank>,
    /// The ranks that were taken last.
    taken: Vec<SetRank>,
}

impl OverflowRanks {
    /// Sorts the ranks.
    pub(super) fn new(ranks: Sorter<'_, SetRank>, executor: &dyn Executor) -> Result<Self> {
        let mut ranks = ranks.sorted(executor)?;
        let next = ranks.next(executor)?;
        Ok(Self { ranks, next, taken: Vec::new() })
    }

    /// Takes the ranks of the sets before `end` that are not taken yet, by set.
    pub(super) fn take_until(&mut self, end: u32, executor: &dyn Executor) -> Result<&[SetRank]> {
        self.taken.clear();
        while let Some(rank) = self.next.filter(|rank| rank.set < end) {
            memory::push(&mut self.taken, rank, DOING)?;
            self.next = self.ranks.next(executor)?;
        }
        Ok(&self.taken)
    }
}
