//! Texts as rows of tokens, for what texts say word for word: the hashes of tokens ([`tokens`]),
//! their places in the text ([`places`]), the contents of windows of tokens ([`contents`]), and the
//! few grams of tokens by which equal windows are found ([`anchors`]).
//!
//! A *window* is a fixed number of tokens one after the other, and a *run* is a longer row of
//! tokens. Tokens are compared by 64-bit hashes, windows by 122-bit hashes of these.

pub mod anchors;
pub mod contents;
pub mod places;
pub mod tokens;
