//! Sets of token numbers, as workers make them.

use std::ops::Range;

use super::overflow::{OverflowToken, settle_document};
use super::token_blocks::TokenBlocks;
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
    /// Further tokens, which are numbers.
    pub(super) numbers: TokenBlocks,
    /// Further tokens, which the dictionary has no number for, by set.
    pub(super) overflow: Vec<OverflowToken>,
}

impl Sets {
    /// Returns the place of the tokens of set `n`.
    pub fn range(&self, n: usize) -> Range<usize> {
        let start = if n == 0 { 0 } else { self.ends[n - 1] };
        start..self.ends[n]
    }

    /// Returns the number of tokens of set `n`, but for the overflow.
    pub(super) fn count(&self, n: usize) -> usize {
        self.range(n).len() + self.numbers.count(n)
    }

    /// Makes a set of the tokens after the last set.
    pub(super) fn close(&mut self, row: u32, fingerprint: u64) -> Result<()> {
        memory::reserve(&mut self.ends, 1, DOING)?;
        memory::reserve(&mut self.rows, 1, DOING)?;
        memory::reserve(&mut self.fingerprints, 1, DOING)?;
        self.numbers.end_set(self.rows.len())?;
        self.fingerprints.push(fingerprint);
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
        let from = self.overflow.partition_point(|token| (token.set as usize) < set);
        memory::append(&mut right.overflow, self.overflow.drain(from..), DOING)?;
        right.overflow.iter_mut().for_each(|token| token.set -= set as u32);
        right.numbers = self.numbers.split_off(set)?;
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
            + self.numbers.bytes()
            + memory::bytes(&self.overflow)
    }
}
