//! Units into sets: tokens of a text ([`tokens`]), shingles ([`shingles`]), the dictionary that
//! numbers them ([`dictionary`], made of [`shard`]s, where a [`lookup`] is found; [`vocabulary`], [`numbering`]), one set a document ([`collect`]), and the records of a join ([`records`],
//! [`store`]), with tokens in order of frequency ([`rank`], [`order`], and [`spill`] where they do not fit
//! into memory). Texts kept whole ([`texts`]) and the sets of their q-grams ([`gram_sets`]).
//! Sets of hashes without a dictionary ([`hash_sets`]). Signatures of fixed width ([`signatures`]), such as those
//! of I-Match ([`imatch`]). Feature codes ([`codes`]). Texts and the places of their units ([`library`]), and the sets of
//! signatures of sentences or documents ([`unit_features`], [`unit_sets`]), chains of SpotSigs ([`spotsigs`]) among them.

pub mod codes;
pub mod collect;
pub mod dictionary;
pub mod gram_sets;
pub mod hash_sets;
pub mod imatch;
pub mod library;
pub mod lookup;
pub mod numbering;
pub mod order;
pub mod rank;
pub mod records;
pub mod shard;
pub mod shingles;
pub mod signatures;
pub mod spill;
pub mod spotsigs;
pub mod store;
pub mod texts;
pub mod tokens;
pub mod unit_features;
pub mod unit_sets;
pub mod vocabulary;
pub mod windows;
pub mod winnowing;

pub use tokens::{FeatureSpec, Tokenizer};
