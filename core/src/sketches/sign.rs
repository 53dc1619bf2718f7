//! Turns documents into signatures: the data that a method needs from each document, as a sequence
//! of numbers.
//!
//! A [`Recipe`] says which sketches are made of which tokens. Each document is cut once for each
//! kind of tokens, even if several sketches are made of these tokens. The text of a document is not
//! kept.

use super::checksum::checksum;
use super::minhash::Minhasher;
use super::simhash::{self, Simhasher};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::hash_sets::{SetCollector, make_set};
use crate::features::signatures::SignatureCollector;
use crate::features::tokens::{Document, FeatureSpec, Scratch, for_each_token};
use crate::hash::{hash_bytes, hash_bytes_128};
use crate::memory;
use crate::text::html::read_text;

const DOING: &str = "making signatures";

/// The sketcher of a part.
#[derive(Debug)]
enum PartSketcher {
    Simhash(Simhasher),
    Minhash(Minhasher),
    Checksum,
}

/// Makes the signatures of one worker's documents.
#[derive(Debug)]
pub struct Signer {
    recipe: Recipe,
    makers: Vec<PartSketcher>,
    /// The signatures made so far.
    pub signatures: SignatureCollector,
    /// The sets that are kept.
    pub sets: SetCollector,
    /// The number of documents without any content for a signature. They are similar to nothing.
    pub empty: u64,
    /// The number of tokens of the first kind in all documents.
    pub tokens: u64,
    scratch: Scratch,
    page: String,
    /// For each kind of tokens, the hashes of all occurrences. `different` contains the hashes of
    /// the distinct tokens.
    hashes: Vec<Vec<u64>>,
    different: Vec<Vec<u64>>,
    words: Vec<u64>,
    bytes: Vec<u8>,
}

impl Signer {
    /// Creates a signer without documents.
    pub fn new(recipe: &Recipe) -> Self {
        let makers = recipe.parts.iter().map(|part| match *part {
            SignaturePart::Simhash { bits, .. } => PartSketcher::Simhash(Simhasher::new(bits)),
            SignaturePart::Bands { bands, rows, seed, .. } => {
                PartSketcher::Minhash(Minhasher::new(bands * rows, seed))
            }
            SignaturePart::Checksum { .. } => PartSketcher::Checksum,
        });
        Self {
            makers: makers.collect(),
            signatures: SignatureCollector::new(recipe.width()),
            sets: SetCollector::default(),
            empty: 0,
            tokens: 0,
            scratch: Scratch::default(),
            page: String::new(),
            hashes: vec![Vec::new(); recipe.features.len()],
            different: vec![Vec::new(); recipe.features.len()],
            words: Vec::new(),
            bytes: Vec::new(),
            recipe: recipe.clone(),
        }
    }

    /// Adds the signature of a document. After an error, including a stop, the signer is as it was
    /// before the call.
    pub fn add(&mut self, row: u32, document: &Document, stop: &Stop) -> Result<()> {
        self.cut(document, stop)?;
        self.words.clear();
        if !self.sign(document, stop)? {
            self.empty += 1;
            return Ok(());
        }
        if let Some(feature) = self.recipe.sets {
            self.sets.add(row, &self.different[feature])?;
        }
        self.signatures.add(row, &self.words)?;
        self.tokens += self.hashes.first().map_or(0, Vec::len) as u64;
        Ok(())
    }

    /// Makes the signature of one document without adding it. Returns the signature, and the set of
    /// the document if sets are kept; `None` if the document has no content for a signature.
    pub fn sign_one(&mut self, document: &Document, stop: &Stop) -> Result<Option<(&[u64], &[u64])>> {
        self.cut(document, stop)?;
        self.words.clear();
        let is_signed = self.sign(document, stop)?;
        let set = self.recipe.sets.map_or(&[][..], |feature| &self.different[feature]);
        Ok(is_signed.then_some((&self.words, set)))
    }

