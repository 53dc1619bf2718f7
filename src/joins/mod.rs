//! Which pairs are worth checking, and the exact joins made of them.
//!
//! * [`sets`]: distinct sets by prefix, size, positions, suffixes and bitmaps
//! * [`edit`]: distinct texts by edit distance, made of the join of their q-grams
//! * [`sketches`]: signatures by keys in common, and combinations of them
//! * [`stored`]: minhash sketches that are there already, by agreeing values
//! * [`sentences`]: documents that have sentence signatures in common
//! * [`codes`]: feature codes by common substrings
//! * [`incremental`]: few changed sets against digests of many others
//! * [`parts`]: sets in parts that know nothing of each other, on one machine or many
//! * [`search`]: sets by an index of their prefixes
//! * [`set_index`]: what all kept and sent forms of sets are made of
//! * [`pairs`]: the pairs of rows that the records of all these stand for

pub mod codes;
pub mod edit;
pub mod incremental;
pub mod pairs;
pub mod parts;
pub mod search;
pub mod sentences;
pub mod set_index;
pub mod sets;
pub mod sketches;
pub mod stored;

use std::fmt::Debug;

use crate::error::Result;
use crate::executor::Executor;

/// A pair of records that passes. In a self-join both are of the only table and `right` comes first
/// in the order of sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecordPair {
    /// The record that probed.
    pub left: u32,
    /// The record that was found.
    pub right: u32,
    /// The similarity that is reported.
    pub similarity: f64,
}

/// What the filters did, in pairs of distinct records unless stated otherwise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Pairs that share a token of their prefixes, whose sizes go together, and whose bitmaps do, too,
    /// where there are bitmaps.
    pub candidates: u64,
    /// Postings passed over because the sizes do not go together.
    pub pruned_by_size: u64,
    /// Postings whose bitmap ruled their record out.
    pub pruned_by_bitmap: u64,
    /// Candidates that the positions of a shared token ruled out.
    pub pruned_by_position: u64,
    /// Candidates that the suffix filter ruled out.
    pub pruned_by_suffix: u64,
    /// Candidates whose filtered sketches were too short.
    pub pruned_by_sketch: u64,
    /// Candidates whose tokens were compared, or whose texts were aligned.
    pub verified: u64,
    /// Signatures of too many documents, which were dropped.
    pub stop_signatures: u64,
    /// How many documents these had.
    pub stop_documents: u64,
    /// Buckets of signatures that too many records share, expanded in part.
    pub hot_buckets: u64,
    /// Documents in these, each counted once.
    pub hot_documents: u64,
}

impl Counts {
    /// Adds what was counted elsewhere.
    pub fn add(&mut self, other: &Self) {
        self.candidates += other.candidates;
        self.pruned_by_size += other.pruned_by_size;
        self.pruned_by_bitmap += other.pruned_by_bitmap;
        self.pruned_by_position += other.pruned_by_position;
        self.pruned_by_suffix += other.pruned_by_suffix;
        self.pruned_by_sketch += other.pruned_by_sketch;
        self.verified += other.verified;
        self.stop_signatures += other.stop_signatures;
        self.stop_documents += other.stop_documents;
        self.hot_buckets += other.hot_buckets;
        self.hot_documents += other.hot_documents;
    }
}

/// A join of records.
pub trait RecordJoin: Debug {
    /// The next pairs of records, each once; none when the join is done. A batch may be empty, and its
    /// size is bounded. After [`crate::error::Error::Stopped`] it can be called again.
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>>;

    /// What the filters did so far.
    fn counts(&self) -> Counts;

    /// The share of the work that is done, 0 to 1.
    fn progress(&self) -> f64;

    /// Bytes on the heap.
    fn bytes(&self) -> usize;
}
