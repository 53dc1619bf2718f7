//! Passages that two documents share, and their places in both documents (Zhang et al., PDC-MR
//! (SIGIR 2010); docs/design/algorithms.md section 6).
//!
//! Sentences are joined by their sets of signatures ([`pairs`]), like documents in other methods;
//! `classes.rs` divides the join into parts. The similar sentences of two documents form a matrix
//! of pairs. Its maximal diagonals are the passages ([`diagonals`]), which may grow beyond whole
//! sentences ([`grow`]). Passages in which words were edited are found by their runs of words
//! ([`edited`]).

mod classes;
pub mod diagonals;
pub mod edited;
pub mod frequent_sentences;
pub mod grow;
pub mod in_groups;
pub mod pairs;
pub mod search;
mod starts;

/// The phase of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Phase {
    /// Making the signatures of sentences.
    Signing,
    /// Joining the distinct sets of signatures.
    Joining,
    /// Listing the pairs of sentences that the pairs of sets represent.
    Pairing,
    /// Sorting the pairs of sentences.
    Sorting,
}

/// Called with the phase of a search and the share of this phase that is done.
pub type SearchProgress<'a> = &'a mut dyn FnMut((Phase, f64));

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::features::imatch::IdfRange;
use crate::features::units::signatures::Features;
use crate::verify::measure::check_threshold;
use edited::EditedWords;
pub use search::{between, between_documents};

/// The parameters that define a passage.
///
/// Sentences are similar if their sets of signatures are similar. Runs of similar sentences are
/// passages (Zhang and others, SIGIR 2010).
///
/// ```
/// use neardup_core::PassageParameters;
///
/// let usual = PassageParameters::default();
/// assert_eq!((usual.threshold, usual.min_sentences, usual.extend), (0.9, 3, Some(12)));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// The signatures of sentences.
    pub features: Features,
    /// The least Jaccard similarity τ of the signatures of two sentences.
    pub threshold: f64,
    /// The least number θ of sentences of a passage.
    pub min_sentences: u32,
    /// The greatest number of differing characters that a passage can grow across at one place;
    /// `None` if passages do not grow beyond their sentences.
    pub extend: Option<u32>,
    /// The greatest number of sentences that may be similar to one sentence. If more are similar to
    /// a sentence, its pairs are used only where a passage reaches it from another sentence.
    pub most_similar: u32,
    /// The least width of a passage in both texts, in columns without white space; 0 allows any
    /// width.
    pub min_width: u32,
    /// Whether passages that occur twice in one document are found, too. Their places do not
    /// overlap. Documents of two tables are always two.
    pub within_documents: bool,
    /// If given, passages are words of which some were edited, whatever their sentences, and of the
    /// other parameters only `within_documents` counts, and `most_similar`: the greatest number of
    /// places of a run.
    pub edits: Option<EditedWords>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            features: Features::Imatch(IdfRange::default()),
            threshold: 0.9,
            min_sentences: 3,
            extend: Some(Self::GAP),
            most_similar: 1000,
            min_width: Self::MIN_WIDTH,
            within_documents: false,
            edits: None,
        }
    }
}

impl Parameters {
    /// The number of differing characters that passages can grow across by default.
    pub const GAP: u32 = 12;
    /// The least width of a passage by default. Formulas such as *Reuters.* are narrower, and
    /// sentences are wider.
    pub const MIN_WIDTH: u32 = 20;
    /// The greatest allowed number of differing characters that passages grow across.
    pub const WIDEST_GAP: u32 = 100;

    /// Checks the values that a user gave.
    ///
    /// Fails for values outside their ranges.
    ///
    /// ```
    /// use neardup_core::PassageParameters;
    ///
    /// assert!(PassageParameters::default().check().is_ok());
    /// assert!(PassageParameters { min_sentences: 0, ..Default::default() }.check().is_err());
    /// ```
    pub fn check(&self) -> Result<()> {
        if let Some(edits) = self.edits {
            edits.check()?;
        }
        check_threshold(self.threshold)?;
        self.features.check()?;
        for (name, value) in [("min_sentences", self.min_sentences), ("max_similar", self.most_similar)] {
            if value == 0 {
                let allowed = "a whole number of at least 1";
                return Err(Error::Parameter { name, value: value.to_string(), allowed });
            }
        }
        if let Some(gap) = self.extend.filter(|&gap| gap > Self::WIDEST_GAP) {
            let allowed = "a whole number from 0 to 100";
            return Err(Error::Parameter { name: "max_gap", value: gap.to_string(), allowed });
        }
        Ok(())
    }
}

/// A passage of two documents.
///
/// Spans are half-open ranges of the characters of each text, counted from 0.
///
/// ```
/// use neardup_core::{PassageParameters, Stop, passages_between};
///
/// let parameters = PassageParameters { min_sentences: 1, extend: None, ..Default::default() };
/// let (a, b) = ("One. The red crane left the quay.", "The red crane left the quay! Two.");
/// let passages = passages_between(a, b, &parameters, &Stop::default())?;
/// assert_eq!((passages[0].left_span.clone(), passages[0].right_span.clone()), (5..33, 0..28));
/// assert_eq!((passages[0].sentences, passages[0].similarity), (1, 1.0));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Passage {
    /// The rows of the documents; in a self-join the left one comes first in the order of the ids,
    /// or both are the same if the passage occurs twice in one document.
    pub left_row: u32,
    /// See `left_row`.
    pub right_row: u32,
    /// The first sentence of the passage in each document, counted from 0; an edited passage has no
    /// sentences.
    pub left_sentence: u32,
    /// See `left_sentence`.
    pub right_sentence: u32,
    /// The number of consecutive similar sentences.
    pub sentences: u32,
    /// The range of the passage's characters in each text.
    pub left_span: Range<usize>,
    /// See `left_span`.
    pub right_span: Range<usize>,
    /// The mean similarity of its sentences, or the share of the words of both sides of an edited
    /// passage that both have.
    pub similarity: f64,
}

/// A search for passages that is prepared.
pub trait PassageSearch {
    /// Returns the next passages, ordered by their documents and then by their places in the left
    /// one, or `None` after the last passages. A batch may be empty. Its size is bounded, except
    /// that all passages of a pair of documents are in one batch.
    fn next_batch(&mut self, executor: &dyn Executor) -> Result<Option<Vec<Passage>>>;

    /// Returns the counts of sentences, or of runs, that are too frequent to begin a passage.
    fn capped(&self) -> Capped;

    /// Returns the share of the work that is done, 0 to 1.
    fn progress(&self) -> f64;

    /// Returns the number of bytes on the heap.
    fn bytes(&self) -> usize;
}

/// The sentences that have more similar sentences than the cap allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Capped {
    /// The number of distinct sentences to which too many sentences are similar.
    pub sentences: u64,
    /// The number of times that these sentences occur in documents.
    pub occurrences: u64,
    /// Whether too many pairs of such sentences are similar but not equal, so not all of them were
    /// kept. Then passages continue across such sentences only where these are equal.
    pub equal_only: bool,
}

impl Capped {
    /// Adds the sentences of other documents.
    pub(crate) fn add(&mut self, other: Self) {
        self.sentences += other.sentences;
        self.occurrences += other.occurrences;
        self.equal_only |= other.equal_only;
    }
}
