//! The comparison of few changed documents with many documents of which only digests are kept.
//!
//! The stored data is an inverted index of prefixes (docs/design/algorithms.md section 8;
//! Chaudhuri, Ganti, Kaushik, SSJoin (ICDE 2006)). Two similar sets share a token among the first
//! few of each, in an order of tokens that only has to be the same for both. The order is frozen
//! when the index is built ([`outline_order`]): later frequencies would be only slightly better,
//! and everything would have to be rebuilt. A digest ([`digest`]) of each document holds its size,
//! a parity bitmap, and the hashes of its prefix. Digests are written in segments ([`segment`]).
//! Their postings are sorted by hash and cut into parts, so that only the parts that contain tokens
//! of changed documents ([`changed`]) are read again ([`lookup`]). The documents found
//! ([`partners`]) are read and compared exactly ([`matcher`]).
//!
//! Tokens are identified by hashes. Two tokens with one hash can only make a pair look more
//! similar, so there may be too many candidates here, but never too few. The bytes of tokens
//! decide.

pub mod changed;
pub mod digest;
pub mod lookup;
pub mod matcher;
pub mod outline_order;
pub mod partners;
pub mod segment;

#[cfg(test)]
mod damaged;

#[cfg(test)]
mod tests;
