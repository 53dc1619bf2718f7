//! Text into units: words ([`words`]), runs without white space, q-grams of characters ([`grams`]); pages
//! into text ([`html`]).

pub mod characters;
pub mod grams;
pub mod html;
pub mod words;

/// Version of the Unicode tables and rules in this module; part of every stored signature.
pub const VERSION: u8 = 1;
