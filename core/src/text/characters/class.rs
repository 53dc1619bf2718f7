//! The properties of a character in the table of characters, except its lower case.

/// The role of a character in a word (docs/design/algorithms.md section 1, *Words*).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WordClass {
    /// A character that ends a word and is part of no word.
    Separator,
    /// A character that nobody sees, as a soft hyphen, a joiner or a mark of direction. Words are
    /// as if the text did not have it (UAX 29, rule WB4).
    Unseen,
    /// A letter or number, which is part of a run.
    Alphanumeric,
    /// A letter or number of a script that is written without spaces, which is a word by itself.
    Alone,
    /// A combining mark. It belongs to the word before it; if there is no word before it, it
    /// separates words.
    Mark,
    /// A combining mark that counts as alphabetic. It belongs to the word before it; if there is no
    /// word before it, it begins a word, which letters and numbers continue. The script of the mark
    /// does not matter.
    AlphabeticMark,
}

/// The properties of a character in the table, except its lower case, as bits.
pub(super) type ClassBits = u8;

/// The character has Unicode's property Alphabetic.
pub(super) const ALPHABETIC: ClassBits = 1;
/// The character is in Unicode's category N.
pub(super) const NUMERIC: ClassBits = 1 << 1;
/// The character has Unicode's property Uppercase.
pub(super) const UPPERCASE: ClassBits = 1 << 2;
/// The character has Unicode's property Lowercase.
pub(super) const LOWERCASE: ClassBits = 1 << 3;
/// The character is a control or a format character.
pub(super) const HIDDEN: ClassBits = 1 << 4;
/// The character is punctuation that closes, that ends a quotation, or that neither opens nor
/// joins.
pub(super) const CLOSING: ClassBits = 1 << 5;
/// The character takes two columns.
pub(super) const WIDE: ClassBits = 1 << 6;
