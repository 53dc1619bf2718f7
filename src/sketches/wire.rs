//! Sketches as bytes: in tables, in indexes and over the wire. All numbers are little-endian.
//!
//! | bytes | minhash | simhash |
//! | --- | --- | --- |
//! | 0 | version of this format | the same |
//! | 1 | version of the hash | |
//! | 2 | version of the text rules | |
//! | 3 | what it was made from ([`Source`]) | |
//! | 4 | 1 for an empty document, else 0 | |
//! | 5 | 0 | |
//! | 6, 7 | k, words a shingle | |
//! | 8, 9 | number of permutations, m | number of bits, b |
//! | 10, 11 | 0 | 0 |
//! | 12 to 19 | seed | the bits begin, the first is the most significant |
//! | from 20 on | m values of 4 bytes | |
//!
//! Of an empty document all bits of the values (0 for simhash) are 1. So equal sketches have equal bytes.

use super::minhash;
use super::simhash;
use crate::error::{Error, Result};
use crate::features::FeatureSpec;
use crate::{hash, text};

/// Version of the formats in this file.
pub const VERSION: u8 = 1;

/// What the elements of a sketch are. The numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Source {
    /// Bits that were made elsewhere.
    Bits = 0,
    /// Words of a text.
    Words = 1,
    /// q-grams of characters of a text.
    Chars = 2,
    /// Runs of a text without white space.
    Whitespace = 3,
    /// Strings that were given.
    Tokens = 4,
    /// Numbers that were given.
    Numbers = 5,
    /// Lexemes of a tsvector.
    Lexemes = 6,
}

impl Source {
    const NAMES: [(Self, &'static str); 7] = [
        (Self::Bits, "bits"),
        (Self::Words, "words"),
        (Self::Chars, "chars"),
        (Self::Whitespace, "whitespace"),
        (Self::Tokens, "tokens"),
        (Self::Numbers, "numbers"),
        (Self::Lexemes, "lexemes"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    fn from_byte(byte: u8) -> Option<Self> {
        Self::NAMES.get(usize::from(byte)).map(|(source, _)| *source)
    }

    fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|(_, its)| *its == name).map(|(source, _)| source)
    }
}

/// What both kinds of sketches say of themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Common {
    hash_version: u8,
    text_version: u8,
    source: Source,
    empty: bool,
    k: u16,
    size: u16,
}

impl Common {
    const BYTES: usize = 12;

    fn new(source: Source, k: u16, size: u16) -> Self {
        Self { hash_version: hash::VERSION, text_version: text::VERSION, source, empty: false, k, size }
    }

    fn bytes(&self) -> [u8; Self::BYTES] {
        let ([k0, k1], [n0, n1]) = (self.k.to_le_bytes(), self.size.to_le_bytes());
        let source = self.source as u8;
        let empty = u8::from(self.empty);
        [VERSION, self.hash_version, self.text_version, source, empty, 0, k0, k1, n0, n1, 0, 0]
    }

    /// Reads and checks everything but the size's range.
    fn parse(bytes: &[u8], what: &'static str) -> Result<Self> {
        let bad = |why: String| Error::Malformed { what, why };
        if let Some(&version) = bytes.first().filter(|&&version| version != VERSION) {
            return Err(bad(format!("its format is version {version}, this neardup knows {VERSION}")));
        }
        let Some(&[_, hash_version, text_version, source, empty, zero, k0, k1, n0, n1, zero2, zero3]) =
            bytes.first_chunk::<{ Self::BYTES }>()
        else {
            return Err(bad(format!("{} bytes are too few", bytes.len())));
        };
        let source = Source::from_byte(source).ok_or_else(|| bad(format!("source {source} is not known")))?;
        if empty > 1 || [zero, zero2, zero3] != [0; 3] {
            return Err(bad("reserved bytes are not 0".to_owned()));
        }
        let k = u16::from_le_bytes([k0, k1]);
        FeatureSpec::check_shingle("k", k.into()).map_err(|error| bad(error.to_string()))?;
        let size = u16::from_le_bytes([n0, n1]);
        Ok(Self { hash_version, text_version, source, empty: empty == 1, k, size })
    }

