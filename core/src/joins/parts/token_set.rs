//! Sets of tokens as values: the 64-bit hashes of the tokens, after a header that describes how
//! they were made. All numbers are little-endian.
//!
//! | bytes | |
//! | --- | --- |
//! | 0 | version of this format |
//! | 1 | version of the hash |
//! | 2 | version of the text rules |
//! | 3 | the origin of the tokens ([`Origin`]) |
//! | 4 | 1 if the k-th occurrence of a token is a distinct token, else 0 |
//! | 5 | 0 |
//! | 6, 7 | tokens in a shingle |
//! | from 8 on | the hashes, in ascending order |

use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::features::hash_sets::make_set;
use crate::features::tokens::{Document, Scratch, for_each_token};
use crate::features::{FeatureSpec, Tokenizer};
use crate::sketches::wire::{from_hex, number, push_hex};
use crate::verify::measure::Measure;
use crate::{hash, memory, text};

/// The name of the type, for error messages.
pub const NAME: &str = "token_set";
/// The version of the format, and of the derivation of hashes from tokens.
const VERSION: u8 = 1;
/// The number of bytes before the hashes.
pub const HEADER: usize = 8;
const DOING: &str = "making a set of tokens";

/// The origin of tokens. The numbers of the variants are part of the stored format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Origin {
    /// Words of a text.
    Words = 1,
    /// Character q-grams of a text.
    Chars = 2,
    /// Parts of a text between white space.
    Whitespace = 3,
    /// Strings that were given.
    Tokens = 4,
    /// Numbers that were given.
    Numbers = 5,
    /// Lexemes of a tsvector.
    Lexemes = 6,
    /// Words of an HTML page.
    Html = 7,
}

impl Origin {
    const NAMES: [(Self, &'static str); 7] = [
        (Self::Words, "words"),
        (Self::Chars, "chars"),
        (Self::Whitespace, "whitespace"),
        (Self::Tokens, "tokens"),
        (Self::Numbers, "numbers"),
        (Self::Lexemes, "lexemes"),
        (Self::Html, "html"),
    ];

    /// Returns the name of the origin.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize - 1].1
    }

    /// Returns the origin with this number in the stored format.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::NAMES.get(usize::from(byte).checked_sub(1)?).map(|(origin, _)| *origin)
    }

    /// Returns the origin with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(_, its)| *its == name).map(|(origin, _)| origin)
    }

    /// Returns the tokenizer for texts of this origin, or [`Tokenizer::Words`] if the tokens do not
    /// come from texts.
    pub fn tokenizer(self) -> Tokenizer {
        match self {
            Self::Chars => Tokenizer::Chars,
            Self::Whitespace => Tokenizer::Whitespace,
            Self::Html => Tokenizer::Html,
            Self::Words | Self::Tokens | Self::Numbers | Self::Lexemes => Tokenizer::Words,
        }
    }

    /// Returns the origin of the tokens that a tokenizer makes of a text, or `None` if there is no
    /// origin for the tokenizer.
    pub fn of_text(tokenizer: Tokenizer) -> Option<Self> {
        match tokenizer {
            Tokenizer::Words => Some(Self::Words),
            Tokenizer::Chars => Some(Self::Chars),
            Tokenizer::Whitespace => Some(Self::Whitespace),
            Tokenizer::Html => Some(Self::Html),
            Tokenizer::RawChars | Tokenizer::Whole => None,
        }
    }
}

/// The header of a set, which describes how it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    hash_version: u8,
    text_version: u8,
    origin: Origin,
    multiset: bool,
    shingle: u16,
}

impl Header {
    /// Returns the header of a set that is made now. Shingles have at most 1000 tokens.
    pub fn new(origin: Origin, spec: &FeatureSpec) -> Self {
        let (multiset, shingle) = (spec.multiset, spec.shingle as u16);
        Self { hash_version: hash::VERSION, text_version: text::VERSION, origin, multiset, shingle }
    }

