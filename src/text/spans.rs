//! Where a unit of text stands: in bytes for Rust, in characters for SQL.

use std::ops::Range;

/// The place of a unit in its text, from 0 and half open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// In bytes.
    pub bytes: Range<usize>,
    /// In characters.
    pub chars: Range<usize>,
}

impl Span {
    /// The unit itself.
    pub fn of<'a>(&self, text: &'a str) -> &'a str {
        &text[self.bytes.clone()]
    }
}

/// A position in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Position {
    /// Bytes before it.
    pub byte: usize,
    /// Characters before it.
    pub char: usize,
}

impl Position {
    /// The position after a character that stands here.
    #[must_use]
    pub fn after(self, c: char) -> Self {
        Self { byte: self.byte + c.len_utf8(), char: self.char + 1 }
    }

    /// The span from here to another position.
    pub fn to(self, end: Self) -> Span {
        Span { bytes: self.byte..end.byte, chars: self.char..end.char }
    }
}
