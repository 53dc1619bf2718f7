//! The properties and the simple case folding of characters, from a table of our own. So neither a
//! compiler nor a crate can change the words, sentences or codes of stored data.
//! [`crate::text::VERSION`] is the version of this table.
//!
//! Code that searches or stores never asks the standard library or a crate about a character that
//! is not ASCII. White space is a list of 25 characters in this file, so a test for white space
//! takes only a comparison. `tests.rs` compares everything with the standard library and with
//! crates, and can generate the table again.
//!
//! The width of characters and texts is in columns: 2 for wide (East Asian) characters, 1 for
//! others (docs/design/algorithms.md section 1, *Width*).

mod class;
mod tables;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

pub use class::WordClass;
use class::{ALPHABETIC, CLOSING, ClassBits, HIDDEN, LOWERCASE, NUMERIC, UPPERCASE, WIDE};
use tables::{KINDS, LOWERED, RUNS};

/// The version of Unicode of the whole table. Characters that a later version adds are unassigned
/// here and separate words.
pub const UNICODE: &str = "17.0.0";

/// The properties of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// The class of the character.
    pub class: WordClass,
    /// The character's simple case folding in Unicode, which is always one character: the lower
    /// case of its upper case.
    pub lower: char,
    /// The other properties of the character.
    kind: ClassBits,
}

/// The properties of 256 neighbouring characters.
type Page = [Known; 256];

/// Returns the properties of a character. The properties of neighbouring characters are computed
/// together when the first of them is looked up, so a later look-up takes two loads.
#[inline]
pub fn known(c: char) -> Known {
    static PAGES: [OnceLock<Box<Page>>; 0x1100] = [const { OnceLock::new() }; 0x1100];
    let code = c as usize;
    PAGES[code >> 8].get_or_init(|| page(code & !0xff))[code & 0xff]
}

/// Returns the class of a character.
#[inline]
pub fn class(c: char) -> WordClass {
    known(c).class
}

/// Returns the simple case folding of a character in Unicode, which is always one character. So Σ,
/// σ and ς are equal.
#[inline]
pub fn lower(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { known(c).lower }
}

/// Reports whether a character is a letter or number: it is Alphabetic in Unicode or in Unicode's
/// category N. This holds for all characters of all classes except [`WordClass::Separator`],
/// [`WordClass::Unseen`] and [`WordClass::Mark`].
#[inline]
pub fn is_alphanumeric(c: char) -> bool {
    is(c, ALPHABETIC | NUMERIC)
}

/// Reports whether a character is Alphabetic in Unicode: a letter, or a mark that counts as one.
#[inline]
pub fn is_alphabetic(c: char) -> bool {
    is(c, ALPHABETIC)
}

/// Reports whether a character is a number in any script, including numeric letters and fractions.
#[inline]
pub fn is_numeric(c: char) -> bool {
    is(c, NUMERIC)
}

/// Reports whether a character is Uppercase in Unicode.
#[inline]
pub fn is_uppercase(c: char) -> bool {
    is(c, UPPERCASE)
}

/// Reports whether a character is Lowercase in Unicode.
#[inline]
pub fn is_lowercase(c: char) -> bool {
    is(c, LOWERCASE)
}

/// Reports whether a character is invisible: white space, a control or a format character.
#[inline]
pub fn is_unseen(c: char) -> bool {
    is_space(c) || is(c, HIDDEN)
}

/// Reports whether a character is punctuation that closes, that ends a quotation, or that neither
/// opens nor joins: `) ” . ,`.
#[inline]
pub fn is_closing(c: char) -> bool {
    is(c, CLOSING)
}

/// Reports whether a character takes two columns, as East Asian characters do.
#[inline]
pub fn is_wide(c: char) -> bool {
    is(c, WIDE)
}

/// Returns 2 for a wide character, else 1. Combining and control characters also have width 1, as
/// in bytes of GBK, the unit in which Huang et al. (CIKM 2008) state their limits.
#[inline]
pub fn width_of(c: char) -> usize {
    if c.is_ascii() { 1 } else { 1 + usize::from(is_wide(c)) }
}

/// Returns the sum of the widths of the characters of a text. O(bytes).
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(width_of).sum() }
}

/// Reports whether a character is white space: Unicode's White_Space, which has not changed since
/// 2013.
#[inline]
pub const fn is_space(c: char) -> bool {
    matches!(c,
        '\t'..='\r' | ' ' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}'
            | '\u{205f}' | '\u{3000}')
}

/// Returns a text without the white space at its ends.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Returns the runs of characters between white space in a text.
pub fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|run| !run.is_empty())
}

#[inline]
fn is(c: char, any: ClassBits) -> bool {
    known(c).kind & any != 0
}

/// Computes the properties of 256 characters.
#[cold]
fn page(first: usize) -> Box<Page> {
    let (class, kind) = KINDS[0];
    let mut page = Box::new([Known { class, lower: '\0', kind }; 256]);
    let codes = (0u32..).skip(first).take(page.len());
    for (slot, code) in page.iter_mut().zip(codes) {
        let Some(c) = char::from_u32(code) else { continue };
        let (begin, kinds) = RUNS[RUNS.partition_point(|run| run.0 <= code) - 1];
        let (class, kind) = KINDS[usize::from(kinds[(code - begin) as usize % 2])];
        *slot = Known { class, lower: lowered(c), kind };
    }
    page
}

fn lowered(c: char) -> char {
    let code = c as u32;
    let Some(before) = LOWERED.partition_point(|run| run.0 <= code).checked_sub(1) else { return c };
    let (first, last, step, by) = LOWERED[before];
    let has_other = code <= last && (code - first).is_multiple_of(step);
    if has_other { code.checked_add_signed(by).and_then(char::from_u32).unwrap_or(c) } else { c }
}
