//! The common parts of minhash and simhash sketches as bytes and as text.

use crate::error::{Error, Result, check_version, split_header};
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::origin::Origin;
use crate::{hash, memory, text};

/// The version of the formats of both kinds.
pub const VERSION: u8 = 1;

/// The common header of both kinds of sketches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SketchHeader {
    /// The version of [`crate::hash`].
    pub hash_version: u8,
    /// The version of [`crate::text`].
    pub text_version: u8,
    /// The kind of elements.
    pub source: Origin,
    /// Whether the document had no elements.
    pub empty: bool,
    /// The number of words (or other units) in a shingle.
    pub k: u16,
    /// The number of permutations or bits.
    pub size: u16,
}

impl SketchHeader {
    /// The number of bytes of the common header.
    pub(super) const BYTES: usize = 12;

    /// Creates a header with the current versions, for a document that is not empty.
    pub(super) fn new(source: Origin, k: u16, size: u16) -> Self {
        Self { hash_version: hash::VERSION, text_version: text::VERSION, source, empty: false, k, size }
    }

    /// Returns the stored form.
    pub(super) fn bytes(&self) -> [u8; Self::BYTES] {
        let ([k0, k1], [n0, n1]) = (self.k.to_le_bytes(), self.size.to_le_bytes());
        let source = self.source as u8;
        let empty = u8::from(self.empty);
        [VERSION, self.hash_version, self.text_version, source, empty, 0, k0, k1, n0, n1, 0, 0]
    }

    /// Reads the header and checks everything but the range of the size.
    pub(super) fn parse(bytes: &[u8], what: &'static str) -> Result<Self> {
        let bad = |why: String| Error::Malformed { what, why };
        let (&[_, hash_version, text_version, source, empty, zero, k0, k1, n0, n1, zero2, zero3], _) =
            split_header::<{ Self::BYTES }>(what, bytes, VERSION)?;
        let source = Origin::of_sketch(|origin| origin as u8 == source)
            .ok_or_else(|| bad(format!("source {source} is not known")))?;
        if empty > 1 || [zero, zero2, zero3] != [0; 3] {
            return Err(bad("reserved bytes are not 0".to_owned()));
        }
        let k = u16::from_le_bytes([k0, k1]);
        FeatureSpec::check_shingle("k", k.into()).map_err(|error| bad(error.to_string()))?;
        let size = u16::from_le_bytes([n0, n1]);
        Ok(Self { hash_version, text_version, source, empty: empty == 1, k, size })
    }

    /// Describes the kind of sketch in words, for errors.
    pub(super) fn describe(&self, unit: &str) -> String {
        let Self { hash_version, text_version, source, k, size, .. } = self;
        format!("{size} {unit} of {}, k {k}, version {hash_version}.{text_version}", source.name())
    }
}

/// Reads the fields that texts of both kinds begin with; the size is not among them.
pub(super) fn common_from_text(what: &'static str, kind: &str, fields: [&str; 5]) -> Result<SketchHeader> {
    let bad = |why: &str| Error::Malformed { what, why: why.to_owned() };
    let [name, version, source, versions, k] = fields;
    if name != kind {
        return Err(bad(&format!("it should begin with {kind}:")));
    }
    let version = number(version, "v").ok_or_else(|| bad("its format's version is missing"))?;
    check_version(what, version, VERSION)?;
    let source = Origin::of_sketch(|origin| origin.name() == source)
        .ok_or_else(|| bad("what it was made from is not known"))?;
    let versions = versions.strip_prefix('h').and_then(|versions| versions.split_once('.'));
    let versions = versions.and_then(|(hash, text)| Some((hash.parse().ok()?, text.parse().ok()?)));
    let (hash_version, text_version) =
        versions.ok_or_else(|| bad("the versions of hash and text are missing"))?;
    let k = number(k, "k").ok_or_else(|| bad("its k is missing"))?;
    Ok(SketchHeader { hash_version, text_version, source, empty: false, k, size: 0 })
}

/// Returns the number that follows a name in a field.
pub fn number<T: std::str::FromStr>(field: &str, name: &str) -> Option<T> {
    field.strip_prefix(name)?.parse().ok()
}

const DOING: &str = "reading or writing a text of digits";

/// Appends bytes as hexadecimal digits.
pub fn push_hex(text: &mut String, bytes: &[u8], stop: &Stop) -> Result<()> {
    const DIGITS: [char; 16] =
        ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    memory::reserve_text(text, 2 * bytes.len(), DOING)?;
    for bytes in bytes.chunks(HEX_PIECE) {
        stop.check()?;
        for byte in bytes {
            text.push(DIGITS[usize::from(byte >> 4)]);
            text.push(DIGITS[usize::from(byte & 15)]);
        }
    }
    Ok(())
}

/// The number of bytes written or read between two checks of `stop`.
const HEX_PIECE: usize = 1 << 16;

/// Returns the bytes of hexadecimal digits, or `None` if there are other characters.
pub fn from_hex(digits: &str, stop: &Stop) -> Result<Option<Vec<u8>>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok();
    let mut bytes = Vec::new();
    memory::reserve(&mut bytes, pairs.len(), DOING)?;
    for pairs in pairs.chunks(HEX_PIECE) {
        stop.check()?;
        for pair in pairs {
            let Some(byte) = byte(pair) else { return Ok(None) };
            bytes.push(byte);
        }
    }
    Ok(rest.is_empty().then_some(bytes))
}
