//! Minhash sketches as bytes and as text.

use super::common::{SketchHeader, VERSION, common_from_text, from_hex, number, push_hex};
use crate::error::{Error, Result};
use crate::executor::Stop;
use crate::features::origin::Origin;
use crate::sketches::minhash;
use crate::{hash, text};

/// The header of a minhash sketch.
///
/// Only sketches with equal headers are comparable, apart from `empty`.
///
/// ```
/// use neardup_core::sketch::{MinhashHeader, Origin};
///
/// let header = MinhashHeader::new(Origin::Words, 5, 128, 1);
/// assert_eq!((header.k, header.permutations, header.seed, header.empty), (5, 128, 1, false));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinhashHeader {
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
    /// The number of values, m.
    pub permutations: u16,
    /// The seed from which the permutations were drawn.
    pub seed: i64,
}

impl MinhashHeader {
    /// The number of bytes before the values.
    ///
    /// ```
    /// assert_eq!(neardup_core::sketch::MinhashHeader::BYTES, 20);
    /// ```
    pub const BYTES: usize = 20;

    /// Creates a header with the current versions, for a document that is not empty.
    ///
    /// `k` is from 1 to 1000 and `permutations` from 1 to 2048; reading a sketch with other numbers
    /// fails.
    ///
    /// ```
    /// use neardup_core::sketch::{MinhashHeader, Origin};
    ///
    /// assert_eq!(MinhashHeader::new(Origin::Tokens, 1, 64, 7).source.name(), "tokens");
    /// ```
    pub fn new(source: Origin, k: u16, permutations: u16, seed: i64) -> Self {
        let (hash_version, text_version) = (hash::VERSION, text::VERSION);
        Self { hash_version, text_version, source, empty: false, k, permutations, seed }
    }

    fn common(&self) -> SketchHeader {
        let &Self { hash_version, text_version, source, empty, k, permutations, .. } = self;
        SketchHeader { hash_version, text_version, source, empty, k, size: permutations }
    }

    fn bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..SketchHeader::BYTES].copy_from_slice(&self.common().bytes());
        bytes[SketchHeader::BYTES..].copy_from_slice(&self.seed.to_le_bytes());
        bytes
    }

    /// Returns the header's bytes without the part that depends on the document. These bytes are
    /// equal exactly if the sketches are comparable.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn kind_bytes(&self) -> [u8; Self::BYTES] {
        Self { empty: false, ..*self }.bytes()
    }

    /// Makes a sketch of these values; `None` means an empty document.
    ///
    /// There are as many values as the header says. O(m).
    ///
    /// ```
    /// use neardup_core::sketch::{MinhashHeader, Origin};
    ///
    /// let header = MinhashHeader::new(Origin::Words, 5, 2, 1);
    /// assert_eq!(header.sketch(Some(&[0x0102_0304, 5]))[20..], [4, 3, 2, 1, 5, 0, 0, 0]);
    /// assert_eq!(header.sketch(None)[20..], [0xff; 8]);
    /// ```
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

    /// Describes the kind of sketch in words, for messages.
    ///
    /// ```
    /// use neardup_core::sketch::{MinhashHeader, Origin};
    ///
    /// let said = MinhashHeader::new(Origin::Words, 5, 128, 1).describe();
    /// assert_eq!(said, "128 permutations of words, k 5, version 1.1, seed 1");
    /// ```
    pub fn describe(&self) -> String {
        format!("{}, seed {}", self.common().describe("permutations"), self.seed)
    }

    /// Fails if sketches of the two kinds are not comparable; the error says what differs.
    ///
    /// ```
    /// use neardup_core::sketch::{MinhashHeader, Origin};
    ///
    /// let header = MinhashHeader::new(Origin::Words, 5, 128, 1);
    /// assert!(header.check_like(&header).is_ok());
    /// assert!(header.check_like(&MinhashHeader { seed: 2, ..header }).is_err());
    /// ```
    pub fn check_like(&self, other: &Self) -> Result<()> {
        if self.kind_bytes() == other.kind_bytes() {
            return Ok(());
        }
        Err(Error::Unlike { what: "minhash_sketch", a: self.describe(), b: other.describe() })
    }
}

/// A minhash sketch read from its bytes.
///
/// ```
/// use neardup_core::sketch::{Minhash, MinhashHeader, Origin};
///
/// let bytes = MinhashHeader::new(Origin::Words, 5, 2, 1).sketch(Some(&[7, 8]));
/// let sketch = Minhash::parse(&bytes)?;
/// assert_eq!((sketch.header.permutations, sketch.values), (2, &[7, 0, 0, 0, 8, 0, 0, 0][..]));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Minhash<'a> {
    /// The header.
    pub header: MinhashHeader,
    /// The m values, 4 bytes each.
    pub values: &'a [u8],
}

