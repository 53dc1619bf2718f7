//! The explanation of a pair by a method. For each kind of method there is a struct for its
//! evidence, which a caller can serialise.

use serde::Serialize;

pub use crate::verify::overlap::{TokenOverlap, WeighedOverlap, WeighedWord};

/// The explanation of a pair by a method.
///
/// ```
/// use neardup_core::explain::Details;
/// use neardup_core::{Edit, Method, Stop, TwoTexts};
///
/// let texts = TwoTexts::new(["quay", "quays"])?;
/// let explained = Edit::within(1).explain(&texts, &Stop::default())?;
/// let Some(Details::Edit(edit)) = explained.evidence.details else { panic!("details of edit") };
/// assert_eq!((edit.distance, edit.longer), (1, 5));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The similarity, or `None` if it is unknown.
    pub similarity: Option<f64>,
    /// The evidence for the similarity.
    pub evidence: Evidence,
}

#[cfg_attr(not(feature = "internals"), doc(hidden))]
impl Explanation {
    /// Creates an explanation with the similarity. `pair` is true if `near_duplicates` returns the
    /// pair when it is called with only the name of the method.
    pub fn new(similarity: f64, pair: bool) -> Self {
        let evidence = Evidence { pair: Some(pair), ..Evidence::default() };
        Self { similarity: Some(similarity), evidence }
    }

    /// Creates an explanation with the reason why the similarity is unknown.
    pub fn unknown(why: &'static str) -> Self {
        let evidence = Evidence { not_computed: Some(why), ..Evidence::default() };
        Self { similarity: None, evidence }
    }

    /// Adds the condition on which it depends whether the two texts are a pair.
    #[must_use]
    pub fn depending(mut self, on: &'static str) -> Self {
        (self.evidence.pair, self.evidence.depends) = (None, Some(on));
        self
    }

    /// Adds details.
    #[must_use]
    pub fn with(mut self, details: Details) -> Self {
        self.evidence.details = Some(details);
        self
    }

    /// Adds the number of tokens that both texts share, and the number of tokens of each text.
    #[must_use]
    pub fn with_shared(self, counts: [u32; 3]) -> Self {
        self.with(Details::Sets(TokenOverlap::from(counts)))
    }
}

/// The evidence for a similarity.
///
/// It is serialised (with serde) without the fields that are unknown.
///
/// ```
/// use neardup_core::parameters::IdfRange;
/// use neardup_core::{FeatureSpec, Imatch, Method, Stop, TwoTexts};
///
/// let texts = TwoTexts::new(["red crane", "blue crane"])?;
/// let method = Imatch { spec: FeatureSpec::WORDS, range: IdfRange::default() };
/// let evidence = method.explain(&texts, &Stop::default())?.evidence;
/// assert!(evidence.pair.is_none() && evidence.not_computed.is_some());
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Evidence {
    /// True if the two texts are a pair; `None` if that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<bool>,
    /// The condition on which it depends whether the texts are a pair, if the two texts alone do
    /// not determine it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends: Option<&'static str>,
    /// The reason why the similarity was not computed.
    #[serde(rename = "not computed", skip_serializing_if = "Option::is_none")]
    pub not_computed: Option<&'static str>,
    /// Further details from the method.
    #[serde(flatten)]
    pub details: Option<Details>,
}

/// The details of a kind of method.
///
/// ```
/// use neardup_core::explain::{Details, TokenOverlap};
/// use neardup_core::{Measure, Method, Sets, Stop, TwoTexts};
///
/// let texts = TwoTexts::new(["to be or not", "to be"])?;
/// let explained = Sets::of_words(Measure::Jaccard, 0.8)?.explain(&texts, &Stop::default())?;
/// let expected = Details::Sets(TokenOverlap { shared: 2, left: 4, right: 2 });
/// assert_eq!(explained.evidence.details, Some(expected));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Details {
    /// Details of methods that compare sets.
    Sets(TokenOverlap),
    /// Details of methods that compare sets of words that weigh.
    Weighed(WeighedOverlap),
    /// Details of `edit`.
    Edit(Distance),
    /// Details of `tlcs` and `lcs`.
    Tlcs(Subsequence),
    /// Details of sketches.
    Sketches(Agreement),
    /// Details of feature codes.
    Codes(TwoCodes),
    /// Details of runs of tokens.
    Runs(RunsOfTwo),
}

