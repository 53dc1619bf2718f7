//! The place of a unit of text: in bytes for Rust, in characters for SQL.

use std::ops::Range;

/// The place of a unit in its text, as half-open ranges that count from 0.
///
/// ```
/// let spans = neardup_core::sentences("好吗？ Yes.");
/// assert_eq!((spans[1].bytes.clone(), spans[1].chars.clone()), (10..14, 4..8));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The place in bytes.
    pub bytes: Range<usize>,
    /// The place in characters.
    pub chars: Range<usize>,
}

impl Span {
    /// Returns the text of the unit.
    ///
    /// Panics if `text` is another text in which the span is out of range or splits a character.
    ///
    /// ```
    /// let text = "One. Two.";
    /// assert_eq!(neardup_core::sentences(text)[1].slice(text), "Two.");
    /// ```
    pub fn slice<'a>(&self, text: &'a str) -> &'a str {
        &text[self.bytes.clone()]
    }

    /// Returns the place from the begin of this unit to the end of another one.
    pub(crate) fn to(&self, last: &Self) -> Self {
        Self { bytes: self.bytes.start..last.bytes.end, chars: self.chars.start..last.chars.end }
    }
}

/// A position in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    /// The number of bytes before the position.
    pub byte: usize,
    /// The number of characters before the position.
    pub char: usize,
}

impl Position {
    /// Returns the position after a character at this position.
    #[must_use]
    pub fn after(self, c: char) -> Self {
        Self { byte: self.byte + c.len_utf8(), char: self.char + 1 }
    }

    /// Returns the position after a text at this position.
    #[must_use]
    pub fn behind(self, text: &str) -> Self {
        Self { byte: self.byte + text.len(), char: self.char + text.chars().count() }
    }

    /// Returns the span from this position to another one.
    pub fn to(self, end: Self) -> Span {
        Span { bytes: self.byte..end.byte, chars: self.char..end.char }
    }
}
