//! The records of one input of the join, and the prefixes of these records.

use super::super::inputs::shared_prefix;
use crate::features::dictionary::weights::TokenWeights;
use crate::features::sets::records::{Records, SizeRuns};
use crate::features::sets::store::RecordStore;
use crate::memory;

/// The records of one input.
#[derive(Debug)]
pub(super) struct InputSide {
    pub(super) store: RecordStore,
    pub(super) shape: Shape,
}

/// The sizes of the records of one input, and the lengths of their prefixes.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) runs: SizeRuns,
    /// For each run of equal sizes, the length of the prefix under which records are indexed; 0 if
    /// they are not.
    pub(super) indexing: Vec<u32>,
    /// For each run, the length of the prefix with which records probe; 0 if they do not.
    pub(super) probing: Vec<u32>,
}

/// The rarest tokens of a record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prefixes<'a> {
    /// The longer one of the two prefixes.
    pub(super) tokens: &'a [u32],
    /// How many of these tokens the record is indexed under. It probes with all of them, unless it
    /// is a record of the right table.
    pub(super) indexed: usize,
    /// The number of still rarer tokens, which no other record has.
    pub(super) lone: u32,
}

impl Shape {
    /// Returns the number of tokens of all records.
    pub(super) fn tokens(&self) -> u64 {
        let sizes = self.runs.sizes().iter().enumerate();
        sizes.map(|(run, &size)| u64::from(size) * self.runs.range(run).len() as u64).sum()
    }

    /// Returns the prefixes of a record, which is the record `n` of `loaded`.
    #[inline]
    pub(super) fn prefixes<'a>(&self, record: u32, loaded: &'a Records, n: usize) -> Prefixes<'a> {
        let run = self.runs.run_of(record);
        let [indexed, probing] = [self.indexing[run], self.probing[run]];
        let prefix = |length| shared_prefix(loaded, n, &TokenWeights::default(), length);
        let (tokens, indexed) = (prefix(indexed.max(probing)), prefix(indexed).len());
        Prefixes { tokens, indexed, lone: loaded.lone(n) }
    }

    /// Returns the number of bytes that the set of a record takes in memory, approximately.
    pub(super) fn bytes_of(&self, record: u32) -> usize {
        const RECORD: usize = 32;
        RECORD + size_of::<u32>() * self.runs.size(record) as usize
    }
}

impl InputSide {
    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let Shape { runs, indexing, probing } = &self.shape;
        self.store.bytes() + runs.bytes() + memory::bytes(indexing) + memory::bytes(probing)
    }
}
