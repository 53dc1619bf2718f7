//! The comparison of few changed documents with many documents of which only digests are kept.
//!
//! The stored data is an inverted index of prefixes (docs/design/algorithms.md section 8;
//! Chaudhuri, Ganti, Kaushik, SSJoin (ICDE 2006)). In any order of tokens that is the same for
//! both, two similar sets share one of the first few tokens of each set. The order is frozen when
//! the index is built ([`digest::OutlineOrder`]): an order by later frequencies would be only
//! slightly better, and everything would have to be rebuilt for it. A digest ([`digest`]) of each
//! document holds its size, a parity bitmap, and the hashes of its prefix. Digests are written in
//! segments ([`segment`]). Their postings are sorted by hash and cut into parts, so that only the
//! parts that contain tokens of changed documents ([`changed`]) are read again ([`lookup`]). The
//! documents found are read and compared exactly ([`matcher`]).
//!
//! Tokens are identified by hashes. Two tokens with one hash can only make a pair look more
//! similar, so there may be too many candidates here, but never too few. The bytes of the tokens
//! decide which candidates are similar.

pub mod changed;
pub mod digest;
pub mod lookup;
pub mod matcher;
pub mod segment;

#[cfg(test)]
mod damaged_tests;

#[cfg(test)]
mod tests;
