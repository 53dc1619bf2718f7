//! Methods `tlcs` and `lcs`: sentence signatures, filtered sketches, and the (trustable) longest
//! common subsequence.
//!
//! In parts, the text is carried. Documents meet by sentence signatures, and by their words,
//! which are all that matters if they differ in white space alone.

use std::collections::HashSet;
use std::ops::Range;

use super::account::Unsigned;
use super::carrier::{Carrier, LeftOut, Meeting, Places, of_text, to_text, to_texts};
use super::explain::{Common, Details, Explanation, Region, Subsequence};
use super::method::{Grouping, Method};
use super::pair::TwoTexts;
use super::reading::{Reading, places};
use super::short_texts::LongParts;
use crate::clusters::perhaps_similar::of_sentences::{SentenceSets, compare_whole_sets};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::texts::{Distinct, distinct_in};
use crate::features::tokens::Document;
use crate::hash::mix;
use crate::joins::keys::Key;
use crate::joins::pairs::Pairs;
use crate::joins::sentences::lister::StopRules;
use crate::joins::sentences::sentence_pairs;
use crate::joins::sentences::signature_lists::SignatureLists;
use crate::joins::sentences::signing::{Signing, whole_text};
use crate::joins::sentences::text_measure::{TextComparer, TextMeasure};
use crate::memory;
use crate::sketches::sentence::{self, SentenceSigner};
use crate::storage::log::Log;
use crate::text::characters::{is_space, runs};
use crate::verify::lcs::containment;
use crate::verify::predicate::Predicate;
use crate::verify::tlcs::{Comparer, Found, Parameters, SharedPart, Thresholds};

/// Compares pages by their longest common subsequence, or by the trustable part of it (Huang, Wang,
/// Li, CIKM 2008).
///
/// Candidates are pages that share a signature of long sentences, so some pairs may be missed.
/// Among the candidates, every pair that reaches the thresholds is found. The method finds the same
/// article in pages with different frames, and distinguishes different articles in pages with the
/// same frame.
///
/// ```
/// use neardup_core::parameters::{SentenceParameters, StopRules, TlcsParameters, TlcsThresholds};
/// use neardup_core::{Corpus, Tlcs};
///
/// let method = Tlcs {
///     signatures: SentenceParameters::default(),
///     rules: StopRules::default(),
///     parameters: TlcsParameters::default(),
///     thresholds: TlcsThresholds { resemblance: 0.28, containment: Some(0.7) },
///     weight: None,
///     words: None,
///     whole_sets: false,
/// };
/// let story = "The bridge over the Ill was closed on Monday after the flood. ".repeat(9);
/// let pages = [format!("Home | News {story}"), format!("{story} Imprint, contact")];
/// let pairs = Corpus::of_texts(&pages).pairs(&method)?;
/// assert!(pairs.len() == 1 && pairs[0].similarity > 0.9);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tlcs {
    /// The signatures by which candidates are found.
    pub signatures: sentence::SignatureParameters,
    /// The rules for signatures that too many documents have.
    pub rules: StopRules,
    /// The parameters of the comparison of two documents.
    pub parameters: Parameters,
    /// The thresholds for similar pairs.
    pub thresholds: Thresholds,
    /// The column of document weights, for building sets.
    pub weight: Option<String>,
    /// If set, candidates are compared by the sets of their words instead, as *Cosine* is in
    /// section 4 of the paper. The parameters and the thresholds do not count then.
    pub words: Option<Predicate>,
    /// Whether all pairs of each perhaps-similar set are candidates, and not only documents that
    /// share a signature.
    pub whole_sets: bool,
}

impl Tlcs {
    /// Returns how candidates are compared.
    fn measure(&self) -> TextMeasure {
        let of_characters = TextMeasure::Subsequence(self.parameters, self.thresholds);
        self.words.map_or(of_characters, TextMeasure::Words)
    }

