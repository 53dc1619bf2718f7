//! Method `spotsigs`: the exact join of the documents' sets of spot signatures by Jaccard
//! similarity.
//!
//! In parts, the set of the spot signatures is carried, and documents meet by it.

use super::account::Unsigned;
use super::carrier::{Carrier, LeftOut, Meeting, Places, of_words, similarity_of_sets, to_set};
use super::explain::Explanation;
use super::method::{Method, Update};
use super::pair::TwoTexts;
use super::reading::Reading;
use super::short_texts::LongParts;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::spotsigs::{Antecedents, SpotSpec, Spots};
use crate::features::tokens::Document;
use crate::features::units::sets::{DocumentUnit, UnitSets, Units, make_sets};
use crate::features::units::signatures::Features;
use crate::joins::Algorithm;
use crate::joins::pairs::Pairs;
use crate::verify::predicate::Predicate;

/// The part that a text without spot signatures lacks.
pub(super) const NO_SPOT: &str = "antecedent that a telling word follows";

/// Compares sets of spot signatures: chains of telling words that follow common words such as *the*
/// and *is* (Theobald, Siddharth, Paepcke, SIGIR 2008).
///
/// Running text has such chains, but menus and captions do not. So the same article is found in
/// pages with different frames. The join is exact.
///
/// ```
/// use neardup_core::parameters::{Predicate, SpotSpec};
/// use neardup_core::{Corpus, Measure, SpotSigs};
///
/// let predicate = Predicate::new(Measure::Jaccard, 0.6)?;
/// let method = SpotSigs { spec: SpotSpec::default(), predicate };
/// let story = "The boat left in the rain and the crew was on a train to the city.";
/// let pages = [format!("Home News Sport {story}"), format!("{story} Imprint Contact")];
/// assert_eq!(Corpus::of_texts(&pages).pairs(&method)?.len(), 1);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct SpotSigs {
    /// The derivation of sets from documents.
    pub spec: SpotSpec,
    /// The definition of similar sets.
    pub predicate: Predicate,
}

impl Method for SpotSigs {
    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        if let Antecedents::Counted(_) = self.spec.antecedents {
            return Ok(Explanation::unknown("depends on how many documents of the table have each word"));
        }
        let spots = Spots::new(&self.spec, None)?;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        spots.of_text(pair.texts[0], &mut left, stop)?;
        spots.of_text(pair.texts[1], &mut right, stop)?;
        // Both lists are in ascending order.
        let shared = left.iter().filter(|signature| right.binary_search(signature).is_ok()).count();
        // A document has at most `u32::MAX` words.
        let [shared, left, right] = [shared, left.len(), right.len()].map(|count| count as u32);
        let similarity = self.predicate.similarity(shared, left, right);
        let passes = self.predicate.passes(shared, left, right);
        Ok(Explanation::new(similarity, passes).with_shared([shared, left, right]))
    }

    fn update(&self) -> Update {
        match self.spec.antecedents {
            // A new document may change which words are frequent.
            Antecedents::Counted(_) => Update::Whole,
            _ => Update::Pairs,
        }
    }

    fn carrier(&self) -> Option<&dyn Carrier> {
        (!matches!(self.spec.antecedents, Antecedents::Counted(_))).then_some(self as &dyn Carrier)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        reading.compares(Some(LongParts::Spots));
        let (mut library, maker) =
            reading.read_units(DocumentUnit::Document, &Features::Spotsigs(self.spec.clone()))?;
        // Row numbers have 32 bits.
        let units = Units::of_rows(reading.rows() as u32, reading.right_from())?;
        let resources = reading.resources_after(library.bytes() + units.bytes());
        let UnitSets { ordered, signatures, empty, unsigned } =
            make_sets(&mut library, &units, &maker, resources, |done| {
                reading.report(|| format!("making signatures, {done} documents"));
            })?;
        reading.held(library.bytes() + ordered.peak_bytes);
        drop(library);
        let right = ordered.right.as_ref().map_or(0, |right| right.members.len());
        let of = reading.texts();
        let account = &mut reading.account;
        account.unsigned = Unsigned {
            count: unsigned,
            of,
            units: "documents",
            without: NO_SPOT,
            found: "nothing is similar to them",
        };
        // Rows without a text have no signature either.
        account.skipped_empty = empty - account.skipped_null;
        account.tokens = signatures;
        account.distinct_tokens = ordered.distinct_tokens as u64;
        account.distinct_sets = (ordered.left.members.len() + right) as u64;
        Pairs::new(ordered, self.predicate, Algorithm::Auto, reading.resources_after(0))
    }
}

impl Carrier for SpotSigs {
    fn carry(&self, document: &Document, _: Places<'_>, stop: &Stop) -> Result<Vec<u8>> {
        // Columns of other types are refused.
        let Document::Text(text) = document else { return Ok(Vec::new()) };
        let mut signatures = Vec::new();
        Spots::new(&self.spec, None)?.of_text(text, &mut signatures, stop)?;
        let mut set: Vec<u64> = signatures.into_iter().map(i64::cast_unsigned).collect();
        crate::executor::sort_unstable_by(&mut set, stop, &Ord::cmp)?;
        of_words(&set)
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
