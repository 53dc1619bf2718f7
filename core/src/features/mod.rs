//! Turns documents into sets of tokens, or into signatures.
//!
//! The tokens of a text ([`tokens`]), or windows of tokens ([`shingles`]), get numbers in a
//! [`dictionary`]. The numbers of each document are a set, and these sets become the ordered
//! records of a join ([`sets`]). Other methods keep the hashes of the tokens as sets
//! ([`hash_sets`]), or make signatures of fixed width ([`signatures`]), such as those of I-Match
//! ([`imatch`]). For comparisons by characters, texts are kept whole ([`texts`]) or reduced to
//! feature codes ([`codes`]). Units of documents, such as sentences ([`units`]), have sets of
//! signatures, such as the chains of SpotSigs ([`spotsigs`]). Runs of characters are hashed by
//! [`windows`], and some of them are selected by winnowing. What texts say word for word is found
//! by runs of tokens ([`runs`]). Documents from a source may be packed ([`source_document`]).

pub mod codes;
pub mod dictionary;
pub mod hash_sets;
pub mod imatch;
pub mod normalization;
pub mod open_texts;
pub mod origin;
pub mod row_words;
pub mod runs;
pub mod sets;
pub mod shingles;
pub mod signatures;
pub mod source_document;
pub mod spotsigs;
pub mod text_collector;
pub mod texts;
pub mod tokens;
pub mod units;
pub mod windows;

pub use tokens::{FeatureSpec, Tokenizer};