    /// Explains the result for two texts whose words are compared, or whose common subsequence is.
    fn explain_measure(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<(Explanation, Option<Common>)> {
        if let Some(predicate) = self.words {
            let counts @ [shared, left, right] = pair.shared(FeatureSpec::WORDS, stop)?;
            let passes = predicate.passes(shared, left, right);
            let similarity = predicate.similarity(shared, left, right);
            return Ok((Explanation::new(similarity, passes).with_shared(counts), None));
        }
        let [a, b] = pair.texts;
        let Some(found) = Comparer::new(self.parameters)?.compare(a, b, None, stop)? else {
            return Ok((Explanation::new(0.0, false), None));
        };
        let Found { shared, left, right, .. } = found;
        // Spans are as in SQL: half-open ranges that count from 1.
        let span = |range: &Range<usize>| [range.start + 1, range.end + 1];
        let region = |part: &SharedPart| Region {
            left_span: span(&part.left),
            right_span: span(&part.right),
            length: part.length,
        };
        let regions = self.parameters.trustable.then(|| found.parts.iter().map(region).collect());
        let containment = containment(shared, left.min(right));
        let common = Common { containment, shared, left, right, regions };
        let passes = self.thresholds.pass(shared, left, right);
        Ok((Explanation::new(found.resemblance(), passes), Some(common)))
    }

    /// Reads the documents, and lists the documents that have each signature.
    /// Also returns the file of the texts, if they do not fit in memory.
    fn lists(&self, reading: &mut Reading<'_>) -> Result<(Distinct, Log<u8>, SignatureLists)> {
        reading.compares(Some(LongParts::Sentences));
        let (collectors, mut file) = reading.read_texts(true, None)?;
        let distinct = distinct_in(collectors, &mut file, reading.right_from(), reading.executor)?;
        let budget = reading.left_after(distinct.texts.bytes());
        let (files, executor) = (reading.files, reading.executor);
        let (sites, progress) = reading.sites_and_progress();
        let (rules, measure) = ((self.rules, sites), self.measure());
        let mut signing =
            Signing::new((&distinct, &mut file), self.signatures, rules, measure, files, budget)?;
        while signing.step(executor)? {
            progress.report(&|| format!("making signatures, {:.0} %", 100.0 * signing.progress()));
        }
        let (lists, peak_bytes) = signing.finish(executor)?;
        reading.account.tokens = lists.signatures;
        reading.account.distinct_tokens = lists.distinct;
        reading.account.distinct_sets = distinct.texts.len() as u64;
        reading.account.unsigned = Unsigned {
            count: lists.unsigned,
            of: reading.texts(),
            units: "documents",
            without: match self.signatures.dispersed {
                0 => "sentence that is wide enough",
                _ => "sentence that is wide enough, or enough of them that are far enough apart",
            },
            found: "only documents that differ in white space alone are similar to them",
        };
        reading.held(distinct.texts.bytes() + peak_bytes.max(lists.bytes()));
        Ok((distinct, file, lists))
    }

    /// Returns how many bytes of texts to have in memory, if they are in a file.
    fn open_bytes(reading: &Reading<'_>, distinct: &Distinct, lists: &SignatureLists) -> usize {
        reading.left_after(distinct.texts.bytes() + lists.bytes()) / 4
    }
}

impl Method for Tlcs {
    fn compares_texts(&self) -> bool {
        true
    }

    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation> {
        let [a, b] = pair.texts;
        let mut signatures = SentenceSigner::new(self.signatures)?;
        let of_left: HashSet<u128> = signatures.signatures(a, stop)?.iter().copied().collect();
        let of_right: HashSet<u128> = signatures.signatures(b, stop)?.iter().copied().collect();
        let shared_signatures = of_left.intersection(&of_right).count();
        let (mut explained, found) = self.explain_measure(pair, stop)?;
        if shared_signatures == 0 && !runs(a).eq(runs(b)) && explained.evidence.pair == Some(true) {
            match self.whole_sets {
                true => explained = explained.depending("whether the two are in one perhaps-similar set"),
                false => explained.evidence.pair = Some(false),
            }
        }
        if self.words.is_some() {
            return Ok(explained);
        }
        let signatures = [of_left.len(), of_right.len()];
        Ok(explained.with(Details::Tlcs(Subsequence { found, shared_signatures, signatures })))
    }

