//! Candidate generation, and the exact joins that are built on it.
//!
//! * [`sets`]: joins distinct sets by prefix, size, positions, suffixes and bitmaps
//! * [`edit`]: joins distinct texts by edit distance, on top of the join of their q-grams
//! * [`sketches`]: joins signatures by shared keys, and by combinations of keys
//! * [`stored`]: joins minhash sketches that are already stored, by agreeing values
//! * [`sentences`]: joins documents that share sentence signatures
//! * [`codes`]: joins feature codes by common substrings
//! * [`keys`]: finds the records that share a key, for [`codes`], [`runs`] and
//!   [`parts`](crate::parts)
//! * [`nearest`]: finds the nearest records of each record, without a threshold
//! * [`runs`]: joins texts by the share of their tokens in common runs
//! * [`near_words`]: joins texts by their words, of which near ones count as shared
//! * `grouped`: the pairs of all groups of rows, joined one after the other
//! * `grouped_rows`: what else is found in all groups of rows
//! * `across`: leaves out the pairs of rows of one source
//! * [`pairs`]: expands pairs of records into pairs of rows, for all of these joins

pub(crate) mod across;
pub(crate) mod candidates;
pub mod codes;
pub mod edit;
pub(crate) mod grouped;
pub(crate) mod grouped_rows;
pub mod keys;
pub mod near_words;
pub mod nearest;
pub mod pairs;
pub(crate) mod rare_keys;
pub mod runs;
pub mod sentences;
pub mod sets;
pub mod sketches;
pub mod stored;

use std::fmt::Debug;

use bytemuck::{Pod, Zeroable};

use crate::error::Result;
use crate::executor::Executor;
use crate::features::dictionary::weights::TokenWeights;
use crate::features::sets::store::RecordStore;
use crate::verify::predicate::Predicate;

/// A pair of records that passes. In a self-join both records are of the only table, and `right`
/// comes before `left` in the order of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Zeroable, Pod)]
#[repr(C)]
pub struct RecordPair {
    /// The record that probed the index.
    pub left: u32,
    /// The record that was found.
    pub right: u32,
    /// The similarity that is reported for the pair.
    pub similarity: f64,
}

/// The counters of the filters. They count pairs of distinct records unless stated otherwise.
///
/// ```
/// use neardup_core::account::Counts;
///
/// let mut counts = Counts { candidates: 3, verified: 2, ..Counts::default() };
/// counts.add(&Counts { candidates: 1, ..Counts::default() });
/// assert_eq!((counts.candidates, counts.verified), (4, 2));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Zeroable, Pod)]
#[repr(C)]
pub struct Counts {
    /// Pairs that share a prefix token, whose sizes are compatible, and, if there are bitmaps,
    /// whose bitmaps are compatible too.
    pub candidates: u64,
    /// Postings skipped because the sizes are not compatible.
    pub pruned_by_size: u64,
    /// Postings whose bitmap ruled out their record.
    pub pruned_by_bitmap: u64,
    /// Candidates ruled out by the positions of a shared token.
    pub pruned_by_position: u64,
    /// Candidates ruled out by the suffix filter.
    pub pruned_by_suffix: u64,
    /// Candidates whose filtered sketches were too short.
    pub pruned_by_sketch: u64,
    /// Candidates whose tokens were compared, or whose texts were aligned.
    pub verified: u64,
    /// Signatures that were dropped because too many documents have them.
    pub stop_signatures: u64,
    /// The number of documents that have a dropped signature.
    pub stop_documents: u64,
    /// Buckets of signatures that too many records share; these buckets are only partly expanded.
    pub hot_buckets: u64,
    /// Documents in hot buckets, each counted once.
    pub hot_documents: u64,
}

impl Counts {
    /// Adds the counts of another part of the work.
    ///
    /// ```
    /// use neardup_core::account::Counts;
    ///
    /// let mut counts = Counts::default();
    /// counts.add(&Counts { verified: 2, ..Counts::default() });
    /// assert_eq!(counts.verified, 2);
    /// ```
    pub fn add(&mut self, other: &Self) {
        let counters: &mut [u64] = bytemuck::cast_slice_mut(std::slice::from_mut(self));
        let more: &[u64] = bytemuck::cast_slice(std::slice::from_ref(other));
        counters.iter_mut().zip(more).for_each(|(all, more)| *all += more);
    }
}

/// A join of records.
pub trait RecordJoin: Debug {
    /// Returns the next pairs of records, each pair once, or `None` when the join is done. A batch
    /// may be empty, and its size is bounded. After [`crate::error::Error::Stopped`] it can be
    /// called again.
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<RecordPair>>>;

    /// Returns what the filters have counted so far.
    fn counts(&self) -> Counts;

    /// Returns the share of the work that is done, 0 to 1.
    fn progress(&self) -> f64;

    /// Returns the number of bytes on the heap.
    fn bytes(&self) -> usize;

    /// Gives up the sets and the rule of a join of one table by its sets that has not begun, if the
    /// rule is the same in both directions. Afterwards the join finds nothing. Other joins return
    /// `None`.
    fn take_sets(&mut self) -> Option<JoinedSets> {
        None
    }
}

/// The algorithm that finds candidates. All algorithms give the same pairs.
///
/// ```
/// use neardup_core::parameters::Algorithm;
/// use neardup_core::{Corpus, Measure, Sets};
///
/// let usual = Sets::of_words(Measure::Jaccard, 0.5)?;
/// let plus = Sets { algorithm: Algorithm::PpJoinPlus(2), ..usual.clone() };
/// let mut corpus = Corpus::of_texts(&["a b c", "b c d", "e"]);
/// assert_eq!(corpus.pairs(&usual)?, corpus.pairs(&plus)?);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Algorithm {
    /// Uses bitmaps if they rule out enough pairs of the data, and otherwise the positional filter.
    #[default]
    Auto,
    /// Uses the prefix and size filters (Bayardo, Ma, Srikant, WWW 2007).
    AllPairs,
    /// Adds the positional filter.
    PpJoin,
    /// Adds the suffix filter as well, which splits this many times.
    PpJoinPlus(u32),
}

/// The sets of one table or of two, and what makes two of them a pair.
#[derive(Debug)]
pub struct JoinedSets {
    /// The sets of the only table, or of the left one.
    pub left: RecordStore,
    /// The sets of the right table, if there are two.
    pub right: Option<RecordStore>,
    /// The number of tokens that can be shared.
    pub shared_tokens: usize,
    /// The weights of these tokens.
    pub weights: TokenWeights,
    /// The definition of a pair.
    pub predicate: Predicate,
    /// The algorithm that finds candidates.
    pub algorithm: Algorithm,
    /// The number of bytes that the join may hold.
    pub budget: usize,
}