    fn bytes(&self) -> [u8; HEADER] {
        let [low, high] = self.shingle.to_le_bytes();
        let Self { hash_version, text_version, origin, multiset, .. } = *self;
        [VERSION, hash_version, text_version, origin as u8, multiset.into(), 0, low, high]
    }

    fn repeats(&self) -> &'static str {
        if self.multiset { "multiset" } else { "set" }
    }

    fn describe(&self) -> String {
        let Self { hash_version, text_version, origin, shingle, .. } = self;
        let repeats = self.repeats();
        format!("{}, shingle {shingle}, {repeats}, version {hash_version}.{text_version}", origin.name())
    }
}

/// Encodes the set of a document. O(n · log n) for n tokens.
pub fn of_document(
    document: &Document,
    spec: &FeatureSpec,
    origin: Origin,
    scratch: &mut Scratch,
    stop: &Stop,
) -> Result<Vec<u8>> {
    let mut hashes = Vec::new();
    for_each_token(document, spec, scratch, stop, |token| memory::push(&mut hashes, token.hash(), DOING))?;
    make_set(&mut hashes, spec.multiset, stop)?;
    let mut bytes = Vec::new();
    memory::reserve(&mut bytes, HEADER + hashes.len() * size_of::<u64>(), DOING)?;
    bytes.extend(Header::new(origin, spec).bytes());
    for hashes in hashes.chunks(1 << 16) {
        stop.check()?;
        hashes.iter().for_each(|hash| bytes.extend(hash.to_le_bytes()));
    }
    Ok(bytes)
}

/// A set in its encoded form.
#[derive(Debug, Clone, Copy)]
pub struct TokenSet<'a> {
    header: Header,
    hashes: &'a [[u8; size_of::<u64>()]],
}

fn bad(why: impl Into<String>) -> Error {
    Error::Malformed { what: NAME, why: why.into() }
}

