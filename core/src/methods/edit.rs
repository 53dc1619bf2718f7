//! Method `edit`, which compares texts by their Levenshtein distance.

use super::account::ComparedTexts;
use super::carrier::Carrier;
use super::explain::{Details, Distance, Explanation};
use super::method::{Method, Update};
use super::pair::TwoTexts;
use super::reading::Reading;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::texts::distinct;
use crate::joins::Algorithm;
use crate::joins::edit::edit_pairs;
use crate::joins::pairs::Pairs;
use crate::verify::edit::{self, EditPredicate};

/// Compares texts by their Levenshtein distance in characters, exactly: every pair that the
/// predicate accepts is found, and no other.
///
/// Case, punctuation and white space count. Candidates share runs of characters (Gravano and
/// others, VLDB 2001; Li, Deng, Wang, Feng, PVLDB 2011). The method is meant for lines such as
/// names and titles: with long texts, the time grows with the square of their length.
///
/// ```
/// use neardup_core::parameters::{Algorithm, EditPredicate};
/// use neardup_core::{Corpus, Edit};
///
/// let predicate = EditPredicate::new(0.5)?.and_within(2);
/// let method = Edit { predicate, algorithm: Algorithm::Auto };
/// let pairs = Corpus::of_texts(&["harbour", "harbor", "arbor"]).pairs(&method)?;
/// assert_eq!(pairs.iter().filter(|pair| pair.left == 0).count(), 2);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Edit {
    /// The definition of similar texts.
    pub predicate: EditPredicate,
    /// The algorithm that finds candidates.
    pub algorithm: Algorithm,
}

impl Edit {
    /// Finds texts whose similarity is at least `threshold`.
    ///
    /// The similarity is 1 - distance / characters of the longer text. Fails unless the threshold
    /// is greater than 0 and at most 1.
    ///
    /// ```
    /// use neardup_core::{Corpus, Edit};
    ///
    /// let pairs = Corpus::of_texts(&["harbour", "harbor", "port"]).pairs(&Edit::new(0.8)?)?;
    /// assert_eq!((pairs.len(), pairs[0].similarity), (1, 6.0 / 7.0));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn new(threshold: f64) -> Result<Self> {
        Ok(Self { predicate: EditPredicate::new(threshold)?, algorithm: Algorithm::Auto })
    }

    /// Reports whether the method is made in parts. If the distance alone decides, a text looks for
    /// about 2 · d³ pieces of others.
    fn is_in_parts(&self) -> bool {
        const MOST: u32 = 10;
        self.predicate.distance_alone().is_none_or(|distance| distance <= MOST)
    }

    /// Finds texts that are at most `distance` edits apart.
    ///
    /// ```
    /// use neardup_core::{Corpus, Edit};
    ///
    /// let pairs = Corpus::of_texts(&["quay", "quai", "key"]).pairs(&Edit::within(1))?;
    /// assert_eq!((pairs.len(), pairs[0].right), (1, 1));
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn within(distance: u32) -> Self {
        Self { predicate: EditPredicate::within(distance), algorithm: Algorithm::Auto }
    }
}

impl Method for Edit {
    fn compares_texts(&self) -> bool {
        true
    }

    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        /// The greatest product of the two lengths. Texts with a greater product take more than a
        /// few seconds.
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

    fn carrier(&self) -> Option<&dyn Carrier> {
        self.is_in_parts().then_some(self as &dyn Carrier)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let (collectors, _) = reading.read_texts(false)?;
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
