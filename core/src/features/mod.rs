//! Turns units into sets.
//!
//! Tokens of a text ([`tokens`]) and windows of them ([`shingles`]) get numbers in a
//! [`dictionary`], one set for each document, and become the ordered records of a join ([`sets`]).
//! Or they stay hashes ([`hash_sets`]) or become signatures of fixed width ([`signatures`]), such
//! as those of I-Match ([`imatch`]). Texts are kept whole if characters are compared ([`texts`]),
//! or as feature codes ([`codes`]). Sentences of documents ([`units`]) have signatures of their
//! own, such as the chains of SpotSigs ([`spotsigs`]). Runs of characters are hashed by
//! [`windows`], and some of them are selected by [`winnowing`]. Documents from a source may be
//! packed ([`source_document`]).

pub mod codes;
pub mod dictionary;
pub mod hash_sets;
pub mod imatch;
pub mod sets;
pub mod shingles;
pub mod signatures;
pub mod source_document;
pub mod spotsigs;
pub mod texts;
pub mod tokens;
pub mod units;
pub mod windows;
pub mod winnowing;

pub use tokens::{FeatureSpec, Tokenizer};