    /// Cuts a document into tokens of each kind.
    fn cut(&mut self, document: &Document, stop: &Stop) -> Result<()> {
        let Self { recipe, scratch, hashes, different, .. } = self;
        for (n, spec) in recipe.features.iter().enumerate() {
            let (hashes, different) = (&mut hashes[n], &mut different[n]);
            hashes.clear();
            for_each_token(document, spec, scratch, stop, |token| {
                memory::push(hashes, token.element(), DOING)
            })?;
            let once = recipe
                .parts
                .iter()
                .any(|part| matches!(part, SignaturePart::Simhash { feature, frequency: false, .. } if *feature == n));
            if spec.multiset || once || recipe.sets == Some(n) {
                different.clear();
                memory::extend(different, hashes, DOING)?;
                make_set(different, spec.multiset, stop)?;
            }
        }
        Ok(())
    }

    /// Makes the signature. Returns false if the document has no content for one.
    fn sign(&mut self, document: &Document, stop: &Stop) -> Result<bool> {
        let Self { recipe, makers, page, hashes, different, words, bytes, .. } = self;
        memory::reserve(words, recipe.width(), DOING)?;
        if let Some(feature) = recipe.sets {
            let set = &different[feature];
            // Equal sets have equal hashes. Distinct sets have equal hashes only with probability
            // 2^-128.
            let hash = hash_bytes_128(bytemuck::cast_slice(set));
            words.extend([set.len() as u64, hash as u64, (hash >> 64) as u64]);
        }
        for (part, maker) in recipe.parts.iter().zip(makers) {
            match (*part, maker) {
                (
                    SignaturePart::Simhash { feature, bits: count, frequency },
                    PartSketcher::Simhash(maker),
                ) => {
                    let elements = if frequency { &hashes[feature] } else { &different[feature] };
                    maker.clear();
                    add_elements(elements, stop, |element| maker.add(element))?;
                    let Some(bits) = maker.bits() else { return Ok(false) };
                    words.extend(simhash::words(&bits, count));
                }
                (SignaturePart::Bands { feature, rows, keep_values, .. }, PartSketcher::Minhash(maker)) => {
                    // Repeats do not change minhash values. With multisets, each occurrence of a
                    // token is an element of its own.
                    let multiset = recipe.features[feature].multiset;
                    let elements = if multiset { &different[feature] } else { &hashes[feature] };
                    maker.clear();
                    add_elements(elements, stop, |element| maker.add(element))?;
                    let Some(values) = maker.values() else { return Ok(false) };
                    band_keys(values, rows.into(), bytes, |key| words.push(key));
                    if keep_values {
                        let word = |word: u64, &value: &u32| word << 32 | u64::from(value);
                        words.extend(values.chunks(2).map(|pair| pair.iter().rev().fold(0, word)));
                    }
                }
                (SignaturePart::Checksum { clean, html }, _) => {
                    let text = match document {
                        Document::Text(text) if !html => text,
                        Document::Text(text) => {
                            read_text(text, None, page, stop)?;
                            &*page
                        }
                        Document::Page(source) => {
                            source.read(page, stop)?;
                            &*page
                        }
                        _ => return Ok(false),
                    };
                    let Some(checksum) = checksum(text, clean, stop)? else { return Ok(false) };
                    words.extend(checksum);
                }
                _ => return Ok(false),
            }
        }
        if recipe.site {
            words.push(0);
        }
        Ok(!words.is_empty())
    }

    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        self.signatures.bytes() + self.sets.bytes()
    }
}

/// Calls `each` with the keys of bands of `rows` values each. `bytes` is scratch memory.
pub fn band_keys(values: &[u32], rows: usize, bytes: &mut Vec<u8>, mut each: impl FnMut(u64)) {
    for (band, values) in (0u64..).zip(values.chunks(rows)) {
        // The key includes the number of the band, so the keys of two bands are never equal.
        bytes.clear();
        bytes.extend_from_slice(&band.to_le_bytes());
        values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
        each(hash_bytes(bytes));
    }
}

/// Calls `add` with all elements.
fn add_elements(elements: &[u64], stop: &Stop, mut add: impl FnMut(u64)) -> Result<()> {
    const CHECK_EVERY: usize = 1 << 14;
    elements.chunks(CHECK_EVERY).try_for_each(|elements| {
        stop.check()?;
        elements.iter().for_each(|&element| add(element));
        Ok(())
    })
}

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