    /// In words, for errors.
    fn describe(&self, unit: &str) -> String {
        let Self { hash_version, text_version, source, k, size, .. } = self;
        format!("{size} {unit} of {}, k {k}, version {hash_version}.{text_version}", source.name())
    }
}

const _: () = assert!(Common::BYTES == 12 && MinhashHeader::BYTES == 20 && SimhashHeader::BYTES == 12);

/// What a minhash sketch says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinhashHeader {
    /// Version of [`crate::hash`].
    pub hash_version: u8,
    /// Version of [`crate::text`].
    pub text_version: u8,
    /// What its elements are.
    pub source: Source,
    /// Whether the document had no elements.
    pub empty: bool,
    /// Words (or other units) to a shingle.
    pub k: u16,
    /// How many values it has, m.
    pub permutations: u16,
    /// What the permutations were drawn from.
    pub seed: i64,
}

impl MinhashHeader {
    /// Bytes before the values.
    pub const BYTES: usize = 20;

    /// A header of these versions for a document that is not empty.
    pub fn new(source: Source, k: u16, permutations: u16, seed: i64) -> Self {
        let (hash_version, text_version) = (hash::VERSION, text::VERSION);
        Self { hash_version, text_version, source, empty: false, k, permutations, seed }
    }

    fn common(&self) -> Common {
        let &Self { hash_version, text_version, source, empty, k, permutations, .. } = self;
        Common { hash_version, text_version, source, empty, k, size: permutations }
    }

    fn bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..Common::BYTES].copy_from_slice(&self.common().bytes());
        bytes[Common::BYTES..].copy_from_slice(&self.seed.to_le_bytes());
        bytes
    }

    /// The header's bytes without what depends on the document: equal exactly for sketches that
    /// compare.
    pub fn kind_bytes(&self) -> [u8; Self::BYTES] {
        Self { empty: false, ..*self }.bytes()
    }

    /// A sketch of these values; none stand for an empty document.
    pub fn sketch(&self, values: Option<&[u32]>) -> Vec<u8> {
        debug_assert!(values.is_none_or(|values| values.len() == usize::from(self.permutations)));
        let mut bytes = Vec::with_capacity(Self::BYTES + 4 * usize::from(self.permutations));
        bytes.extend_from_slice(&Self { empty: values.is_none(), ..*self }.bytes());
        match values {
            Some(values) => values.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes())),
            None => bytes.resize(bytes.capacity(), 0xff),
        }
        bytes
    }

    /// Whether sketches of both kinds may be compared; the error says what is unlike.
    pub fn check_like(&self, other: &Self) -> Result<()> {
        if self.kind_bytes() == other.kind_bytes() {
            return Ok(());
        }
        let in_words =
            |header: &Self| format!("{}, seed {}", header.common().describe("permutations"), header.seed);
        Err(Error::Unlike { what: "minhash_sketch", a: in_words(self), b: in_words(other) })
    }
}

/// A minhash sketch in its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Minhash<'a> {
    /// What it says of itself.
    pub header: MinhashHeader,
    /// The m values, 4 bytes each.
    pub values: &'a [u8],
}

impl<'a> Minhash<'a> {
    const NAME: &'static str = "minhash_sketch";

