//! What signatures are made of: which sketches of which tokens, and where they stand.

use crate::features::tokens::FeatureSpec;

/// What is made of a document. `feature` is the number of a kind of tokens in its [`Recipe`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A simhash.
    Simhash {
        /// Of what tokens.
        feature: usize,
        /// Its bits.
        bits: u16,
        /// Whether each occurrence of a token counts, or each token once.
        frequency: bool,
    },
    /// A key for each band of minhash values. Those of few bands of many rows are supershingles.
    Bands {
        /// Of what tokens.
        feature: usize,
        /// How many bands.
        bands: u16,
        /// Values to a band.
        rows: u16,
        /// Draws the hash functions.
        seed: i64,
        /// Whether the values themselves follow the keys, two to a number.
        keep_values: bool,
    },
    /// MD5 of the text.
    Checksum {
        /// Whether white space, control and format characters are left out.
        clean: bool,
        /// Whether it is the text of an HTML page.
        html: bool,
    },
}

impl Part {
    /// How many numbers it takes.
    pub fn width(&self) -> usize {
        match *self {
            Self::Simhash { bits, .. } => usize::from(bits).div_ceil(64),
            Self::Bands { bands, rows, keep_values, .. } => {
                let values = usize::from(bands) * usize::from(rows);
                usize::from(bands) + if keep_values { values.div_ceil(2) } else { 0 }
            }
            Self::Checksum { .. } => 2,
        }
    }
}

/// What is made of each document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recipe {
    /// The kinds of tokens.
    pub features: Vec<FeatureSpec>,
    /// What is made of them, in the order in which it stands in a signature.
    pub parts: Vec<Part>,
    /// The kind of tokens whose sets are kept. Then each signature begins with their number, and two numbers that
    /// are equal for equal sets.
    pub sets: Option<usize>,
    /// Whether each signature ends with a number for the site.
    pub site: bool,
}

impl Recipe {
    /// Numbers before the parts where sets are kept.
    pub const OF_SET: usize = 3;

    /// Adds a kind of tokens, or finds it.
    pub fn feature(&mut self, spec: FeatureSpec) -> usize {
        self.features.iter().position(|known| *known == spec).unwrap_or_else(|| {
            self.features.push(spec);
            self.features.len() - 1
        })
    }

    /// Adds a part, or finds it.
    pub fn part(&mut self, part: Part) -> usize {
        self.parts.iter().position(|known| *known == part).unwrap_or_else(|| {
            self.parts.push(part);
            self.parts.len() - 1
        })
    }

    /// Where a part begins in a signature.
    pub fn at(&self, part: usize) -> usize {
        let of_set = if self.sets.is_some() { Self::OF_SET } else { 0 };
        of_set + self.parts[..part].iter().map(Part::width).sum::<usize>()
    }

    /// Where the number of tokens stands.
    pub fn sizes(&self) -> Option<usize> {
        self.sets.map(|_| 0)
    }

    /// Where the site stands.
    pub fn site_at(&self) -> usize {
        self.at(self.parts.len())
    }

    /// How many numbers a signature has.
    pub fn width(&self) -> usize {
        self.site_at() + usize::from(self.site)
    }
}
