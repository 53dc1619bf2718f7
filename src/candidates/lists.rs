//! Posting lists: for each token the records that have it in their prefix.

use std::ops::Range;

use super::sides::{Prefix, Sides};
use crate::error::Result;
use crate::features::records::Records;
use crate::memory;
use crate::workers::{self, Workers};

const DOING: &str = "building the posting lists";

/// A token of a record's prefix: the record, how many tokens it has from this one on, and the token
/// before it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Posting {
    /// The record.
    pub record: u32,
    /// Its tokens from this one on.
    pub rest: u32,
    /// The token before this one, or a number that no token has.
    pub before: u32,
}

/// Stand for the token before the first one; no token has these numbers, and the two differ.
const NONE_BEFORE_PROBING: u32 = u32::MAX;
const NONE_BEFORE_INDEXED: u32 = u32::MAX - 1;

/// For each token the records that have it in their prefix, smallest record first.
#[derive(Debug)]
pub struct Lists {
    /// Where the list of each token starts, and the end of the last.
    pub starts: Vec<usize>,
    /// All lists, one behind the other.
    pub postings: Vec<Posting>,
}

impl Lists {
    /// Those of the records that are found.
    pub fn of_indexed(sides: &Sides, workers: &dyn Workers) -> Result<Self> {
        let prefix = |record| sides.indexing_prefix(record);
        Self::new(sides.indexed(), sides.shared_tokens, prefix, NONE_BEFORE_INDEXED, workers)
    }

    /// Those of the records that probe.
    pub fn of_probing(sides: &Sides, workers: &dyn Workers) -> Result<Self> {
        let prefix = |record| sides.probing_prefix(record);
        Self::new(sides.left(), sides.shared_tokens, prefix, NONE_BEFORE_PROBING, workers)
    }

    /// 12 bytes a posting and 8 a token. O(tokens + postings).
    fn new<'a>(
        records: &Records,
        tokens: usize,
        prefix: impl Fn(usize) -> Prefix<'a> + Sync,
        none_before: u32,
        workers: &dyn Workers,
    ) -> Result<Self> {
        // First the length of each list, in the place behind its start …
        let mut counting = (memory::filled(0usize, tokens + 1, DOING)?, 0..records.len());
        workers::one(workers, &mut counting, |(starts, todo), stop| {
            for record in todo {
                prefix(record).tokens.iter().for_each(|&token| starts[token as usize + 1] += 1);
                stop.check()?;
            }
            Ok(())
        })?;
        let mut starts = counting.0;
        for token in 0..tokens {
            starts[token + 1] += starts[token];
        }
        // … then the postings, in order of records and so of sizes.
        let postings = memory::filled(Posting::default(), starts[tokens], DOING)?;
        let mut next = Vec::new();
        memory::extend(&mut next, &starts, DOING)?;
        let mut filling = (postings, next, 0..records.len());
        workers::one(workers, &mut filling, |(postings, next, todo), stop| {
            for record in todo {
                let rests = (0..=records.tokens(record).len() as u32).rev();
                let mut before = none_before;
                for (&token, rest) in prefix(record).tokens.iter().zip(rests) {
                    let place = &mut next[token as usize];
                    postings[*place] = Posting { record: record as u32, rest, before };
                    *place += 1;
                    before = token;
                }
                stop.check()?;
            }
            Ok(())
        })?;
        Ok(Self { starts, postings: filling.0 })
    }

    /// Where the list of a token is.
    #[inline]
    pub fn range(&self, token: usize) -> Range<usize> {
        self.starts[token]..self.starts[token + 1]
    }

    /// The list of a token.
    #[inline]
    pub fn list(&self, token: u32) -> &[Posting] {
        &self.postings[self.range(token as usize)]
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.starts) + memory::bytes(&self.postings)
    }
}
