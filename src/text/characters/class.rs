//! What the table of characters has of each but its lower case.

/// The part a character plays in a word (docs/design/algorithms.md section 1, *Words*).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Ends a word and belongs to none.
    Separator,
    /// A letter or number: part of a run.
    Alphanumeric,
    /// A letter or number of a script that is written without spaces: a word of its own.
    Alone,
    /// A combining mark: belongs to the word before it, else separates.
    Mark,
    /// A combining mark that counts as alphabetic: belongs to the word before it, else begins one,
    /// which letters and numbers go on, of whatever script the mark is.
    AlphabeticMark,
}

/// What a character is but its lower case, as the table has it: bits.
pub(super) type Kind = u8;

/// Of Unicode's Alphabetic.
pub(super) const ALPHABETIC: Kind = 1;
/// Of the category N.
pub(super) const NUMERIC: Kind = 1 << 1;
/// Of Unicode's Uppercase.
pub(super) const UPPERCASE: Kind = 1 << 2;
/// Of Unicode's Lowercase.
pub(super) const LOWERCASE: Kind = 1 << 3;
/// A control or a format character.
pub(super) const HIDDEN: Kind = 1 << 4;
/// Punctuation that closes, ends a quotation, or neither opens nor joins.
pub(super) const CLOSING: Kind = 1 << 5;
/// Takes two columns.
pub(super) const WIDE: Kind = 1 << 6;
