//! Balls. A ball around a document consists of the sets whose similarity to the document's set is
//! at least a given value. A measure and a tokenizer define the similarity. All numbers are
//! little-endian.
//!
//! | bytes | |
//! | --- | --- |
//! | 0 | version of this format; version 1 is the format of [`crate::sketches::balls`] |
//! | 1 | the measure: 1 jaccard, 2 cosine, 3 dice, 4 overlap, 5 containment of the row, 6 of the document |
//! | 2 | the kind of document and how it is tokenized ([`Origin`]) |
//! | 3 | 1 if the k-th occurrence of a token is a distinct element, else 0 |
//! | 4, 5 | tokens in a shingle |
//! | 6 | the form in which texts are compared ([`Normalization`]), or 0 |
//! | 7 | 1 if words weigh differently, else 0 |
//! | 8 to 15 | the least similarity, a double |
//! | from 16 on, if words weigh | length of a list of [weights](super::weights) (4 bytes), and its bytes |
//! | then | document: UTF-8 text; tokens as length (4 bytes) and bytes; or 8-byte numbers |
//!
//! A ball stores the document itself and no hash of it, so the rows in it never depend on a version
//! of the hash or of anything else.

use std::sync::Arc;

use super::json::{JsonReader, JsonWriter, WHOLE};
use super::weights::KeyWeights;
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::normalization::Normalization;
use crate::features::origin::Origin;
use crate::features::tokens::Document;
use crate::memory;
use crate::sketches::minhash::check_similarity;
use crate::sketches::wire::number;
use crate::verify::measure::Measure;

/// The version of the format in this file.
pub const VERSION: u8 = 2;
/// The number of bytes before the document.
pub const HEADER: usize = 16;
/// The name of the type, for error messages.
pub const NAME: &str = "text_ball";
const DOING: &str = "making a ball";

const MEASURES: [&str; 6] = ["jaccard", "cosine", "dice", "overlap", "containment", "containment_of_query"];

/// Returns the measure with this number.
pub fn measure_of_number(number: u8) -> Option<Measure> {
    Measure::ALL.into_iter().find(|measure| *measure as u8 == number)
}

/// Returns the name of a measure.
pub fn measure_name(measure: Measure) -> &'static str {
    MEASURES[measure as usize - 1]
}

/// Returns the measure with this name.
pub fn measure_of_name(name: &str) -> Option<Measure> {
    Measure::ALL.into_iter().find(|&measure| measure_name(measure) == name)
}

/// The parameters of a ball's similarity, without the least similarity.
#[derive(Debug, Clone, PartialEq)]
pub struct SetParameters {
    /// The measure. For a measure with a direction, the left set is that of a row and the right set
    /// is that of the ball.
    pub measure: Measure,
    /// The kind of documents.
    pub origin: Origin,
    /// The rules by which documents become sets.
    pub features: FeatureSpec,
    /// The form in which texts are compared. The document of a ball is in this form already.
    pub normalization: Option<Normalization>,
    /// What words weigh, unless all weigh the same.
    pub weights: Option<Arc<KeyWeights>>,
}

impl SetParameters {
    /// Reports whether words can weigh: single words of texts in no form.
    pub fn can_weigh(&self) -> bool {
        let of_texts = matches!(self.origin, Origin::Words | Origin::Whitespace | Origin::Html);
        of_texts && self.features.shingle == 1 && self.normalization.is_none()
    }

    /// Returns the parameters with the weights of a list ([`KeyWeights::bytes_of`]). Fails if the
    /// bytes are none, or if words cannot weigh.
    pub fn weighed(self, list: &[u8]) -> Result<Self> {
        if list.is_empty() {
            return Ok(Self { weights: None, ..self });
        }
        if !self.can_weigh() {
            return Err(bad(format!("only single words weigh, not {}", self.describe())));
        }
        let weights = KeyWeights::parse(list, self.features, self.measure == Measure::Cosine)?;
        let weights = weights.ok_or_else(|| bad("its weights are none"))?;
        Ok(Self { weights: Some(Arc::new(weights)), ..self })
    }

