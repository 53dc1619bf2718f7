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

mod minhash;
mod simhash;

pub use minhash::{Minhash, MinhashHeader};
pub use simhash::{Simhash, SimhashHeader};

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

    /// The source with this number, as it is stored.
    pub fn from_byte(byte: u8) -> Option<Self> {
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
    use crate::sketches::simhash::SIZES;
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
            size in 0..SIZES.len(),
        ) {
            let source = Source::from_byte(source).unwrap();
            let header = MinhashHeader::new(source, k, values.len() as u16, seed);
            let bytes = header.sketch((!empty).then_some(&values));
            let sketch = Minhash::parse(&bytes).unwrap();
            prop_assert_eq!(sketch.header, MinhashHeader { empty, ..header });
            prop_assert_eq!(Minhash::from_text(&sketch.to_text()).unwrap(), bytes);
            let bits: Vec<u8> = values.iter().cycle().take(SIZES[size] as usize / 8).map(|v| *v as u8).collect();
            let header = SimhashHeader::new(source, k, SIZES[size]);
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
