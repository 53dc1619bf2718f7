//! Simhash sketches as bytes and as text.

use std::borrow::Cow;

use super::common::{SketchHeader, VERSION, common_from_text, from_hex, number, push_hex};
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::features::origin::Origin;
use crate::sketches::simhash;

/// The header of a simhash sketch.
///
/// ```
/// use neardup_core::sketch::{SimhashHeader, Origin};
///
/// let header = SimhashHeader::new(Origin::Words, 1, 64);
/// assert_eq!((header.k, header.bits, header.empty), (1, 64, false));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimhashHeader {
    /// The version of the hash of elements ([`hash_bytes`](crate::sketch::hash_bytes)).
    pub hash_version: u8,
    /// The version of the rules by which texts are cut.
    pub text_version: u8,
    /// The kind of elements.
    pub source: Origin,
    /// Whether the document had no elements.
    pub empty: bool,
    /// The number of words (or other units) in a shingle.
    pub k: u16,
    /// The number of bits.
    pub bits: u16,
}

impl SimhashHeader {
    /// The number of bytes before the bits.
    ///
    /// ```
    /// assert_eq!(neardup_core::sketch::SimhashHeader::BYTES, 12);
    /// ```
    pub const BYTES: usize = SketchHeader::BYTES;

    /// Creates a header with the current versions, for a document that is not empty.
    ///
    /// `k` is from 1 to 1000, and `bits` a multiple of 4 from 8 to 1024; reading a sketch with
    /// other numbers fails.
    ///
    /// ```
    /// use neardup_core::sketch::{SimhashHeader, Origin};
    ///
    /// assert_eq!(SimhashHeader::new(Origin::Bits, 1, 64).source, Origin::Bits);
    /// ```
    pub fn new(source: Origin, k: u16, bits: u16) -> Self {
        let SketchHeader { hash_version, text_version, .. } = SketchHeader::new(source, k, bits);
        Self { hash_version, text_version, source, empty: false, k, bits }
    }

    fn common(&self) -> SketchHeader {
        let &Self { hash_version, text_version, source, empty, k, bits } = self;
        SketchHeader { hash_version, text_version, source, empty, k, size: bits }
    }

    /// Returns the header's bytes without the part that depends on the document.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn kind_bytes(&self) -> [u8; Self::BYTES] {
        Self { empty: false, ..*self }.common().bytes()
    }

    /// Makes a sketch of these bits; `None` means an empty document.
    ///
    /// There are as many bits as the header says. O(bits).
    ///
    /// ```
    /// use neardup_core::sketch::{SimhashHeader, Origin};
    ///
    /// let header = SimhashHeader::new(Origin::Bits, 1, 16);
    /// assert_eq!(header.sketch(Some(&[0xab, 0xcd]))[12..], [0xab, 0xcd]);
    /// ```
    pub fn sketch(&self, bits: Option<&[u8]>) -> Vec<u8> {
        let size = Self::BYTES + simhash::bytes(self.bits);
        debug_assert!(bits.is_none_or(|bits| Self::BYTES + bits.len() == size));
        let mut bytes = Vec::with_capacity(size);
        bytes.extend_from_slice(&Self { empty: bits.is_none(), ..*self }.common().bytes());
        match bits {
            Some(bits) => bytes.extend_from_slice(bits),
            None => bytes.resize(size, 0),
        }
        bytes
    }

    /// Describes the kind of sketch in words, for messages.
    ///
    /// ```
    /// use neardup_core::sketch::{SimhashHeader, Origin};
    ///
    /// let said = SimhashHeader::new(Origin::Words, 2, 64).describe();
    /// assert_eq!(said, "64 bits of words, k 2, version 1.1");
    /// ```
    pub fn describe(&self) -> String {
        self.common().describe("bits")
    }

    /// Fails if sketches of the two kinds are not comparable; the error says what differs. Bits
    /// that were made elsewhere are comparable with any sketch of the same number of bits.
    ///
    /// ```
    /// use neardup_core::sketch::{SimhashHeader, Origin};
    ///
    /// let of = |source, k| SimhashHeader::new(source, k, 64);
    /// let words = of(Origin::Words, 1);
    /// assert!(words.check_like(&of(Origin::Words, 2)).is_err());
    /// assert!(words.check_like(&of(Origin::Bits, 1)).is_ok());
    /// ```
    pub fn check_like(&self, other: &Self) -> Result<()> {
        let given = [self, other].iter().any(|header| header.source == Origin::Bits);
        if self.kind_bytes() == other.kind_bytes() || given && self.bits == other.bits {
            return Ok(());
        }
        let [a, b] = [self, other].map(Self::describe);
        Err(Error::Unlike { what: "simhash_sketch", a, b })
    }
}

/// A simhash sketch read from its bytes.
///
/// ```
/// use neardup_core::sketch::{Simhash, SimhashHeader, Origin};
///
/// let bytes = SimhashHeader::new(Origin::Bits, 1, 16).sketch(Some(&[0xab, 0xcd]));
/// let sketch = Simhash::parse(&bytes)?;
/// assert_eq!((sketch.header.bits, sketch.bits), (16, &[0xab, 0xcd][..]));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Simhash<'a> {
    /// The header.
    pub header: SimhashHeader,
    /// The bits.
    pub bits: &'a [u8],
}

