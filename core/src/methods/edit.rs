//! Method `edit`, which compares texts by their Levenshtein distance.

use super::account::ComparedTexts;
use super::explain::{Details, Distance, Explanation};
use super::method::{Method, Update};
use super::pair::TwoTexts;
use super::reading::Reading;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::texts::distinct;
use crate::joins::edit::edit_pairs;
use crate::joins::pairs::Pairs;
use crate::joins::sets::Algorithm;
use crate::verify::edit::{self, EditPredicate};

/// The definition of similar texts, and the search for candidates.
#[derive(Debug, Clone, Copy)]
pub struct Edit {
    /// The definition of similar texts.
    pub predicate: EditPredicate,
    /// The algorithm that finds candidates.
    pub algorithm: Algorithm,
}

impl Edit {
    /// Finds texts that are at least so similar.
    pub fn new(threshold: f64) -> Result<Self> {
        Ok(Self { predicate: EditPredicate::new(threshold)?, algorithm: Algorithm::Auto })
    }

    /// Finds texts that are at most so many edits apart.
    pub fn within(distance: u32) -> Self {
        Self { predicate: EditPredicate::within(distance), algorithm: Algorithm::Auto }
    }
}

impl Method for Edit {
    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        /// The greatest product of lengths; greater ones take more than a few seconds.
        const MOST: usize = 1 << 36;
        let [a, b] = pair.texts;
        if a != b && a.chars().count().saturating_mul(b.chars().count()) > MOST {
            return Ok(Explanation::unknown("the texts are too long"));
        }
        let (distance, longer) = edit::distance(a, b, stop)?;
        let similarity = edit::similarity(distance, longer);
        let passes = longer > 0 && self.predicate.passes(distance, longer);
        Ok(Explanation::new(similarity, passes).with(Details::Edit(Distance { distance, longer })))
    }

    fn update(&self) -> Update {
        Update::Pairs
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let collectors = reading.read_texts()?;
        let distinct = distinct(collectors, reading.right_from(), reading.executor)?;
        reading.account.compared = ComparedTexts {
            texts: distinct.texts.len() as u64,
            characters: distinct.texts.lengths().iter().map(|&length| u64::from(length)).sum(),
        };
        // Texts stay in memory.
        let budget = reading.left_after(distinct.texts.bytes());
        let (pairs, prepared) =
            edit_pairs(distinct, self.predicate, self.algorithm, reading.files, budget, reading.executor)?;
        reading.account.tokens = prepared.grams;
        reading.account.distinct_tokens = prepared.distinct_grams;
        reading.account.distinct_sets = prepared.distinct_texts;
        reading.held(prepared.peak_bytes);
        Ok(pairs)
    }
}
