//! The explanation of a pair by a method. For each kind of method there is a struct for its
//! evidence, which a caller can serialise.

use serde::Serialize;

pub use crate::verify::overlap::SharedTokens;

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
        self.with(Details::Sets(SharedTokens::from(counts)))
    }
}

/// The evidence for a similarity.
///
/// It is serialised (with serde) without the fields that are unknown.
///
/// ```
/// use neardup_core::{Imatch, FeatureSpec, IdfRange, Method, Stop, TwoTexts};
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
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Details {
    /// Details of methods that compare sets.
    Sets(SharedTokens),
    /// Details of `edit`.
    Edit(Distance),
    /// Details of `tlcs` and `lcs`.
    Tlcs(Subsequence),
    /// Details of sketches.
    Sketches(Agreement),
    /// Details of feature codes.
    Codes(TwoCodes),
}

/// A Levenshtein distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Distance {
    /// The number of characters to change.
    pub distance: u32,
    /// The number of characters of the longer text.
    pub longer: u32,
}

/// A longest common subsequence, and the facts that make the two texts candidates.
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
    pub sets: Option<SharedTokens>,
}

/// The result of one of several techniques.
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
