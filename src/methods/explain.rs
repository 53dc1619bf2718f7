//! What a method says of a pair, and what that is made of: the evidence is one struct for each kind of method, which a
//! caller serialises.

use serde::Serialize;

use crate::verify::overlap::SharedTokens;

/// What a method says of a pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The similarity, none where it is not known.
    pub similarity: Option<f64>,
    /// What it is made of.
    pub evidence: Evidence,
}

impl Explanation {
    /// Says the similarity, and whether `near_duplicates` gives the pair with nothing but the method's name.
    pub fn new(similarity: f64, pair: bool) -> Self {
        let evidence = Evidence { pair: Some(pair), ..Evidence::default() };
        Self { similarity: Some(similarity), evidence }
    }

    /// Says why the similarity is not known.
    pub fn unknown(why: &'static str) -> Self {
        let evidence = Evidence { not_computed: Some(why), ..Evidence::default() };
        Self { similarity: None, evidence }
    }

    /// Says what it depends on whether they are a pair.
    #[must_use]
    pub fn depending(mut self, on: &'static str) -> Self {
        (self.evidence.pair, self.evidence.depends) = (None, Some(on));
        self
    }

    /// And this.
    #[must_use]
    pub fn with(mut self, details: Details) -> Self {
        self.evidence.details = Some(details);
        self
    }

    /// And how many tokens both share, and each has.
    #[must_use]
    pub fn with_shared(self, counts: [u32; 3]) -> Self {
        self.with(Details::Sets(SharedTokens::from(counts)))
    }
}

/// What a similarity is made of.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Evidence {
    /// Whether the two are a pair, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pair: Option<bool>,
    /// What that depends on where the two texts alone do not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends: Option<&'static str>,
    /// Why the similarity is not.
    #[serde(rename = "not computed", skip_serializing_if = "Option::is_none")]
    pub not_computed: Option<&'static str>,
    /// What the method knows beside.
    #[serde(flatten)]
    pub details: Option<Details>,
}

/// What a kind of method knows.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Details {
    /// Of methods that compare sets.
    Sets(SharedTokens),
    /// Of `edit`.
    Edit(Distance),
    /// Of `tlcs` and `lcs`.
    Tlcs(Subsequence),
    /// Of sketches.
    Sketches(Agreement),
    /// Of feature codes.
    Codes(TwoCodes),
}

/// A Levenshtein distance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Distance {
    /// Characters to change.
    pub distance: u32,
    /// Characters of the longer text.
    pub longer: u32,
}

/// A longest common subsequence, and what makes the two candidates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Subsequence {
    /// What is shared, if anything is.
    #[serde(flatten)]
    pub found: Option<Common>,
    /// Sentence signatures that both texts have.
    pub shared_signatures: usize,
    /// Those of each.
    pub signatures: [usize; 2],
}

/// What two texts have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Common {
    /// The share of the shorter text.
    pub containment: f64,
    /// Characters of the subsequence.
    pub shared: usize,
    /// Characters of the left text.
    pub left: usize,
    /// Of the right one.
    pub right: usize,
    /// Where trustable parts are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regions: Option<Vec<Region>>,
}

/// A part of two texts; spans as SQL has them: half open, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Region {
    /// Its characters in the left text.
    pub left_span: [usize; 2],
    /// In the right one.
    pub right_span: [usize; 2],
    /// How many of them are shared.
    pub length: usize,
}

/// What sketches have in common.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Agreement {
    /// What is alike, of a single technique.
    #[serde(flatten)]
    pub alike: Option<Alike>,
    /// What each of several techniques says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub techniques: Option<Vec<TechniqueSays>>,
    /// The tokens, where sets are compared.
    #[serde(flatten)]
    pub sets: Option<SharedTokens>,
}

/// What one technique of several says.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TechniqueSays {
    /// Its name.
    pub technique: &'static str,
    /// The similarity, below the threshold, too.
    pub similarity: f64,
    /// Whether the two are similar by it.
    pub agrees: bool,
    /// What is alike.
    #[serde(flatten)]
    pub alike: Option<Alike>,
}

/// How much is alike, out of how many: bits, supershingles, bands, values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Alike {
    /// How many are.
    pub alike: u32,
    /// Bits of simhashes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits: Option<u32>,
    /// Supershingles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supershingles: Option<u32>,
    /// Bands of minhash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bands: Option<u32>,
    /// Values of minhash sketches that are stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<u32>,
}

/// Feature codes.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TwoCodes {
    /// How much of the left code is in the right one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_in_right: Option<f64>,
    /// How much of the right code is in the left one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right_in_left: Option<f64>,
    /// The left code.
    pub left_code: String,
    /// The right one.
    pub right_code: String,
}