impl<'a> TokenSet<'a> {
    /// Parses a set. Fails for malformed bytes, but only [`TokenSet::check`] tests that hashes are
    /// in ascending order. O(1).
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        if let Some(&version) = bytes.first().filter(|&&version| version != VERSION) {
            return Err(bad(format!("its format is version {version}, this neardup knows {VERSION}")));
        }
        let Some((&[_, hash_version, text_version, origin, multiset, zero, low, high], rest)) =
            bytes.split_first_chunk::<HEADER>()
        else {
            return Err(bad(format!("{} bytes are too few", bytes.len())));
        };
        let origin = Origin::from_byte(origin).ok_or_else(|| bad(format!("origin {origin} is not known")))?;
        if multiset > 1 || zero != 0 {
            return Err(bad("reserved bytes are not 0"));
        }
        let shingle = u16::from_le_bytes([low, high]);
        FeatureSpec::check_shingle("shingle", shingle.into()).map_err(|error| bad(error.to_string()))?;
        let (hashes, rest) = rest.as_chunks();
        if !rest.is_empty() || u32::try_from(hashes.len()).is_err() {
            return Err(bad(format!("{} bytes are no whole number of tokens", bytes.len())));
        }
        let multiset = multiset == 1;
        Ok(Self { header: Header { hash_version, text_version, origin, multiset, shingle }, hashes })
    }

    /// Takes the hashes of the tokens of a set, in ascending order. Such a set has the same origin
    /// as all others that are made in this way.
    pub fn of_hashes(hashes: &'a [[u8; size_of::<u64>()]]) -> Self {
        let header = Header::new(Origin::Tokens, &FeatureSpec { multiset: false, ..FeatureSpec::WORDS });
        Self { header, hashes }
    }

    /// Parses bytes from an untrusted source. Also fails unless hashes are in ascending order.
    pub fn check(bytes: &'a [u8]) -> Result<Self> {
        let set = Self::parse(bytes)?;
        if set.hashes().is_sorted_by(|a, b| a < b) { Ok(set) } else { Err(bad("its tokens do not ascend")) }
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> u32 {
        // The length fits into 32 bits: `parse` has checked it.
        self.hashes.len() as u32
    }

    /// Reports whether there are no tokens.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Reports whether the tokens are numbers, of which the set holds the hashes: numbers that were
    /// given, or hashes of shingles.
    pub fn is_of_numbers(&self) -> bool {
        let Header { origin, shingle, .. } = self.header;
        origin == Origin::Numbers || shingle > 1 && origin != Origin::Chars
    }

    /// Returns the hashes in ascending order.
    pub fn hashes(&self) -> impl Iterator<Item = u64> + '_ {
        self.hashes.iter().map(|&hash| u64::from_le_bytes(hash))
    }

    /// Returns the number of tokens that two sets share. Fails if they were not made in the same
    /// way. O(|a| + |b|).
    pub fn shared(&self, other: &TokenSet<'_>, stop: &Stop) -> Result<u32> {
        const CHECK_EVERY: usize = 1 << 16;
        if self.header != other.header {
            let [a, b] = [self, other].map(|set| set.header.describe());
            return Err(Error::Unlike { what: NAME, a, b });
        }
        let (a, b) = (self.hashes, other.hashes);
        let (mut i, mut j, mut shared) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            stop.check()?;
            for _ in 0..(a.len() - i).min(b.len() - j).min(CHECK_EVERY) {
                let (x, y) = (u64::from_le_bytes(a[i]), u64::from_le_bytes(b[j]));
                // There are no branches, because the result of the comparison is unpredictable.
                shared += u32::from(x == y);
                i += usize::from(x <= y);
                j += usize::from(y <= x);
            }
        }
        Ok(shared)
    }

    /// Returns the similarity of two sets that were made in the same way; 0 if one is empty.
    pub fn similarity(&self, other: &TokenSet<'_>, measure: Measure, stop: &Stop) -> Result<f64> {
        Ok(measure.similarity(self.shared(other, stop)?, self.len(), other.len()))
    }

    /// Formats the set as text: `tokens:v1:words:h1.1:k1:multiset:` and its hashes, byte by byte in
    /// hexadecimal digits.
    pub fn to_text(&self, stop: &Stop) -> Result<String> {
        let Header { hash_version, text_version, origin, shingle, .. } = self.header;
        let (name, repeats) = (origin.name(), self.header.repeats());
        let mut text =
            format!("tokens:v{VERSION}:{name}:h{hash_version}.{text_version}:k{shingle}:{repeats}:");
        push_hex(&mut text, self.hashes.as_flattened(), stop)?;
        Ok(text)
    }

    /// Parses the output of [`TokenSet::to_text`] and returns its bytes.
    pub fn from_text(text: &str, stop: &Stop) -> Result<Vec<u8>> {
        let fields: Vec<&str> = text.trim().splitn(8, ':').collect();
        let &["tokens", version, origin, versions, shingle, repeats, hashes] = fields.as_slice() else {
            return Err(bad("it should begin with tokens: and have 7 parts with colons between them"));
        };
        if number::<u8>(version, "v") != Some(VERSION) {
            return Err(bad(format!("its format is {version}, this neardup knows v{VERSION}")));
        }
        let origin = Origin::from_name(origin).ok_or_else(|| bad("what it was made of is not known"))?;
        let versions = versions.strip_prefix('h').and_then(|versions| versions.split_once('.'));
        let versions = versions.and_then(|(hash, text)| Some((hash.parse().ok()?, text.parse().ok()?)));
        let (hash_version, text_version) =
            versions.ok_or_else(|| bad("the versions of hash and text are missing"))?;
        let shingle = number(shingle, "k").ok_or_else(|| bad("its k is missing"))?;
        let multiset = match repeats {
            "multiset" => true,
            "set" => false,
            _ => return Err(bad("it should say multiset or set")),
        };
        let hashes = from_hex(hashes, stop)?.ok_or_else(|| bad("its tokens are not hexadecimal digits"))?;
        let header = Header { hash_version, text_version, origin, multiset, shingle };
        let mut bytes = Vec::new();
        memory::reserve(&mut bytes, HEADER + hashes.len(), DOING)?;
        bytes.extend(header.bytes());
        bytes.extend_from_slice(&hashes);
        TokenSet::check(&bytes)?;
        Ok(bytes)
    }
}