    /// Reads a sketch; errors for bytes that are none. O(1), O(m) if it is of an empty document.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let bad = |why: String| Error::Malformed { what: Self::NAME, why };
        let common = Common::parse(bytes, Self::NAME)?;
        let Common { hash_version, text_version, source, empty, k, size: permutations } = common;
        minhash::check_permutations(permutations.into()).map_err(|error| bad(error.to_string()))?;
        let Some((header, values)) = bytes.split_at_checked(MinhashHeader::BYTES) else {
            return Err(bad(format!("{} bytes are too few", bytes.len())));
        };
        if values.len() != 4 * usize::from(permutations) {
            let expected = MinhashHeader::BYTES + 4 * usize::from(permutations);
            return Err(bad(format!("{permutations} values take {expected} bytes, not {}", bytes.len())));
        }
        if empty && values.iter().any(|&byte| byte != 0xff) {
            return Err(bad("an empty document has values".to_owned()));
        }
        let mut seed = [0; 8];
        seed.copy_from_slice(&header[Common::BYTES..]);
        let seed = i64::from_le_bytes(seed);
        let header = MinhashHeader { hash_version, text_version, source, empty, k, permutations, seed };
        Ok(Self { header, values })
    }

    /// The sketch as text: `minhash:v1:words:h1.1:k5:seed1:m128:` and the values in hexadecimal digits, or `empty`.
    pub fn to_text(&self) -> String {
        let MinhashHeader { hash_version, text_version, source, empty, k, permutations, seed } = self.header;
        let source = source.name();
        let mut text = format!(
            "minhash:v{VERSION}:{source}:h{hash_version}.{text_version}:k{k}:seed{seed}:m{permutations}:"
        );
        if empty {
            text.push_str("empty");
        } else {
            let (values, _) = self.values.as_chunks::<4>();
            values.iter().for_each(|value| push_hex(&mut text, &[value[3], value[2], value[1], value[0]]));
        }
        text
    }

    /// Reads what [`Minhash::to_text`] writes, and gives its bytes.
    pub fn from_text(text: &str) -> Result<Vec<u8>> {
        let bad = |why: &str| Error::Malformed { what: Self::NAME, why: why.to_owned() };
        let fields: Vec<&str> = text.trim().split(':').collect();
        let &[name, version, source, versions, k, seed, permutations, values] = fields.as_slice() else {
            return Err(bad("it should have 8 parts with colons between them"));
        };
        let common = common_from_text(Self::NAME, "minhash", [name, version, source, versions, k])?;
        let permutations = number(permutations, "m").ok_or_else(|| bad("its number of values is missing"))?;
        let seed = number(seed, "seed").ok_or_else(|| bad("its seed is missing"))?;
        let Common { hash_version, text_version, source, k, .. } = common;
        let header =
            MinhashHeader { hash_version, text_version, source, empty: false, k, permutations, seed };
        let bytes = if values == "empty" {
            header.sketch(None)
        } else {
            let bytes = from_hex(values).ok_or_else(|| bad("its values are not hexadecimal digits"))?;
            let (values, rest) = bytes.as_chunks::<4>();
            if !rest.is_empty() || values.len() != usize::from(permutations) {
                return Err(bad("there are not as many values as it says, of 8 digits each"));
            }
            let values: Vec<u32> = values.iter().map(|value| u32::from_be_bytes(*value)).collect();
            header.sketch(Some(&values))
        };
        Minhash::parse(&bytes)?;
        Ok(bytes)
    }

    /// How many values agree with those of a like sketch; 0 if either is of an empty document, which is
    /// similar to nothing. Errors if the sketches are unlike.
    pub fn agreeing(&self, other: &Minhash<'_>) -> Result<u32> {
        self.header.check_like(&other.header)?;
        if self.header.empty || other.header.empty {
            return Ok(0);
        }
        Ok(minhash::agreeing(self.values, other.values))
    }
}

/// What a simhash sketch says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimhashHeader {
    /// Version of [`crate::hash`].
    pub hash_version: u8,
    /// Version of [`crate::text`].
    pub text_version: u8,
    /// What its elements are.
    pub source: Source,
    /// Whether the document had no elements.
    pub empty: bool,
    /// Words (or other units) to a shingle.
    pub k: u16,
    /// How many bits it has.
    pub bits: u16,
}

impl SimhashHeader {
    /// Bytes before the bits.
    pub const BYTES: usize = Common::BYTES;

    /// A header of these versions for a document that is not empty.
    pub fn new(source: Source, k: u16, bits: u16) -> Self {
        let Common { hash_version, text_version, .. } = Common::new(source, k, bits);
        Self { hash_version, text_version, source, empty: false, k, bits }
    }

    fn common(&self) -> Common {
        let &Self { hash_version, text_version, source, empty, k, bits } = self;
        Common { hash_version, text_version, source, empty, k, size: bits }
    }

