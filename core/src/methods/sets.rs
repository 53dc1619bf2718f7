//! The exact joins of token or shingle sets: `jaccard`, `cosine`, `dice`, `overlap`, `containment`.
//!
//! In parts, the set is carried as hashes, and documents meet by it.

use super::account::DictionaryUse;
use super::carrier::{Carrier, LeftOut, Meeting, Places, hashes_of, of_words, similarity_of_sets, to_set};
use super::explain::{Details, Explanation, TokenOverlap, WeighedOverlap};
use super::method::{Method, Update};
use super::pair::TwoTexts;
use super::reading::Reading;
use super::short_texts::LongParts;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::dictionary::weights::{Weighing, Weights};
use crate::features::sets::store::RecordTable;
use crate::features::tokens::Document;
use crate::joins::Algorithm;
use crate::joins::pairs::Pairs;
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;

/// Compares sets of words, shingles or characters, exactly: every pair that the predicate accepts
/// is found, and no other.
///
/// The join is a prefix filter with bitmaps or positions (Bayardo, Ma, Srikant, WWW 2007; Xiao and
/// others, WWW 2008). The time depends on the number of pairs that share a rare token; it is
/// shorter with a higher threshold.
///
/// ```
/// use neardup_core::parameters::Predicate;
/// use neardup_core::{Corpus, Measure, Sets};
///
/// // At least two common words, whatever else the texts have.
/// let predicate = Predicate::shared(Measure::Jaccard, 2);
/// let method = Sets { predicate, ..Sets::of_words(Measure::Jaccard, 1.0)? };
/// let pairs = Corpus::of_texts(&["red crane left", "a crane, red", "red"]).pairs(&method)?;
/// assert_eq!((pairs.len(), pairs[0].right, pairs[0].similarity), (1, 1, 0.5));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Sets {
    /// The derivation of sets from documents.
    pub spec: FeatureSpec,
    /// The definition of similar sets.
    pub predicate: Predicate,
    /// The algorithm that finds candidates.
    pub algorithm: Algorithm,
    /// What the tokens weigh. Sums of weights take the place of numbers of tokens; for cosine,
    /// those of their squares.
    pub weights: Weights,
}

impl Sets {
    /// Finds sets of words whose similarity is at least `threshold`. Repeated words count.
    ///
    /// Fails unless the threshold is greater than 0 and at most 1.
    ///
    /// ```
    /// use neardup_core::{Corpus, Measure, Sets};
    ///
    /// let method = Sets::of_words(Measure::Containment, 1.0)?;
    /// // All words of the left text are in the right one.
    /// let mut corpus = Corpus::of_texts(&["the crane", "the red crane left"]).split(Some(1));
    /// assert_eq!(corpus.pairs(&method)?.len(), 1);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn of_words(measure: Measure, threshold: f64) -> Result<Self> {
        let predicate = Predicate::new(measure, threshold)?;
        let (algorithm, weights) = (Algorithm::Auto, Weights::Equal);
        Ok(Self { spec: FeatureSpec::WORDS, predicate, algorithm, weights })
    }

    fn weighing(&self) -> Weighing {
        Weighing { weights: self.weights.clone(), squares: self.predicate.squares_weights() }
    }
}

impl Method for Sets {
    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        let details = match self.weights {
            Weights::Equal => Details::Sets(TokenOverlap::from(pair.shared(self.spec, stop)?)),
            Weights::Words(_) => Details::Weighed(pair.shared_weight(self.spec, &self.weighing(), stop)?),
            Weights::Idf => return Ok(Explanation::unknown("weights depend on all documents")),
        };
        let (Details::Sets(TokenOverlap { shared, left, right })
        | Details::Weighed(WeighedOverlap { shared, left, right, .. })) = details
        else {
            return Ok(Explanation::unknown("sets have other details"));
        };
        let similarity = self.predicate.similarity(shared, left, right);
        let passes = self.predicate.passes(shared, left, right);
        Ok(Explanation::new(similarity, passes).with(details))
    }

    fn update(&self) -> Update {
        if self.weights.are_equal() { Update::Sets(self.spec, self.predicate) } else { Update::Whole }
    }

    fn carrier(&self) -> Option<&dyn Carrier> {
        (self.predicate.is_symmetric() && self.weights.are_equal()).then_some(self as &dyn Carrier)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        reading.compares(LongParts::of_sets(&self.spec));
        let builder = reading.read_sets(self.spec, true)?.weighed(self.weighing());
        let ordered = builder.order(reading.left_after(0), reading.executor)?;
        let right = ordered.right.as_ref();
        reading.account.distinct_tokens = ordered.distinct_tokens as u64;
        reading.account.dictionary = Some(DictionaryUse::from_ordered(&ordered));
        reading.account.distinct_sets =
            (ordered.left.members.len() + right.map_or(0, |right| right.members.len())) as u64;
        reading.held(ordered.peak_bytes);
        let places = ordered.left.bytes() + right.map_or(0, RecordTable::bytes);
        let resources = reading.resources_after(if ordered.is_in_files() { places } else { 0 });
        Pairs::new(ordered, self.predicate, self.algorithm, resources)
    }
}

const DOING: &str = "carrying a set";

impl Carrier for Sets {
    fn carry(&self, document: &Document, _: Places<'_>, stop: &Stop) -> Result<Vec<u8>> {
        of_words(&hashes_of(document, &self.spec, DOING, stop)?)
    }

    fn meeting(&self) -> Meeting {
        Meeting::Sets(self.predicate)
    }

    fn set(&self, carried: &[u8], _: &Stop) -> Result<Vec<u64>> {
        to_set(carried)
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, _: &Stop) -> Result<Option<f64>> {
        similarity_of_sets(self.predicate, pair)
    }
}
