//! What a whole corpus says again, word for word: repeated runs, and texts without them
//! (docs/methods/runs.md; Lee and others, *Deduplicating training data makes language models
//! better*, ACL 2022, for the use).
//!
//! Texts are read once and kept ([`texts`]), with the anchors of their windows ([`anchored`]). The
//! places of an anchor that comes again are marked at once where their windows are equal
//! ([`groups`]). Otherwise windows are read again ([`contents`]): those of one place of each class
//! of equal places ([`classes`]), or all of them, whose places are grouped and marked ([`marks`]).
//! Marked places that follow each other are runs ([`rows`]), whose places in the texts are found
//! last ([`located`]), or are cut out ([`cut`]).
//! For a report there are those that most documents have ([`frequent`]).
//! Everything is sorted by [`crate::storage::sort`], so memory does not grow with the corpus, and
//! the time depends on the places, never on their pairs.

pub mod anchored;
pub mod classes;
pub mod contents;
pub mod cut;
pub mod frequent;
pub mod groups;
pub mod located;
pub mod marks;
pub mod rows;
pub mod texts;
pub mod units;

use crate::error::{Error, Result};
use crate::features::tokens::Tokenizer;

/// What is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Every row of so many tokens.
    Window(usize),
    /// Lines.
    Line,
    /// Sentences.
    Sentence,
    /// Paragraphs.
    Paragraph,
}

/// The parameters that say what is repeated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunParameters {
    /// What is compared.
    pub unit: Unit,
    /// How texts are cut into tokens.
    pub tokenizer: Tokenizer,
    /// Lines, sentences and paragraphs of fewer tokens are left alone.
    pub min_tokens: usize,
    /// The number of documents that must have a content.
    pub min_documents: u32,
    /// The share of the documents that are compared with each other that must have a content.
    pub min_share: Option<f64>,
    /// Whether a content is repeated if one document has it twice.
    pub within_documents: bool,
    /// Whether the first place of a content is kept.
    pub keeps_first: bool,
}

impl Default for RunParameters {
    fn default() -> Self {
        Self {
            unit: Unit::Window(Self::LEAST),
            tokenizer: Tokenizer::Words,
            min_tokens: 3,
            min_documents: 2,
            min_share: None,
            within_documents: true,
            keeps_first: true,
        }
    }
}

impl RunParameters {
    /// The number of tokens of a window by default.
    pub const LEAST: usize = 50;
    /// The greatest number of tokens of a window.
    pub const LONGEST: usize = 1_000_000;

    /// Checks the values that a user gave.
    pub fn check(&self) -> Result<()> {
        let allowed = "between 1 and 1000000";
        if let Unit::Window(least) = self.unit
            && !(1..=Self::LONGEST).contains(&least)
        {
            return Err(Error::Parameter { name: "min_length", value: least.to_string(), allowed });
        }
        let counts = [("min_tokens", self.min_tokens as u64), ("min_documents", self.min_documents.into())];
        for (name, value) in counts {
            if value == 0 {
                let allowed = "a whole number of at least 1";
                return Err(Error::Parameter { name, value: value.to_string(), allowed });
            }
        }
        match self.min_share {
            Some(share) if !(share > 0.0 && share <= 1.0) => {
                let allowed = "greater than 0 and at most 1";
                Err(Error::Parameter { name: "min_share", value: share.to_string(), allowed })
            }
            _ => Ok(()),
        }
    }
}

/// The order of documents by which one place of each content is kept, and the groups of documents
/// that are compared with each other.
#[derive(Debug, Default)]
pub struct Order {
    /// The rows from the one that is kept first to the one that is kept last.
    pub rows: Vec<u32>,
    /// The position of each row in `rows`.
    pub ranks: Vec<u32>,
    /// The group of each row, if only documents of one group are compared; `u32::MAX` for a
    /// document that is compared with no other.
    pub groups: Option<Vec<u32>>,
    /// The number of documents of each group, or of all documents.
    pub sizes: Vec<u32>,
}

impl Order {
    /// Returns a number for the group of a row; rows that are compared have equal numbers.
    fn group(&self, row: u32) -> u64 {
        match self.groups.as_ref().map(|groups| groups[row as usize]) {
            None => 0,
            Some(u32::MAX) => 1 << 32 | u64::from(row),
            Some(group) => group.into(),
        }
    }

    /// Returns the number of documents of the group of a row.
    fn size(&self, row: u32) -> u32 {
        let group = self.groups.as_ref().map_or(0, |groups| groups[row as usize]);
        self.sizes.get(group as usize).copied().unwrap_or(1)
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        use crate::memory::bytes;
        bytes(&self.rows) + bytes(&self.ranks) + self.groups.as_ref().map_or(0, bytes) + bytes(&self.sizes)
    }
}
