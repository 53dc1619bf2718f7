//! Sets of token numbers, as workers make them.

use std::ops::Range;

use super::overflow::{OverflowToken, settle_document};
use crate::error::{Error, Result};
use crate::memory;
use crate::simd::prefetch::prefetch;

const DOING: &str = "collecting token sets";
/// Places among the hashes have 32 bits. Sets go to a file long before there are so many.
const MOST_HASHES: usize = u32::MAX as usize;

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
    /// The hashes of further tokens, which are numbers, ascending for each set: a bijection
    /// of the numbers. Where repeats count, a token is there as often as its document has it.
    pub(super) hashes: Vec<u64>,
    /// The end of each set in `hashes`; those of the last sets may be missing if they have none.
    pub(super) hash_ends: Vec<usize>,
    /// Further tokens, which the dictionary has no number for, by set.
    pub(super) overflow: Vec<OverflowToken>,
}

impl Sets {
    /// Returns the place of the tokens of set `n`.
    pub fn range(&self, n: usize) -> Range<usize> {
        let start = if n == 0 { 0 } else { self.ends[n - 1] };
        start..self.ends[n]
    }

    /// Returns where the hashes of set `n` begin.
    #[inline]
    fn first_hash(&self, n: usize) -> usize {
        let end = |n: usize| self.hash_ends.get(n).copied().unwrap_or(self.hashes.len());
        n.checked_sub(1).map_or(0, end)
    }

    /// Returns the hashes of the tokens of set `n` that are numbers.
    #[inline]
    pub(super) fn hashes(&self, n: usize) -> &[u64] {
        &self.hashes[self.first_hash(n)..self.first_hash(n + 1)]
    }

    /// Prefetches some of the hashes of set `n`, from hash `from` of the set on.
    #[inline]
    pub(super) fn prefetch_hashes(&self, n: usize, from: usize) {
        const LINES: usize = 4;
        const HASHES_A_LINE: usize = 8;
        let first = self.first_hash(n) + from;
        (0..LINES).for_each(|line| prefetch(&self.hashes, first + line * HASHES_A_LINE));
    }

    /// Reports whether there are so many hashes that they should go to a file.
    pub(super) fn is_full(&self) -> bool {
        self.hashes.len() > MOST_HASHES / 2
    }

    /// Returns the number of tokens of set `n`, but for the overflow.
    pub(super) fn count(&self, n: usize) -> usize {
        self.range(n).len() + self.hashes(n).len()
    }

    /// Adds the sorted hashes of the next set.
    pub(super) fn extend_hashes(&mut self, hashes: &[u64]) -> Result<()> {
        if self.hashes.len() + hashes.len() > MOST_HASHES {
            return Err(Error::TooMany { what: "tokens in memory", limit: MOST_HASHES as u64 });
        }
        memory::extend(&mut self.hashes, hashes, DOING)
    }

    /// Makes a set of the tokens after the last set.
    pub(super) fn close(&mut self, row: u32, fingerprint: u64) -> Result<()> {
        if !self.hashes.is_empty() {
            memory::lengthen(&mut self.hash_ends, 0, self.rows.len(), DOING)?;
            memory::reserve(&mut self.hash_ends, 1, DOING)?;
        }
        memory::reserve(&mut self.ends, 1, DOING)?;
        memory::reserve(&mut self.rows, 1, DOING)?;
        memory::push(&mut self.fingerprints, fingerprint, DOING)?;
        self.rows.push(row);
        self.ends.push(self.tokens.len());
        if !self.hashes.is_empty() {
            self.hash_ends.push(self.hashes.len());
        }
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
        if !self.hashes.is_empty() {
            let end = set.checked_sub(1).map_or(0, |last| self.hash_ends[last]);
            memory::append(&mut right.hashes, self.hashes.drain(end..), DOING)?;
            memory::append(&mut right.hash_ends, self.hash_ends.drain(set..).map(|own| own - end), DOING)?;
            self.hashes.shrink_to_fit();
        }
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
            + memory::bytes(&self.hashes)
            + memory::bytes(&self.hash_ends)
            + memory::bytes(&self.overflow)
    }
}
