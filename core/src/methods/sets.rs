//! The exact joins of token or shingle sets: `jaccard`, `cosine`, `dice`, `overlap`, `containment`.

use super::explain::Explanation;
use super::method::{Method, Update};
use super::pair::TwoTexts;
use super::reading::Reading;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::sets::store::Table;
use crate::joins::pairs::Pairs;
use crate::joins::sets::Algorithm;
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;

/// The derivation of sets from documents, the definition of similar sets, and the search for
/// candidates.
#[derive(Debug, Clone, Copy)]
pub struct Sets {
    /// The derivation of sets from documents.
    pub spec: FeatureSpec,
    /// The definition of similar sets.
    pub predicate: Predicate,
    /// The algorithm that finds candidates.
    pub algorithm: Algorithm,
}

impl Sets {
    /// Finds sets of words, with repeats counted, that are at least so similar.
    pub fn of_words(measure: Measure, threshold: f64) -> Result<Self> {
        let predicate = Predicate::new(measure, threshold)?;
        Ok(Self { spec: FeatureSpec::WORDS, predicate, algorithm: Algorithm::Auto })
    }
}

impl Method for Sets {
    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        let [shared, left, right] = pair.shared(self.spec, stop)?;
        let similarity = self.predicate.similarity(shared, left, right);
        let passes = self.predicate.passes(shared, left, right);
        Ok(Explanation::new(similarity, passes).with_shared([shared, left, right]))
    }

    fn update(&self) -> Update {
        Update::Sets(self.spec, self.predicate)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let builder = reading.read_sets(self.spec, true)?;
        let ordered = builder.order(reading.left_after(0), reading.executor)?;
        let right = ordered.right.as_ref();
        reading.account.distinct_tokens = ordered.distinct_tokens as u64;
        reading.account.distinct_sets =
            (ordered.left.members.len() + right.map_or(0, |right| right.members.len())) as u64;
        reading.held(ordered.peak_bytes);
        let places = ordered.left.bytes() + right.map_or(0, Table::bytes);
        let budget = reading.left_after(if ordered.is_in_files() { places } else { 0 });
        Pairs::new(ordered, self.predicate, self.algorithm, budget)
    }
}