    /// The header's bytes without what depends on the document.
    pub fn kind_bytes(&self) -> [u8; Self::BYTES] {
        Self { empty: false, ..*self }.common().bytes()
    }

    /// A sketch of these bits; none stand for an empty document.
    pub fn sketch(&self, bits: Option<&[u8]>) -> Vec<u8> {
        debug_assert!(bits.is_none_or(|bits| 8 * bits.len() == usize::from(self.bits)));
        let mut bytes = Vec::with_capacity(Self::BYTES + usize::from(self.bits) / 8);
        bytes.extend_from_slice(&Self { empty: bits.is_none(), ..*self }.common().bytes());
        match bits {
            Some(bits) => bytes.extend_from_slice(bits),
            None => bytes.resize(bytes.capacity(), 0),
        }
        bytes
    }

    /// Whether sketches of both kinds may be compared; the error says what is unlike. Bits that were made
    /// elsewhere compare with any as many.
    pub fn check_like(&self, other: &Self) -> Result<()> {
        let given = [self, other].iter().any(|header| header.source == Source::Bits);
        if self.kind_bytes() == other.kind_bytes() || given && self.bits == other.bits {
            return Ok(());
        }
        let [a, b] = [self, other].map(|header| header.common().describe("bits"));
        Err(Error::Unlike { what: "simhash_sketch", a, b })
    }
}

/// A simhash sketch in its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Simhash<'a> {
    /// What it says of itself.
    pub header: SimhashHeader,
    /// The bits.
    pub bits: &'a [u8],
}

impl<'a> Simhash<'a> {
    const NAME: &'static str = "simhash_sketch";

    /// Reads a sketch; errors for bytes that are none. O(1).
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let bad = |why: String| Error::Malformed { what: Self::NAME, why };
        let common = Common::parse(bytes, Self::NAME)?;
        let Common { hash_version, text_version, source, empty, k, size } = common;
        simhash::check_bits(size.into()).map_err(|error| bad(error.to_string()))?;
        let bits = &bytes[SimhashHeader::BYTES..];
        if bits.len() * 8 != usize::from(size) {
            let expected = SimhashHeader::BYTES + usize::from(size) / 8;
            return Err(bad(format!("{size} bits take {expected} bytes, not {}", bytes.len())));
        }
        if empty && bits.iter().any(|&byte| byte != 0) {
            return Err(bad("an empty document has bits".to_owned()));
        }
        let header = SimhashHeader { hash_version, text_version, source, empty, k, bits: size };
        Ok(Self { header, bits })
    }

    /// The sketch as text: `simhash:v1:words:h1.1:k1:` and the bits in hexadecimal digits; `emptyB` for an empty
    /// document's of B bits.
    pub fn to_text(&self) -> String {
        let SimhashHeader { hash_version, text_version, source, empty, k, bits } = self.header;
        let mut text = format!("simhash:v{VERSION}:{}:h{hash_version}.{text_version}:k{k}:", source.name());
        if empty {
            text.push_str(&format!("empty{bits}"));
        } else {
            push_hex(&mut text, self.bits);
        }
        text
    }

    /// Reads what [`Simhash::to_text`] writes, and gives its bytes.
    pub fn from_text(text: &str) -> Result<Vec<u8>> {
        let bad = |why: &str| Error::Malformed { what: Self::NAME, why: why.to_owned() };
        let fields: Vec<&str> = text.trim().split(':').collect();
        let &[name, version, source, versions, k, bits] = fields.as_slice() else {
            return Err(bad("it should have 6 parts with colons between them"));
        };
        let Common { hash_version, text_version, source, k, .. } =
            common_from_text(Self::NAME, "simhash", [name, version, source, versions, k])?;
        let mut header = SimhashHeader { hash_version, text_version, source, empty: false, k, bits: 0 };
        let bytes = if let Some(size) = number::<u16>(bits, "empty") {
            header.bits = simhash::check_bits(i64::from(size)).map_err(|error| bad(&error.to_string()))?;
            header.sketch(None)
        } else {
            let bits = from_hex(bits).ok_or_else(|| bad("its bits are not hexadecimal digits"))?;
            let size = 8i64.saturating_mul(bits.len() as i64);
            header.bits = simhash::check_bits(size).map_err(|error| bad(&error.to_string()))?;
            header.sketch(Some(&bits))
        };
        Simhash::parse(&bytes)?;
        Ok(bytes)
    }

    /// How many bits differ from those of a like sketch; all of them if either is of an empty document, which
    /// is similar to nothing. Errors if the sketches are unlike.
    pub fn distance(&self, other: &Simhash<'_>) -> Result<u32> {
        self.header.check_like(&other.header)?;
        if self.header.empty || other.header.empty {
            return Ok(self.header.bits.into());
        }
        Ok(simhash::hamming(self.bits, other.bits))
    }
}

