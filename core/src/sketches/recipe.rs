//! The composition of signatures: which sketches of which tokens they contain, and where.

use crate::features::tokens::FeatureSpec;

/// A part of a signature. `feature` is the number of a kind of tokens in the [`Recipe`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignaturePart {
    /// A simhash.
    Simhash {
        /// The kind of tokens.
        feature: usize,
        /// The number of bits.
        bits: u16,
        /// Whether each occurrence of a token counts, rather than each token once.
        frequency: bool,
    },
    /// A key for each band of minhash values. The keys of a few bands with many rows are
    /// supershingles.
    Bands {
        /// The kind of tokens.
        feature: usize,
        /// The number of bands.
        bands: u16,
        /// The number of values in a band.
        rows: u16,
        /// The seed of the hash functions.
        seed: i64,
        /// Whether the values themselves follow the keys, two values in each number.
        keep_values: bool,
    },
    /// The MD5 of the text.
    Checksum {
        /// Whether white space, control and format characters are left out.
        clean: bool,
        /// Whether the text is extracted from an HTML page.
        html: bool,
    },
}

impl SignaturePart {
    /// Returns how many numbers the part takes.
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

/// The description of the signature of each document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recipe {
    /// The kinds of tokens.
    pub features: Vec<FeatureSpec>,
    /// The parts, in the order of the signature.
    pub parts: Vec<SignaturePart>,
    /// The kind of tokens whose sets are kept. If there is one, each signature begins with the
    /// number of tokens in the document's set and with two numbers that are equal for equal sets.
    pub sets: Option<usize>,
    /// Whether each signature ends with a number for the site.
    pub site: bool,
}

impl Recipe {
    /// The number of numbers before the parts if sets are kept.
    pub const OF_SET: usize = 3;

    /// Adds a kind of tokens if it is new, and returns its number.
    pub fn feature(&mut self, spec: FeatureSpec) -> usize {
        self.features.iter().position(|known| *known == spec).unwrap_or_else(|| {
            self.features.push(spec);
            self.features.len() - 1
        })
    }

    /// Adds a part if it is new, and returns its number.
    pub fn part(&mut self, part: SignaturePart) -> usize {
        self.parts.iter().position(|known| *known == part).unwrap_or_else(|| {
            self.parts.push(part);
            self.parts.len() - 1
        })
    }

    /// Returns the place in a signature at which a part begins.
    pub fn at(&self, part: usize) -> usize {
        let of_set = if self.sets.is_some() { Self::OF_SET } else { 0 };
        of_set + self.parts[..part].iter().map(SignaturePart::width).sum::<usize>()
    }

    /// Returns the place of the number of tokens in a signature, if sets are kept.
    pub fn sizes(&self) -> Option<usize> {
        self.sets.map(|_| 0)
    }

    /// Returns the place of the site in a signature.
    pub fn site_at(&self) -> usize {
        self.at(self.parts.len())
    }

    /// Returns how many numbers a signature has.
    pub fn width(&self) -> usize {
        self.site_at() + usize::from(self.site)
    }
}
