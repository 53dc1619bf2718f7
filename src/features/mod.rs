//! Units into sets: tokens of a text ([`tokens`]), shingles ([`shingles`]), the dictionary that
//! numbers them ([`dictionary`]), one set a document ([`collect`]), and the records of a join ([`records`],
//! [`store`]),
//! with tokens in order of frequency ([`order`]).

pub mod collect;
pub mod dictionary;
pub mod order;
pub mod records;
pub mod shingles;
pub mod store;
pub mod tokens;

pub use tokens::{FeatureSpec, Tokenizer};
