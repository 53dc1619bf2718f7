//! What a character is, and its simple lower case, by a table of our own: neither a compiler nor a
//! crate can change a word, a sentence or a code of what is stored. [`crate::text::VERSION`] is the
//! version of this table.
//!
//! Nothing that finds or stores asks the standard library, or a crate, what a character is that is
//! not ASCII. White space is a list here, of 25 characters, so that it costs a comparison.
//! `tests.rs` compares all of it with the standard library and with crates, and makes the table
//! anew.

mod class;
mod tables;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

pub use class::Class;
use class::{ALPHABETIC, CLOSING, HIDDEN, Kind, LOWERCASE, NUMERIC, UPPERCASE, WIDE};
use tables::{KINDS, LOWERED, RUNS};

/// The version of Unicode of all of the table. What a later version adds is unassigned here, and
/// separates words.
pub const UNICODE: &str = "17.0.0";

/// What is known of a character: its class, its lower case, and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// What it is.
    pub class: Class,
    /// Unicode's simple lower case: always one character.
    pub lower: char,
    /// What else it is.
    kind: Kind,
}

/// What 256 neighbouring characters are.
type Page = [Known; 256];

/// What a character is. That of neighbouring characters is worked out together when the first of
/// them is met, so that a look-up is two loads.
#[inline]
pub fn known(c: char) -> Known {
    static PAGES: [OnceLock<Box<Page>>; 0x1100] = [const { OnceLock::new() }; 0x1100];
    let code = c as usize;
    PAGES[code >> 8].get_or_init(|| page(code & !0xff))[code & 0xff]
}

/// The class of a character.
#[inline]
pub fn class(c: char) -> Class {
    known(c).class
}

/// Unicode's simple lower case: always one character.
#[inline]
pub fn lower(c: char) -> char {
    if c.is_ascii() { c.to_ascii_lowercase() } else { known(c).lower }
}

/// Whether it is a letter or number: of Unicode's Alphabetic or of its category N, as all classes
/// but two are.
#[inline]
pub fn is_alphanumeric(c: char) -> bool {
    is(c, ALPHABETIC | NUMERIC)
}

/// Whether it is of Unicode's Alphabetic: a letter, or a mark that counts as one.
#[inline]
pub fn is_alphabetic(c: char) -> bool {
    is(c, ALPHABETIC)
}

/// Whether it is a number, in any script, also as a letter or a fraction.
#[inline]
pub fn is_numeric(c: char) -> bool {
    is(c, NUMERIC)
}

/// Whether it is of Unicode's Uppercase.
#[inline]
pub fn is_uppercase(c: char) -> bool {
    is(c, UPPERCASE)
}

/// Whether it is of Unicode's Lowercase.
#[inline]
pub fn is_lowercase(c: char) -> bool {
    is(c, LOWERCASE)
}

/// Whether it is not seen where it stands: white space, a control or a format character.
#[inline]
pub fn is_unseen(c: char) -> bool {
    is_space(c) || is(c, HIDDEN)
}

/// Whether it is punctuation that closes, that ends a quotation, or that neither opens nor joins:
/// `) ” . ,`.
#[inline]
pub fn is_closing(c: char) -> bool {
    is(c, CLOSING)
}

/// Whether it takes two columns, as East Asian characters do.
#[inline]
pub fn is_wide(c: char) -> bool {
    is(c, WIDE)
}

/// Whether it is white space: of Unicode's White_Space, in which nothing came or went since 2013.
#[inline]
pub const fn is_space(c: char) -> bool {
    matches!(c,
        '\t'..='\r' | ' ' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}'
            | '\u{205f}' | '\u{3000}')
}

/// A text without the white space at its ends.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// What stands between white space in a text.
pub fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|run| !run.is_empty())
}

#[inline]
fn is(c: char, any: Kind) -> bool {
    known(c).kind & any != 0
}

/// Works out what 256 characters are.
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
