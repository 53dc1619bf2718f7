//! The origin of the tokens of a set, or of the elements of a sketch.

use std::ops::Range;

use super::Tokenizer;

/// The origin of tokens. The numbers of the variants are part of the stored formats.
///
/// ```
/// use neardup_core::sketch::{MinhashHeader, Origin};
///
/// let header = MinhashHeader::new(Origin::Chars, 3, 8, 1);
/// assert_eq!((header.source, header.k), (Origin::Chars, 3));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Origin {
    /// Bits that were made elsewhere; only a sketch has this origin.
    Bits = 0,
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
    /// Words of an HTML page; no sketch has this origin.
    Html = 7,
}

impl Origin {
    const NAMES: [(Self, &'static str); 8] = [
        (Self::Bits, "bits"),
        (Self::Words, "words"),
        (Self::Chars, "chars"),
        (Self::Whitespace, "whitespace"),
        (Self::Tokens, "tokens"),
        (Self::Numbers, "numbers"),
        (Self::Lexemes, "lexemes"),
        (Self::Html, "html"),
    ];

    /// Returns the name of the origin.
    ///
    /// ```
    /// assert_eq!(neardup_core::sketch::Origin::Whitespace.name(), "whitespace");
    /// ```
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// Returns the origin of sets with this number in the stored format.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::find(1..8, |origin| origin as u8 == byte)
    }

    /// Returns the origin of sets with this name.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::find(1..8, |origin| origin.name() == name)
    }

    /// Returns the origin of sketches that `is_wanted`.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn of_sketch(is_wanted: impl Fn(Self) -> bool) -> Option<Self> {
        Self::find(0..7, is_wanted)
    }

    fn find(among: Range<usize>, is_wanted: impl Fn(Self) -> bool) -> Option<Self> {
        Self::NAMES[among].iter().map(|(origin, _)| *origin).find(|&origin| is_wanted(origin))
    }

    /// Returns the tokenizer for texts of this origin, or [`Tokenizer::Words`] if the tokens do not
    /// come from texts.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn tokenizer(self) -> Tokenizer {
        match self {
            Self::Chars => Tokenizer::Chars,
            Self::Whitespace => Tokenizer::Whitespace,
            Self::Html => Tokenizer::Html,
            Self::Bits | Self::Words | Self::Tokens | Self::Numbers | Self::Lexemes => Tokenizer::Words,
        }
    }

    /// Returns the origin of the tokens that a tokenizer makes of a text, or `None` if there is no
    /// origin for the tokenizer.
    #[cfg_attr(not(feature = "internals"), doc(hidden))]
    pub fn of_text(tokenizer: Tokenizer) -> Option<Self> {
        match tokenizer {
            Tokenizer::Words => Some(Self::Words),
            Tokenizer::Chars => Some(Self::Chars),
            Tokenizer::Whitespace => Some(Self::Whitespace),
            Tokenizer::Html => Some(Self::Html),
            Tokenizer::RawChars => None,
        }
    }
}
