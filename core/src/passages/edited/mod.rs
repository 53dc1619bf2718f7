//! Passages in which some words were edited: inserted, deleted or replaced.
//!
//! Of `min_length` words at most k = ⌊`edits` · `min_length`⌋ are edited, so that one run of s =
//! ⌊`min_length` / (k + 1)⌋ words at least is not, and both texts have it. Each longest common run
//! of s words or more is *continued*, backwards from its first word and forwards from its last
//! one: a continuation has an edit distance, and ends with two equal words, or is empty. A run with
//! two continuations of at most k edits in all, and of `min_length` words or more in the mean of
//! both texts, is a stretch. Stretches that overlap in both texts are one, from the first to the
//! last word of both, until no two of them overlap: these are the passages. Within one document,
//! runs begin a passage that are more than k words apart, so that no continuation meets itself, and
//! passages of which both places overlap are cut in the middle.
//!
//! Runs of s words are found by their hashes, like the windows of repeated runs ([`windows`]).
//! Words that are in a run of s words of more than a given number of places begin no passage: a
//! longest common run has to have s words without them. Runs that cannot be continued far enough
//! are ruled out by a byte of each word (`seeds.rs`). The others are continued in a band of
//! 2k + 1 diagonals (`stretch.rs`), two documents at a time ([`search`]). O(words · most places),
//! with k words of work for each word of a passage.

mod reach;
pub mod search;
pub mod seeds;
mod stretch;
pub mod windows;

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};

/// How much of a passage may be edited, and how long it is.
///
/// ```
/// use neardup_core::passages::edited::EditedWords;
///
/// let edits = EditedWords { share: 0.1, min_length: 30 };
/// // Of 30 words 3 are edited, so that a run of 7 is not.
/// assert_eq!((edits.most(), edits.run()), (3, 7));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EditedWords {
    /// The greatest share of edited words, 0 to 0.3.
    pub share: f64,
    /// The least number of words of a passage, 4 to 1000.
    pub min_length: u32,
}

impl EditedWords {
    /// The number of words of a passage by default.
    pub const LEAST: u32 = 30;

    /// Returns the greatest number of edits in `min_length` words.
    pub fn most(&self) -> usize {
        (self.share * f64::from(self.min_length) + 1e-9) as usize
    }

    /// Returns the number of words of the run that is found in each passage.
    pub fn run(&self) -> usize {
        self.min_length as usize / (self.most() + 1)
    }

    /// Checks the values that a user gave.
    pub fn check(&self) -> Result<()> {
        if !(0.0..=0.3).contains(&self.share) {
            let allowed = "between 0 and 0.3";
            return Err(Error::Parameter { name: "edits", value: self.share.to_string(), allowed });
        }
        if !(4..=1000).contains(&self.min_length) {
            let allowed = "a whole number from 4 to 1000";
            return Err(Error::Parameter { name: "min_length", value: self.min_length.to_string(), allowed });
        }
        Ok(())
    }
}
