//! Sets of token numbers, as workers make them.

use super::overflow::{OverflowToken, settle_document};
use crate::error::Result;
use crate::memory;

const DOING: &str = "collecting token sets";

/// Sets of token numbers, concatenated, and the row of each set.
#[derive(Debug, Default)]
pub struct Sets {
    /// The tokens of all sets.
    pub tokens: Vec<u32>,
    /// The end of each set in `tokens`.
    pub ends: Vec<usize>,
    /// The row of each set.
    pub rows: Vec<u32>,
    /// For each set, the sum of the hashes of its tokens. It does not depend on the order of the
    /// tokens, so it is the same for equal sets.
    pub fingerprints: Vec<u64>,
    /// Further tokens, which the dictionary has no number for, by set.
    pub(super) overflow: Vec<OverflowToken>,
}

impl Sets {
    /// Returns the place of the tokens of set `n`.
    pub fn range(&self, n: usize) -> std::ops::Range<usize> {
        let start = if n == 0 { 0 } else { self.ends[n - 1] };
        start..self.ends[n]
    }

    /// Makes a set of the tokens after the last set.
    pub(super) fn close(&mut self, row: u32, fingerprint: u64) -> Result<()> {
        memory::reserve(&mut self.ends, 1, DOING)?;
        memory::reserve(&mut self.rows, 1, DOING)?;
        memory::push(&mut self.fingerprints, fingerprint, DOING)?;
        self.rows.push(row);
        self.ends.push(self.tokens.len());
        Ok(())
    }

    /// Makes the overflow tokens from index `from` on, which are those of the next set, distinct.
    /// Returns the sum of their hashes.
    pub(super) fn settle_overflow(&mut self, from: usize, repeats_count: bool) -> u64 {
        // Sets are numbered like rows.
        settle_document(&mut self.overflow, from, self.rows.len() as u32, repeats_count)
    }

    /// Splits off the sets of the rows from number `row` on. These sets come after all other sets.
    pub(super) fn split_off(&mut self, row: u32) -> Result<Self> {
        let set = self.rows.partition_point(|&known| known < row);
        let end = set.checked_sub(1).map_or(0, |last| self.ends[last]);
        let mut right = Self::default();
        memory::extend(&mut right.tokens, &self.tokens[end..], DOING)?;
        memory::extend(&mut right.ends, &self.ends[set..], DOING)?;
        memory::extend(&mut right.rows, &self.rows[set..], DOING)?;
        memory::extend(&mut right.fingerprints, &self.fingerprints[set..], DOING)?;
        right.ends.iter_mut().for_each(|place| *place -= end);
        self.tokens.truncate(end);
        self.tokens.shrink_to_fit();
        self.ends.truncate(set);
        self.rows.truncate(set);
        self.fingerprints.truncate(set);
        Ok(right)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.tokens)
            + memory::bytes(&self.ends)
            + memory::bytes(&self.rows)
            + memory::bytes(&self.fingerprints)
            + memory::bytes(&self.overflow)
    }
}
