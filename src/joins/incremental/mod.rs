//! Few changed documents against many of which only digests are kept: which of them may be similar.
//!
//! What is kept is an inverted index of prefixes (docs/design/algorithms.md section 8; Chaudhuri, Ganti, Kaushik,
//! SSJoin (ICDE 2006)): two similar sets share a token among the first few of each, in an order of tokens that only
//! has to be the same for both. It is frozen when the index is made ([`outline_order`]): later frequencies would do
//! no better than a little, and all would have to be made anew. Of each document there is a digest ([`digest`]):
//! its size, a parity bitmap, and the hashes of its prefix. Digests are written in segments ([`segment`]): postings
//! by hash, cut into parts, so that only those parts are read again that changed documents ([`changed`]) have
//! tokens in ([`lookup`]). What is found ([`partners`]) is read, and compared exactly ([`matcher`]).
//!
//! Tokens are known by hashes. Two tokens of one hash can only make a pair look more alike, so whatever passes here
//! is too much, never too little; the bytes of tokens decide.

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