impl<'a> Simhash<'a> {
    const NAME: &'static str = "simhash_sketch";

    /// Reads a sketch. Fails for malformed bytes. O(1).
    ///
    /// ```
    /// use neardup_core::sketch::Simhash;
    ///
    /// assert!(Simhash::parse(b"no sketch").is_err());
    /// ```
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let bad = |why: String| Error::Malformed { what: Self::NAME, why };
        let common = SketchHeader::parse(bytes, Self::NAME)?;
        let SketchHeader { hash_version, text_version, source, empty, k, size } = common;
        simhash::check_bits(size.into()).map_err(|error| bad(error.to_string()))?;
        let bits = &bytes[SimhashHeader::BYTES..];
        if bits.len() != simhash::bytes(size) {
            let expected = SimhashHeader::BYTES + simhash::bytes(size);
            return Err(bad(format!("{size} bits take {expected} bytes, not {}", bytes.len())));
        }
        if size % 8 != 0 && bits.last().is_some_and(|last| last & 0x0f != 0) {
            return Err(bad(format!("it has more than its {size} bits")));
        }
        if empty && bits.iter().any(|&byte| byte != 0) {
            return Err(bad("an empty document has bits".to_owned()));
        }
        let header = SimhashHeader { hash_version, text_version, source, empty, k, bits: size };
        Ok(Self { header, bits })
    }

    /// Returns the sketch as text: `simhash:v1:words:h1.1:k1:` and the bits in hexadecimal digits,
    /// or `emptyB` for the sketch of an empty document with B bits.
    ///
    /// Fails only if memory is short.
    ///
    /// ```
    /// use neardup_core::sketch::{Simhash, SimhashHeader, Origin};
    ///
    /// let bytes = SimhashHeader::new(Origin::Bits, 1, 16).sketch(Some(&[0xab, 0xcd]));
    /// assert_eq!(Simhash::parse(&bytes)?.to_text()?, "simhash:v1:bits:h1.1:k1:abcd");
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn to_text(&self) -> Result<String> {
        let SimhashHeader { hash_version, text_version, source, empty, k, bits } = self.header;
        let mut text = format!("simhash:v{VERSION}:{}:h{hash_version}.{text_version}:k{k}:", source.name());
        if empty {
            text.push_str(&format!("empty{bits}"));
        } else {
            push_hex(&mut text, self.bits, &Stop::default())?;
            if bits % 8 != 0 {
                // The last digit is half a byte.
                text.pop();
            }
        }
        Ok(text)
    }

    /// Reads the output of [`Simhash::to_text`] and returns the sketch's bytes.
    ///
    /// Fails for other texts. O(bits).
    ///
    /// ```
    /// use neardup_core::sketch::Simhash;
    ///
    /// let text = "simhash:v1:words:h1.1:k1:empty64";
    /// assert_eq!(Simhash::parse(&Simhash::from_text(text)?)?.to_text()?, text);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn from_text(text: &str) -> Result<Vec<u8>> {
        let bad = |why: &str| Error::Malformed { what: Self::NAME, why: why.to_owned() };
        let fields: Vec<&str> = text.trim().splitn(7, ':').collect();
        let &[name, version, source, versions, k, bits] = fields.as_slice() else {
            return Err(bad("it should have 6 parts with colons between them"));
        };
        let SketchHeader { hash_version, text_version, source, k, .. } =
            common_from_text(Self::NAME, "simhash", [name, version, source, versions, k])?;
        let mut header = SimhashHeader { hash_version, text_version, source, empty: false, k, bits: 0 };
        let bytes = if let Some(size) = number::<u16>(bits, "empty") {
            header.bits = simhash::check_bits(i64::from(size)).map_err(|error| bad(&error.to_string()))?;
            header.sketch(None)
        } else {
            // Check the length before processing a text of any length.
            header.bits = simhash::check_bits(4i64.saturating_mul(bits.len() as i64))
                .map_err(|error| bad(&error.to_string()))?;
            let whole =
                if bits.len() % 2 == 0 { Cow::Borrowed(bits) } else { Cow::Owned(format!("{bits}0")) };
            let bits = from_hex(&whole, &Stop::default())?
                .ok_or_else(|| bad("its bits are not hexadecimal digits"))?;
            header.sketch(Some(&bits))
        };
        Simhash::parse(&bytes)?;
        Ok(bytes)
    }

    /// Counts the bits that differ from those of a sketch of the same kind. Returns the number of
    /// all bits if either sketch is of an empty document, which is similar to nothing. Fails if the
    /// sketches are of different kinds.
    ///
    /// O(bits).
    ///
    /// ```
    /// use neardup_core::sketch::{Simhash, SimhashHeader, Origin};
    ///
    /// let header = SimhashHeader::new(Origin::Bits, 1, 8);
    /// let (a, b) = (header.sketch(Some(&[0b1110])), header.sketch(Some(&[0b0111])));
    /// assert_eq!(Simhash::parse(&a)?.distance(&Simhash::parse(&b)?)?, 2);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn distance(&self, other: &Simhash<'_>) -> Result<u32> {
        self.header.check_like(&other.header)?;
        if self.header.empty || other.header.empty {
            return Ok(self.header.bits.into());
        }
        Ok(simhash::hamming(self.bits, other.bits))
    }
}
