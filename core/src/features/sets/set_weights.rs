//! What the sets of a spill weigh: workers add up the weights of the tokens of a full dictionary,
//! and of those that it has no number for, set by set.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::error::Result;
use crate::features::dictionary::weights::{MOST, TOO_HEAVY};
use crate::memory;

const DOING: &str = "weighing token sets";

/// The weight of each set, by its number.
#[derive(Debug)]
pub(super) struct SetWeights(Vec<AtomicU32>);

impl SetWeights {
    /// Starts with 0 for each of so many sets.
    pub(super) fn new(sets: u32) -> Result<Self> {
        memory::collect((0..sets).map(|_| AtomicU32::new(0)), DOING).map(Self)
    }

    /// Adds the weight of some tokens of a set. What is more than can be is as much as can be.
    pub(super) fn add(&self, set: u32, weight: u64) {
        let more = u32::try_from(weight).unwrap_or(u32::MAX);
        let add = |sum: u32| Some(sum.saturating_add(more));
        // The function always returns a sum.
        let _ = self.0[set as usize].fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Returns the weight of a set once all of its tokens were added. Fails if it is too great.
    pub(super) fn weight(&self, set: u32) -> Result<u32> {
        let sum = self.0[set as usize].load(Ordering::Relaxed);
        if sum <= MOST { Ok(sum) } else { Err(TOO_HEAVY) }
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        memory::bytes(&self.0)
    }
}

/// The table of a set, its size and the number of its tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SetSize {
    pub(super) is_right: bool,
    pub(super) size: u32,
    pub(super) tokens: u32,
}