    /// Reports whether a document is of the origin's kind.
    pub fn take(&self, document: &Document) -> bool {
        match document {
            Document::Text(_) => Origin::of_text(self.origin.tokenizer()) == Some(self.origin),
            Document::Tokens(_) => matches!(self.origin, Origin::Tokens | Origin::Lexemes),
            Document::Numbers(_) => self.origin == Origin::Numbers,
            Document::Page(_) => false,
        }
    }

    /// Describes the parameters in words: `jaccard, words, shingle 1, multiset`.
    pub fn describe(&self) -> String {
        let Self { measure, origin, features, normalization, weights } = self;
        let repeats = if features.multiset { "multiset" } else { "set" };
        let form = normalization.map_or_else(String::new, |form| format!(", {}", form.name()));
        let listed = weights.as_ref().map(|weights| weights.list().count());
        let weights =
            listed.map_or_else(String::new, |words| format!(", weights of words ({words} lighter)"));
        let (measure, origin) = (measure_name(*measure), origin.name());
        format!("{measure}, {origin}, shingle {}, {repeats}{form}{weights}", features.shingle)
    }
}

/// The document at the centre of a ball.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Middle<'a> {
    Text(&'a str),
    Tokens(Tokens<'a>),
    Numbers(&'a [[u8; size_of::<i64>()]]),
}

/// The bytes of tokens, already validated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tokens<'a>(&'a [u8]);

impl<'a> Iterator for Tokens<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (length, rest) = self.0.split_first_chunk()?;
        let (token, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        self.0 = rest;
        std::str::from_utf8(token).ok()
    }
}

/// The sets that are similar to a document's set.
#[derive(Debug, Clone, PartialEq)]
pub struct SetBall<'a> {
    /// The definition of similarity.
    pub parameters: SetParameters,
    /// The least similarity, in (0, 1].
    pub similarity: f64,
    middle: Middle<'a>,
}

impl<'a> SetBall<'a> {
    /// Builds the ball around a document, as bytes. Fails for a similarity outside (0, 1], and for
    /// a document that is not of the origin's kind. The tokenizer of texts follows from the origin.
    pub fn build(parameters: &SetParameters, similarity: f64, document: &Document) -> Result<Vec<u8>> {
        let mut bytes = header(parameters, similarity)?;
        let unlike = || bad(format!("its document is not of {}", parameters.origin.name()));
        if !parameters.take(document) {
            return Err(unlike());
        }
        match document {
            Document::Text(text) => memory::extend(&mut bytes, text.as_bytes(), DOING)?,
            Document::Tokens(tokens) => {
                for token in tokens {
                    push_token(&mut bytes, |bytes| memory::extend(bytes, token.as_bytes(), DOING))?;
                }
            }
            Document::Numbers(numbers) => {
                memory::reserve(&mut bytes, size_of_val(numbers.as_slice()), DOING)?;
                numbers.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
            }
            // No origin has pages.
            Document::Page(_) => return Err(unlike()),
        }
        Ok(bytes)
    }

