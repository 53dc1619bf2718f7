//! Divides text into units: words ([`words`], `word_blocks`, `letters`, `ascii`), runs without
//! white space, q-grams of characters ([`grams`]), sentences ([`sentences`], [`sentence_marks`],
//! [`abbreviations`]) and paragraphs ([`paragraphs`]). The place of a unit in its text is a span
//! ([`spans`]). Sentences and paragraphs depend on the layout of lines ([`lines`],
//! [`list_markers`]). [`word_order`] puts words in alphabetical order. [`html`] turns HTML pages
//! into text. [`characters`] has the properties and the width of characters. Texts are plain or
//! packed by the server ([`packed`], [`pglz`]).

pub mod abbreviations;
pub mod characters;
pub mod grams;
pub mod html;
mod letters;
pub mod lines;
pub mod list_markers;
pub mod packed;
pub mod paragraphs;
pub mod pglz;
pub mod sentence_marks;
pub mod sentences;
pub mod spans;
mod word_blocks;
pub mod word_order;
pub mod words;

/// The version of the table of characters and of the rules in this module. It is part of every
/// stored signature.
pub const VERSION: u8 = 1;