/// The runs of tokens that two texts have.
///
/// ```
/// use neardup_core::explain::Details;
/// use neardup_core::parameters::RunShare;
/// use neardup_core::{Method, Runs, Stop, Tokenizer, TwoTexts};
///
/// let of = RunShare::Smaller;
/// let tokenizer = Tokenizer::Words;
/// let method = Runs { min_run: 3, of, threshold: 0.5, max_documents: None, tokenizer };
/// let texts = TwoTexts::new(["The red crane left.", "A ship and the red crane."])?;
/// let evidence = method.explain(&texts, &Stop::default())?.evidence;
/// let Some(Details::Runs(found)) = evidence.details else { panic!("details of runs") };
/// assert_eq!((found.shared, found.tokens, found.count), ([3, 3], [4, 6], 1));
/// assert_eq!((found.runs[0].left_span, found.runs[0].right_span), ([1, 14], [12, 25]));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunsOfTwo {
    /// The least number of tokens of a run.
    pub min_run: usize,
    /// The number of tokens of each text that are in a common run.
    pub shared: [u32; 2],
    /// The number of tokens of each text.
    pub tokens: [u32; 2],
    /// The number of runs that are longer in neither direction.
    #[serde(rename = "runs")]
    pub count: usize,
    /// The places of the first runs; the length of a run is a number of tokens.
    #[serde(rename = "regions")]
    pub runs: Vec<Region>,
}

/// An edit distance: that of Levenshtein, or if the method counts swaps, that of Damerau.
///
/// ```
/// use neardup_core::explain::{Details, Distance};
/// use neardup_core::{Edit, Method, Stop, TwoTexts};
///
/// let texts = TwoTexts::new(["harbour", "arbor"])?;
/// let evidence = Edit::new(0.8)?.explain(&texts, &Stop::default())?.evidence;
/// assert_eq!(evidence.details, Some(Details::Edit(Distance { distance: 2, longer: 7, damerau: None })));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Distance {
    /// The number of characters to change.
    pub distance: u32,
    /// The number of characters of the longer text.
    pub longer: u32,
    /// The distance by which two neighbours that change places are one edit, if it is less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damerau: Option<u32>,
}

/// A longest common subsequence, and the facts that make the two texts candidates.
///
/// ```
/// use neardup_core::explain::Details;
/// use neardup_core::parameters::{StopRules, TlcsThresholds};
/// use neardup_core::{Method, Stop, Tlcs, TwoTexts};
///
/// let method = Tlcs {
///     signatures: Default::default(),
///     rules: StopRules::default(),
///     parameters: Default::default(),
///     thresholds: TlcsThresholds { resemblance: 0.5, containment: None },
///     weight: None,
///     words: None,
///     whole_sets: false,
/// };
/// let texts = TwoTexts::new(["The crane left on Monday.", "The crane left on Monday."])?;
/// let evidence = method.explain(&texts, &Stop::default())?.evidence;
/// let Some(Details::Tlcs(subsequence)) = evidence.details else { panic!("details of tlcs") };
/// assert_eq!((subsequence.shared_signatures, subsequence.signatures), (16, [16, 16]));
/// assert_eq!(subsequence.found.map(|common| common.shared), Some(25));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Subsequence {
    /// The common subsequence, if there is one.
    #[serde(flatten)]
    pub found: Option<Common>,
    /// The number of sentence signatures that both texts have.
    pub shared_signatures: usize,
    /// The number of sentence signatures of each text.
    pub signatures: [usize; 2],
}

/// The common part of two texts.
///
/// ```
/// use neardup_core::explain::Common;
///
/// let common = Common { containment: 0.5, shared: 6, left: 20, right: 12, regions: None };
/// assert_eq!(common.shared as f64 / common.right as f64, common.containment);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Common {
    /// The length of the subsequence as a share of the shorter text.
    pub containment: f64,
    /// The number of characters of the subsequence.
    pub shared: usize,
    /// The number of characters of the left text.
    pub left: usize,
    /// The number of characters of the right text.
    pub right: usize,
    /// The positions of trustable parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regions: Option<Vec<Region>>,
}