    fn carrier(&self) -> Option<&dyn Carrier> {
        // The sets are those of all documents together.
        (!self.whole_sets).then_some(self as &dyn Carrier)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let (distinct, file, mut lists) = self.lists(reading)?;
        if self.whole_sets {
            let mut order = reading.order()?;
            memory::append(&mut order, reading.right_order()?.unwrap_or_default(), DOING)?;
            compare_whole_sets(&distinct, &mut lists, &places(&order)?, reading.executor)?;
            reading.held(distinct.texts.bytes() + lists.bytes());
        }
        let file = (file, Self::open_bytes(reading, &distinct, &lists));
        let ranks =
            if reading.right_from().is_some() { Vec::new() } else { ranks(&distinct, &reading.order()?)? };
        sentence_pairs(distinct, lists, ranks, self.measure(), file)
    }

    fn grouping(&self) -> Option<&dyn Grouping> {
        // Otherwise the pairs of the sets make the clusters.
        (!self.whole_sets).then_some(self as &dyn Grouping)
    }
}

#[cfg_attr(not(feature = "internals"), doc(hidden))]
impl Grouping for Tlcs {
    fn weight(&self) -> Option<&str> {
        self.weight.as_deref()
    }

    fn sets(&self, reading: &mut Reading<'_>) -> Result<SentenceSets> {
        let (distinct, file, lists) = self.lists(reading)?;
        let file = (file, Self::open_bytes(reading, &distinct, &lists));
        let order = reading.order()?;
        let weights = reading.weights(&order)?;
        let (vertices, weights) = (places(&order)?, weights.as_deref());
        SentenceSets::new(distinct, lists, vertices, weights, self.measure(), file, reading.executor)
    }
}

/// Returns the position of each text in the order of the ids. The position of a text is that of the
/// first of its rows.
fn ranks(distinct: &Distinct, order: &[u32]) -> Result<Vec<u32>> {
    let of_row = places(order)?;
    let first = |text| distinct.left.rows(text).iter().map(|&row| of_row[row as usize]).min().unwrap_or(0);
    memory::collect((0..distinct.left.len()).map(first), "ordering texts")
}

const DOING: &str = "choosing signatures of a text";

impl Carrier for Tlcs {
    fn carry(&self, document: &Document, _: Places<'_>, _: &Stop) -> Result<Vec<u8>> {
        let bytes = of_text(document)?;
        // A text of white space alone is similar to nothing.
        let is_blank = to_text(&bytes)?.chars().all(is_space);
        Ok(if is_blank { Vec::new() } else { bytes })
    }

    fn meeting(&self) -> Meeting {
        Meeting::Keys { most: Some(self.rules.most_documents), filter: None }
    }

    fn keys(&self, carried: &[u8], _: LeftOut<'_>, keys: &mut Vec<Key>, stop: &Stop) -> Result<()> {
        const WHOLE: u64 = 0x5748_4f4c_4554_4558;
        let text = to_text(carried)?;
        let mut signer = SentenceSigner::new(self.signatures)?;
        let signatures = signer.signatures(text, stop)?;
        memory::reserve(keys, signatures.len() + 1, DOING)?;
        // Both halves of a signature count.
        let half = |signature: u128| mix(signature as u64) ^ (signature >> 64) as u64;
        keys.extend(signatures.iter().map(|&signature| Key::limited(mix(half(signature)))));
        let whole = whole_text(text, &mut String::new())?;
        keys.extend(whole.map(|hash| Key::from_hash(mix(hash ^ WHOLE))));
        Ok(())
    }

    fn similarity(&self, pair: [&[u8]; 2], _: LeftOut<'_>, stop: &Stop) -> Result<Option<f64>> {
        let [a, b] = to_texts(pair)?;
        if a == b {
            return Ok(Some(1.0));
        }
        TextComparer::new(self.measure())?.compare(a, b, stop)
    }

    fn stop_rules(&self) -> Option<StopRules> {
        Some(self.rules)
    }

    fn overflows(&self) -> bool {
        true
    }

    fn is_ordered(&self) -> bool {
        self.words.is_none()
    }

    fn differs(&self) -> Option<&'static str> {
        self.rules.tried_beyond.map(|_| {
            "sentence signatures of many documents are not tried in parts, so that more pairs may be found than near_duplicates finds"
        })
    }
}