impl<'a> Minhash<'a> {
    const NAME: &'static str = "minhash_sketch";

    /// Reads a sketch. Fails for malformed bytes. O(1), or O(m) for an empty document.
    ///
    /// ```
    /// use neardup_core::sketch::Minhash;
    ///
    /// assert!(Minhash::parse(b"no sketch").is_err());
    /// ```
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let bad = |why: String| Error::Malformed { what: Self::NAME, why };
        let common = SketchHeader::parse(bytes, Self::NAME)?;
        let SketchHeader { hash_version, text_version, source, empty, k, size: permutations } = common;
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
        seed.copy_from_slice(&header[SketchHeader::BYTES..]);
        let seed = i64::from_le_bytes(seed);
        let header = MinhashHeader { hash_version, text_version, source, empty, k, permutations, seed };
        Ok(Self { header, values })
    }

    /// Returns the sketch as text: `minhash:v1:words:h1.1:k5:seed1:m128:` and the values in
    /// hexadecimal digits, or `empty`.
    ///
    /// Fails only if memory is short.
    ///
    /// ```
    /// use neardup_core::sketch::{Minhash, MinhashHeader, Origin};
    ///
    /// let bytes = MinhashHeader::new(Origin::Words, 5, 2, 1).sketch(Some(&[7, 0xab]));
    /// let text = Minhash::parse(&bytes)?.to_text()?;
    /// assert_eq!(text, "minhash:v1:words:h1.1:k5:seed1:m2:00000007000000ab");
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn to_text(&self) -> Result<String> {
        let MinhashHeader { hash_version, text_version, source, empty, k, permutations, seed } = self.header;
        let source = source.name();
        let mut text = format!(
            "minhash:v{VERSION}:{source}:h{hash_version}.{text_version}:k{k}:seed{seed}:m{permutations}:"
        );
        if empty {
            text.push_str("empty");
        } else {
            let (values, _) = self.values.as_chunks::<4>();
            values.iter().try_for_each(|value| {
                push_hex(&mut text, &[value[3], value[2], value[1], value[0]], &Stop::default())
            })?;
        }
        Ok(text)
    }

    /// Reads the output of [`Minhash::to_text`] and returns the sketch's bytes.
    ///
    /// Fails for other texts. O(m).
    ///
    /// ```
    /// use neardup_core::sketch::Minhash;
    ///
    /// let text = "minhash:v1:words:h1.1:k5:seed1:m2:empty";
    /// assert_eq!(Minhash::parse(&Minhash::from_text(text)?)?.to_text()?, text);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn from_text(text: &str) -> Result<Vec<u8>> {
        let bad = |why: &str| Error::Malformed { what: Self::NAME, why: why.to_owned() };
        let fields: Vec<&str> = text.trim().splitn(9, ':').collect();
        let &[name, version, source, versions, k, seed, permutations, values] = fields.as_slice() else {
            return Err(bad("it should have 8 parts with colons between them"));
        };
        let common = common_from_text(Self::NAME, "minhash", [name, version, source, versions, k])?;
        let permutations = number(permutations, "m").ok_or_else(|| bad("its number of values is missing"))?;
        let seed = number(seed, "seed").ok_or_else(|| bad("its seed is missing"))?;
        let SketchHeader { hash_version, text_version, source, k, .. } = common;
        let header =
            MinhashHeader { hash_version, text_version, source, empty: false, k, permutations, seed };
        let bytes = if values == "empty" {
            header.sketch(None)
        } else {
            let bytes = from_hex(values, &Stop::default())?
                .ok_or_else(|| bad("its values are not hexadecimal digits"))?;
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

    /// Counts the values that agree with those of a sketch of the same kind. Returns 0 if either
    /// sketch is of an empty document, which is similar to nothing. Fails if the sketches are of
    /// different kinds.
    ///
    /// O(m).
    ///
    /// ```
    /// use neardup_core::sketch::{Minhash, MinhashHeader, Origin};
    ///
    /// let header = MinhashHeader::new(Origin::Words, 5, 3, 1);
    /// let (a, b) = (header.sketch(Some(&[7, 8, 9])), header.sketch(Some(&[7, 8, 1])));
    /// assert_eq!(Minhash::parse(&a)?.agreeing(&Minhash::parse(&b)?)?, 2);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn agreeing(&self, other: &Minhash<'_>) -> Result<u32> {
        self.header.check_like(&other.header)?;
        if self.header.empty || other.header.empty {
            return Ok(0);
        }
        Ok(minhash::agreeing(self.values, other.values))
    }
}
