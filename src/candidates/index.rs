//! Posting lists: for each token the records that have it in their prefix, smallest record first.

use crate::error::Result;
use crate::features::order::Records;
use crate::memory;
use crate::workers::{self, Workers};

const DOING: &str = "building the posting lists";

/// A token of a record's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The record.
    pub record: u32,
    /// How many tokens of the record are rarer, those included that no other record has.
    pub position: u32,
}

/// Posting lists of all shared tokens, one behind the other. 8 bytes a posting and 8 a token.
#[derive(Debug, Default)]
pub struct Index {
    starts: Vec<usize>,
    postings: Vec<Posting>,
}

impl Index {
    /// Lists the first tokens of each record: as many as `prefix` says, counted in all tokens of
    /// the record. O(tokens + postings).
    pub fn build(
        records: &Records,
        shared_tokens: usize,
        prefix: impl Fn(usize) -> u32 + Sync,
        workers: &dyn Workers,
    ) -> Result<Self> {
        let listed = |record: usize| {
            let tokens = records.tokens(record);
            let lone = records.size(record) as usize - tokens.len();
            (&tokens[..(prefix(record) as usize).saturating_sub(lone).min(tokens.len())], lone)
        };
        // First the length of each list, in the place behind its start …
        let mut counted = (memory::filled(0usize, shared_tokens + 1, DOING)?, 0..records.len());
        workers::one(workers, &mut counted, |(ends, todo), stop| {
            for record in todo {
                listed(record).0.iter().for_each(|&token| ends[token as usize + 1] += 1);
                stop.check()?;
            }
            Ok(())
        })?;
        let mut starts = counted.0;
        for token in 0..shared_tokens {
            starts[token + 1] += starts[token];
        }
        // … then the postings, in order of records and so of sizes.
        let empty = Posting { record: 0, position: 0 };
        let postings = memory::filled(empty, starts[shared_tokens], DOING)?;
        let mut next = Vec::new();
        memory::extend(&mut next, &starts, DOING)?;
        let mut filled = (postings, next, 0..records.len());
        workers::one(workers, &mut filled, |(postings, next, todo), stop| {
            for record in todo {
                let (tokens, lone) = listed(record);
                for (n, &token) in tokens.iter().enumerate() {
                    let place = &mut next[token as usize];
                    postings[*place] = Posting { record: record as u32, position: (lone + n) as u32 };
                    *place += 1;
                }
                stop.check()?;
            }
            Ok(())
        })?;
        Ok(Self { starts, postings: filled.0 })
    }

    /// The postings of a token, in ascending order of records.
    #[inline]
    pub fn list(&self, token: u32) -> &[Posting] {
        &self.postings[self.starts[token as usize]..self.starts[token as usize + 1]]
    }

    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        memory::bytes(&self.starts) + memory::bytes(&self.postings)
    }
}