/// A part of two texts. Spans are as in SQL: half-open ranges that count from 1.
///
/// ```
/// use neardup_core::explain::Region;
///
/// // The third to the sixth character of the left text are the first four of the right one.
/// let region = Region { left_span: [3, 7], right_span: [1, 5], length: 4 };
/// assert_eq!(region.left_span[1] - region.left_span[0], region.length);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Region {
    /// The characters in the left text.
    pub left_span: [usize; 2],
    /// The characters in the right text.
    pub right_span: [usize; 2],
    /// The number of these characters that are shared.
    pub length: usize,
}

/// The agreement of two sketches.
///
/// ```
/// use neardup_core::explain::Details;
/// use neardup_core::parameters::TechniqueSpec;
/// use neardup_core::{FeatureSpec, Method, Sketches, Stop, TwoTexts};
///
/// let feature = FeatureSpec::WORDS;
/// let simhash = TechniqueSpec::Simhash { feature, bits: 64, frequency: true, threshold: 0.9 };
/// let texts = TwoTexts::new(["to be or not", "not to be, or"])?;
/// let evidence = Sketches::by_technique(simhash).explain(&texts, &Stop::default())?.evidence;
/// let Some(Details::Sketches(agreement)) = evidence.details else { panic!("of sketches") };
/// let alike = agreement.alike.map(|alike| (alike.alike, alike.bits));
/// assert_eq!(alike, Some((64, Some(64))));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// The number of parts that agree, for a single technique.
    #[serde(flatten)]
    pub alike: Option<Alike>,
    /// The result of each of several techniques.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub techniques: Option<Vec<TechniqueSays>>,
    /// The tokens, if sets are compared.
    #[serde(flatten)]
    pub sets: Option<TokenOverlap>,
}

/// The result of one of several techniques.
///
/// ```
/// use neardup_core::explain::TechniqueSays;
///
/// let says = TechniqueSays { technique: "minhash", similarity: 0.4, agrees: false, alike: None };
/// assert!(!says.agrees);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TechniqueSays {
    /// The name of the technique.
    pub technique: &'static str,
    /// The similarity, even if it is below the threshold.
    pub similarity: f64,
    /// True if the technique considers the two documents similar.
    pub agrees: bool,
    /// The number of parts that agree.
    #[serde(flatten)]
    pub alike: Option<Alike>,
}

/// The number of parts that agree, and the number of all parts: bits, supershingles, bands or
/// values.
///
/// ```
/// use neardup_core::explain::Alike;
///
/// // Five of six supershingles agree.
/// let alike = Alike { alike: 5, supershingles: Some(6), ..Alike::default() };
/// assert_eq!((alike.alike, alike.supershingles, alike.bits), (5, Some(6), None));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Alike {
    /// The number of parts that agree.
    pub alike: u32,
    /// The number of bits of simhashes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits: Option<u32>,
    /// The number of supershingles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supershingles: Option<u32>,
    /// The number of bands of minhash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bands: Option<u32>,
    /// The number of values of stored minhash sketches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<u32>,
}

/// Feature codes.
///
/// ```
/// use neardup_core::explain::Details;
/// use neardup_core::parameters::CodeSpec;
/// use neardup_core::{ByCodes, Method, Stop, TwoTexts};
///
/// let spec = CodeSpec { min_length: 1, ..CodeSpec::default() };
/// let texts = TwoTexts::new(["甲乙，丙丁。", "甲乙。"])?;
/// let method = ByCodes { spec, threshold: Some(0.5) };
/// let evidence = method.explain(&texts, &Stop::default())?.evidence;
/// let Some(Details::Codes(codes)) = evidence.details else { panic!("details of codes") };
/// assert_eq!((&*codes.left_code, &*codes.right_code), ("甲乙丙丁", "甲乙"));
/// assert_eq!((codes.left_in_right, codes.right_in_left), (Some(0.5), Some(1.0)));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TwoCodes {
    /// The share of the left code that is in the right one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_in_right: Option<f64>,
    /// The share of the right code that is in the left one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right_in_left: Option<f64>,
    /// The left code.
    pub left_code: String,
    /// The right code.
    pub right_code: String,
}
