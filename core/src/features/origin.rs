//! The origin of the tokens of a set.

use super::Tokenizer;

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