/// The parts that texts of both kinds begin with; the size is not among them.
fn common_from_text(what: &'static str, kind: &str, fields: [&str; 5]) -> Result<Common> {
    let bad = |why: &str| Error::Malformed { what, why: why.to_owned() };
    let [name, version, source, versions, k] = fields;
    if name != kind {
        return Err(bad(&format!("it should begin with {kind}:")));
    }
    match number::<u8>(version, "v") {
        Some(VERSION) => {}
        Some(version) => {
            return Err(bad(&format!("its format is version {version}, this neardup knows {VERSION}")));
        }
        None => return Err(bad("its format's version is missing")),
    }
    let source = Source::from_name(source).ok_or_else(|| bad("what it was made from is not known"))?;
    let versions = versions.strip_prefix('h').and_then(|versions| versions.split_once('.'));
    let versions = versions.and_then(|(hash, text)| Some((hash.parse().ok()?, text.parse().ok()?)));
    let (hash_version, text_version) =
        versions.ok_or_else(|| bad("the versions of hash and text are missing"))?;
    let k = number(k, "k").ok_or_else(|| bad("its k is missing"))?;
    Ok(Common { hash_version, text_version, source, empty: false, k, size: 0 })
}

fn number<T: std::str::FromStr>(field: &str, name: &str) -> Option<T> {
    field.strip_prefix(name)?.parse().ok()
}

fn push_hex(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(digit.into(), 16));
        }
    }
}