    /// Parses a ball. Fails for malformed bytes. O(bytes).
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        if let Some(&version) = bytes.first().filter(|&&version| version != VERSION) {
            return Err(bad(format!("its format is version {version}, this neardup knows 1 and {VERSION}")));
        }
        let Some((&[_, measure, origin, multiset, low, high, form, weighed, similarity @ ..], document)) =
            bytes.split_first_chunk::<HEADER>()
        else {
            return Err(bad(format!("{} bytes are too few", bytes.len())));
        };
        let measure =
            measure_of_number(measure).ok_or_else(|| bad(format!("measure {measure} is not known")))?;
        let origin = Origin::from_byte(origin).ok_or_else(|| bad(format!("origin {origin} is not known")))?;
        if multiset > 1 || weighed > 1 {
            return Err(bad("reserved bytes are not 0"));
        }
        let shingle = u16::from_le_bytes([low, high]);
        let form = Normalization::from_number(form)
            .ok_or_else(|| bad(format!("normalization form {form} is not known")))?;
        let parameters = parameters(measure, origin, shingle, multiset == 1, form)?;
        let (list, document) = match weighed {
            0 => (None, document),
            _ => split_list(document).ok_or_else(|| bad("its weights are cut off"))?,
        };
        let parameters = list.map_or(Ok(parameters.clone()), |list| parameters.weighed(list))?;
        let similarity = f64::from_le_bytes(similarity);
        check_similarity(similarity).map_err(|error| bad(error.to_string()))?;
        let utf8 = |bytes| std::str::from_utf8(bytes).map_err(|_| bad("its document is not UTF-8"));
        let middle = match origin {
            Origin::Tokens | Origin::Lexemes => {
                let mut tokens = Tokens(document);
                while !tokens.0.is_empty() {
                    tokens.next().ok_or_else(|| bad("a token is cut off, or is not UTF-8"))?;
                }
                Middle::Tokens(Tokens(document))
            }
            Origin::Numbers => {
                let (numbers, rest) = document.as_chunks();
                if !rest.is_empty() {
                    return Err(bad(format!("{} bytes are no whole number of numbers", document.len())));
                }
                Middle::Numbers(numbers)
            }
            _ => Middle::Text(utf8(document)?),
        };
        Ok(Self { parameters, similarity, middle })
    }

    /// Returns the document at the centre.
    pub fn document(&self) -> Result<Document> {
        Ok(match self.middle {
            Middle::Text(text) => Document::Text(memory::copied(text, DOING)?),
            Middle::Tokens(tokens) => {
                let mut all = Vec::new();
                for token in tokens {
                    memory::push(&mut all, memory::copied(token, DOING)?, DOING)?;
                }
                Document::Tokens(all)
            }
            Middle::Numbers(numbers) => {
                let numbers = numbers.iter().map(|&number| i64::from_le_bytes(number));
                Document::Numbers(memory::collect(numbers, DOING)?)
            }
        })
    }

    /// Returns the approximate number of bytes that the tokens are made from.
    pub fn bytes(&self) -> usize {
        match self.middle {
            Middle::Text(text) => text.len(),
            Middle::Tokens(tokens) => tokens.0.len(),
            Middle::Numbers(numbers) => size_of_val(numbers),
        }
    }

    /// Formats the ball as text: `<jaccard:words:k1:multiset:0.8:"a text">`, or, in a normalization
    /// form, `<jaccard:words:k1:multiset:0.8:nfkc:"a text">`, or, with weights,
    /// `<jaccard:words:k1:multiset:0.8:weight["gmbh",410]:"a text">`. A document is cut off after
    /// `most` characters; then the weights are left out.
    pub fn to_text(&self, most: usize, stop: &Stop) -> Result<String> {
        let SetParameters { measure, origin, features, normalization, ref weights } = self.parameters;
        let repeats = if features.multiset { "multiset" } else { "set" };
        let (measure, origin) = (measure_name(measure), origin.name());
        let (similarity, form) = (self.similarity, Normalization::prefix(normalization));
        let head = format!("<{measure}:{origin}:k{}:{repeats}:{similarity}:{form}", features.shingle);
        let mut writer = JsonWriter::new(head, most, stop);
        if let Some(weights) = weights {
            writer.put(WEIGHED)?;
            if most == WHOLE {
                weights.write_text(&mut writer)?;
            }
            writer.put(":")?;
        }
        match self.middle {
            Middle::Text(text) => writer.string(text)?,
            Middle::Tokens(tokens) => writer.list(tokens, |writer, token| writer.string(token))?,
            Middle::Numbers(numbers) => {
                writer.list(numbers.iter(), |writer, &number| {
                    writer.put(&i64::from_le_bytes(number).to_string())
                })?;
            }
        }
        writer.finish()
    }

    /// Parses the output of [`SetBall::to_text`] and returns the ball's bytes.
    pub fn from_text(text: &str, stop: &Stop) -> Result<Vec<u8>> {
        let inner = text.trim().strip_prefix('<').and_then(|text| text.strip_suffix('>'));
        let fields: Vec<&str> = inner.unwrap_or_default().splitn(6, ':').collect();
        let &[measure, origin, shingle, repeats, similarity, document] = fields.as_slice() else {
            return Err(bad("it should be <, 6 parts with colons between them, and >"));
        };
        let measure = measure_of_name(measure.trim()).ok_or_else(|| bad("its measure is not known"))?;
        let origin = Origin::from_name(origin).ok_or_else(|| bad("what its document is is not known"))?;
        let shingle = number(shingle, "k").ok_or_else(|| bad("its k is missing"))?;
        let multiset = match repeats {
            "multiset" => true,
            "set" => false,
            _ => return Err(bad("it should say multiset or set")),
        };
        let similarity = similarity.trim().parse().map_err(|_| bad("its similarity is not a number"))?;
        let (form, document) = Normalization::without_prefix(document);
        let parameters = parameters(measure, origin, shingle, multiset, form)?;
        let weighed = document.strip_prefix(WEIGHED);
        let mut reader = JsonReader::new(weighed.unwrap_or(document), NAME, stop);
        let list = weighed.map(|_| KeyWeights::read_text(&mut reader)).transpose()?.flatten();
        if weighed.is_some() && list.is_none() {
            return Err(bad("its weights should be a list of words and weights, with a colon after it"));
        }
        let parameters = list.map_or(Ok(parameters.clone()), |list| parameters.weighed(&list))?;
        let mut bytes = header(&parameters, similarity).map_err(|error| bad(error.to_string()))?;
        match origin {
            Origin::Tokens | Origin::Lexemes => {
                reader.list(|reader| push_token(&mut bytes, |bytes| reader.string(bytes)))?;
            }
            Origin::Numbers => {
                reader.list(|reader| memory::extend(&mut bytes, &reader.number()?.to_le_bytes(), DOING))?;
            }
            _ => reader.string(&mut bytes)?,
        }
        reader.end()?;
        Ok(bytes)
    }
}

