//! Method `imatch`, which finds documents with equal I-Match signatures.
//!
//! In parts, the terms of a document are carried as hashes. Which terms count is known once all
//! documents are there; the terms that are left are the key of a document.

use super::carrier::{Carrier, LeftOut, Meeting, Places, hashes_of, of_words, to_set};
use super::explain::Explanation;
use super::method::Method;
use super::pair::TwoTexts;
use super::reading::Reading;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::imatch::{self, IdfRange};
use crate::features::signatures::distinct;
use crate::features::tokens::Document;
use crate::hash::mix;
use crate::joins::keys::Key;
use crate::joins::pairs::Pairs;
use crate::joins::sketches::technique::Technique;
use crate::joins::sketches::{Comparison, sketch_pairs};
use crate::memory;

/// Finds documents with equal I-Match signatures: without the terms that nearly all documents have,
/// the sets of their terms are equal (Chowdhury, Frieder, Grossman, McCabe, TOIS 2002).
///
/// All such pairs are found. Each pair has similarity 1. O(words).
///
/// ```
/// use neardup_core::parameters::IdfRange;
/// use neardup_core::{Corpus, FeatureSpec, Imatch};
///
/// let method = Imatch { spec: FeatureSpec::WORDS, range: IdfRange::default() };
/// let texts = ["the red crane", "Crane, the red", "the quay"];
/// let pairs = Corpus::of_texts(&texts).pairs(&method)?;
/// assert_eq!((pairs.len(), pairs[0].right), (1, 1));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Imatch {
    /// The definition of a term. Repeats do not count.
    pub spec: FeatureSpec,
    /// The range of the idf of the terms that are used.
    pub range: IdfRange,
}

impl Method for Imatch {
    /// The terms that are used depend on all documents of a table, so the result is known only if
    /// all terms of the two documents are the same, or if one of the two has no terms.
    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        let counts = pair.shared(self.spec, stop)?;
        let [shared, left, right] = counts;
        let same = shared == left && shared == right && shared > 0;
        let explained = match same {
            true => Explanation::new(1.0, true),
            false if left == 0 || right == 0 => Explanation::new(0.0, false),
            false => Explanation::unknown("depends on how many documents of the table have each word"),
        };
        Ok(explained.with_shared(counts))
    }

    fn carrier(&self) -> Option<&dyn Carrier> {
        Some(self)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let (collectors, dictionary) = reading.read_sets(self.spec, false)?.into_parts();
        let documents = reading.texts();
        let parts = imatch::of_documents(collectors, dictionary, self.range, documents, reading.executor)?;
        let signatures = distinct(parts, reading.right_from(), reading.executor)?;
        reading.account.distinct_sets = signatures.len() as u64;
        reading.held(2 * signatures.bytes());
        let equal = Technique::Equal { at: 0, words: imatch::WIDTH };
        let comparison = Comparison::by_technique(equal);
        sketch_pairs(signatures, None, comparison, reading.left_after(0))
    }
}

const DOING: &str = "reading terms";

/// Returns the terms that count. If none does, all terms count.
fn kept(carried: &[u8], left_out: LeftOut<'_>) -> Result<Vec<u64>> {
    let all = to_set(carried)?;
    let counts = |term: &u64| !left_out.has(*term);
    if !all.iter().any(counts) {
        return Ok(all);
    }
    Ok(all.into_iter().filter(counts).collect())
}

impl Carrier for Imatch {
    fn carry(&self, document: &Document, _: Places<'_>, stop: &Stop) -> Result<Vec<u8>> {
        let spec = FeatureSpec { multiset: false, ..self.spec };
        of_words(&hashes_of(document, &spec, DOING, stop)?)
    }

    fn meeting(&self) -> Meeting {
        Meeting::Terms { most: None }
    }

    fn keys(&self, carried: &[u8], left_out: LeftOut<'_>, keys: &mut Vec<Key>, _: &Stop) -> Result<()> {
        let key = kept(carried, left_out)?.into_iter().fold(0, |key, term| mix(key ^ term));
        memory::push(keys, Key::from_hash(key), DOING)
    }

    fn set(&self, carried: &[u8], _: &Stop) -> Result<Vec<u64>> {
        to_set(carried)
    }

    fn counts(&self, having: u64, all: u64) -> bool {
        self.range.keeps(having, all)
    }

    fn similarity(&self, [a, b]: [&[u8]; 2], left_out: LeftOut<'_>, _: &Stop) -> Result<Option<f64>> {
        Ok((kept(a, left_out)? == kept(b, left_out)?).then_some(1.0))
    }
}
