//! The exact join of sets in independent parts: one after the other on one machine, or at the same
//! time on many.
//!
//! A set is sent to each part into which a token of its prefix falls ([`groups`]), with its size, a
//! bitmap, and the tokens of its prefix that fall into the part. In a part, sets that share such a
//! token are candidates ([`engine`]). Two similar sets share a token of their prefixes, so they
//! meet in the part of that token. The order of tokens that defines prefixes ([`ranks`]) affects
//! the number of candidates, but never which pairs are found. Candidates are compared by their
//! whole sets. (Vernica, Carey, Li: Efficient parallel set-similarity joins using
//! MapReduce, SIGMOD 2010, with grouped tokens; the bitmaps are those of Sandes, Teodoro, Melo:
//! Bitmap filter, Information Systems 2020.) Documents that are no sets meet by [`keys`].

pub mod bitmaps;
pub mod earlier;
pub mod engine;
pub mod filtered_keys;
pub mod groups;
pub mod keys;
pub mod packed;
pub mod part;
pub mod ranks;
pub mod rows;
#[cfg(test)]
mod tests;