/// Checks the parameters of a ball, except for its similarity and its document.
fn parameters(
    measure: Measure,
    origin: Origin,
    shingle: u16,
    multiset: bool,
    normalization: Option<Normalization>,
) -> Result<SetParameters> {
    let shingle =
        FeatureSpec::check_shingle("shingle", shingle.into()).map_err(|error| bad(error.to_string()))?;
    let features = FeatureSpec { tokenizer: origin.tokenizer(), shingle, multiset, wrap: false };
    check_form(origin, normalization)?;
    Ok(SetParameters { measure, origin, features, normalization, weights: None })
}

fn check_form(origin: Origin, normalization: Option<Normalization>) -> Result<()> {
    let no_form = || bad(format!("a document of {} has no normalization form", origin.name()));
    if Normalization::fits(normalization, origin) { Ok(()) } else { Err(no_form()) }
}

fn header(parameters: &SetParameters, similarity: f64) -> Result<Vec<u8>> {
    let SetParameters { measure, origin, features, normalization, weights } = parameters;
    check_similarity(similarity)?;
    check_form(*origin, *normalization)?;
    // The shingle was checked where it was given: it is at most 1000.
    let [low, high] = (features.shingle as u16).to_le_bytes();
    let form = Normalization::number(*normalization);
    let (multiset, weighed) = (features.multiset.into(), weights.is_some().into());
    let mut bytes =
        head([VERSION, *measure as u8, *origin as u8, multiset, low, high, form, weighed], similarity)?;
    if let Some(weights) = weights {
        push_token(&mut bytes, |bytes| memory::extend(bytes, weights.bytes(), DOING))?;
    }
    Ok(bytes)
}

/// With what weights begin in the text form of a ball.
const WEIGHED: &str = "weight";

/// Returns the bytes of a list of weights, and what follows it.
fn split_list(bytes: &[u8]) -> Option<(Option<&[u8]>, &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    let (list, rest) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    (!list.is_empty()).then_some((Some(list), rest))
}

/// Returns the head of a ball: these bytes, and the least similarity.
pub(super) fn head(first: [u8; 8], similarity: f64) -> Result<Vec<u8>> {
    check_similarity(similarity)?;
    memory::collect(first.into_iter().chain(similarity.to_le_bytes()), DOING)
}

/// Appends the length of a token and then the token, which `write` appends.
fn push_token(bytes: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>) -> Result<()>) -> Result<()> {
    let start = bytes.len();
    memory::extend(bytes, &[0; size_of::<u32>()], DOING)?;
    let from = bytes.len();
    write(bytes)?;
    let length = u32::try_from(bytes.len() - from)
        .map_err(|_| Error::TooMany { what: "bytes in a token", limit: u32::MAX.into() })?;
    bytes[start..from].copy_from_slice(&length.to_le_bytes());
    Ok(())
}

pub(super) fn bad(why: impl Into<String>) -> Error {
    Error::Malformed { what: NAME, why: why.into() }
}

#[cfg(test)]
mod tests;