fn from_hex(digits: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(*high)? << 4 | digit(*low)?).ok();
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn minhash(values: &[u32]) -> Vec<u8> {
        MinhashHeader::new(Source::Words, 5, values.len() as u16, 1).sketch(Some(values))
    }

    #[test]
    fn golden_bytes() {
        let bytes = minhash(&[0x0102_0304, 0xffff_ffff]);
        assert_eq!(
            bytes,
            [1, 1, 1, 1, 0, 0, 5, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4, 3, 2, 1, 255, 255, 255, 255]
        );
        let text = "minhash:v1:words:h1.1:k5:seed1:m2:01020304ffffffff";
        assert_eq!(Minhash::parse(&bytes).unwrap().to_text(), text);
        assert_eq!(Minhash::from_text(text).unwrap(), bytes);
        let bytes = SimhashHeader::new(Source::Bits, 1, 64).sketch(Some(&[1, 2, 3, 4, 5, 6, 7, 0xab]));
        assert_eq!(bytes, [1, 1, 1, 0, 0, 0, 1, 0, 64, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0xab]);
        let text = "simhash:v1:bits:h1.1:k1:01020304050607ab";
        assert_eq!(Simhash::parse(&bytes).unwrap().to_text(), text);
        assert_eq!(Simhash::from_text(text).unwrap(), bytes);
    }

    proptest! {
        #[test]
        fn texts_and_bytes_come_back(
            values in prop::collection::vec(any::<u32>(), 1..100),
            k in 1..1000u16, seed in any::<i64>(), source in 0..7u8, empty in any::<bool>(),
            size in 0..simhash::SIZES.len(),
        ) {
            let source = Source::from_byte(source).unwrap();
            let header = MinhashHeader::new(source, k, values.len() as u16, seed);
            let bytes = header.sketch((!empty).then_some(&values));
            let sketch = Minhash::parse(&bytes).unwrap();
            prop_assert_eq!(sketch.header, MinhashHeader { empty, ..header });
            prop_assert_eq!(Minhash::from_text(&sketch.to_text()).unwrap(), bytes);
            let bits: Vec<u8> = values.iter().cycle().take(simhash::SIZES[size] as usize / 8).map(|v| *v as u8).collect();
            let header = SimhashHeader::new(source, k, simhash::SIZES[size]);
            let bytes = header.sketch((!empty).then_some(&bits));
            let sketch = Simhash::parse(&bytes).unwrap();
            prop_assert_eq!(sketch.header, SimhashHeader { empty, ..header });
            prop_assert_eq!(Simhash::from_text(&sketch.to_text()).unwrap(), bytes);
        }

        /// Whatever the bytes, there is an error or a sketch that is written as it was read.
        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60), head in any::<bool>(), cut in any::<prop::sample::Index>(), with in any::<u8>()) {
            let mut bytes = bytes;
            if head {
                bytes = minhash(&[1, 2, 3]);
                let at = cut.index(bytes.len());
                bytes[at] = with;
            }
            if let Ok(sketch) = Minhash::parse(&bytes) {
                prop_assert_eq!(Minhash::from_text(&sketch.to_text()).unwrap(), bytes.clone());
            }
            if let Ok(sketch) = Simhash::parse(&bytes) {
                prop_assert_eq!(Simhash::from_text(&sketch.to_text()).unwrap(), bytes);
            }
        }

        #[test]
        fn any_text(text in ".{0,40}", head in any::<bool>()) {
            let text = if head { format!("minhash:v1:words:h1.1:k5:seed1:{text}") } else { text };
            let _ = (Minhash::from_text(&text), Simhash::from_text(&text));
        }
    }

    #[test]
    fn sketches_that_are_cut_short_are_errors() {
        let bytes = minhash(&[1, 2, 3]);
        assert!((0..bytes.len()).all(|length| Minhash::parse(&bytes[..length]).is_err()));
        let bytes = SimhashHeader::new(Source::Words, 1, 64).sketch(Some(&[7; 8]));
        assert!((0..bytes.len()).all(|length| Simhash::parse(&bytes[..length]).is_err()));
    }

    #[test]
    fn unlike_sketches_do_not_compare() {
        let base = MinhashHeader::new(Source::Words, 5, 2, 1);
        let others = [
            MinhashHeader { seed: 2, ..base },
            MinhashHeader { k: 4, ..base },
            MinhashHeader { source: Source::Tokens, ..base },
            MinhashHeader { hash_version: 2, ..base },
            MinhashHeader { text_version: 2, ..base },
        ];
        let bytes = base.sketch(Some(&[1, 2]));
        let sketch = Minhash::parse(&bytes).unwrap();
        for other in others {
            let bytes = other.sketch(Some(&[1, 2]));
            let other = Minhash::parse(&bytes).unwrap();
            assert!(matches!(sketch.agreeing(&other), Err(Error::Unlike { .. })));
        }
        let empty = base.sketch(None);
        let empty = Minhash::parse(&empty).unwrap();
        assert_eq!(
            (sketch.agreeing(&sketch), sketch.agreeing(&empty), empty.agreeing(&empty)),
            (Ok(2), Ok(0), Ok(0))
        );
    }

    #[test]
    fn bits_from_elsewhere_compare_with_as_many() {
        let [words, shingles, given, long] =
            [(Source::Words, 1, 64), (Source::Words, 2, 64), (Source::Bits, 1, 64), (Source::Bits, 1, 128)]
                .map(|(source, k, bits)| SimhashHeader::new(source, k, bits));
        assert!(words.check_like(&shingles).is_err() && given.check_like(&long).is_err());
        assert!(words.check_like(&given).is_ok() && given.check_like(&shingles).is_ok());
        let (empty, full) = (words.sketch(None), words.sketch(Some(&[0; 8])));
        let (empty, full) = (Simhash::parse(&empty).unwrap(), Simhash::parse(&full).unwrap());
        assert_eq!(
            (empty.distance(&empty), empty.distance(&full), full.distance(&full)),
            (Ok(64), Ok(64), Ok(0))
        );
    }
}
