//! The exact join of sets in parts that know nothing of each other: on one machine by turns, on many side by side.
//!
//! A set goes to each part that one of the tokens of its prefix falls into ([`groups`]), with its size, a bitmap and
//! the tokens of that part; in a part sets that share such a token are candidates ([`engine`]). Two similar sets share a
//! token of their prefixes, so they meet in its part. The order that prefixes are taken in ([`ranks`]) decides how many
//! candidates there are, and never which pairs are found. Candidates are compared by their whole sets ([`token_set`]).
//! (Vernica, Carey, Li: Efficient parallel set-similarity joins using MapReduce, SIGMOD 2010, with grouped tokens; the
//! bitmaps are those of Sandes, Teodoro, Melo: Bitmap filter, Information Systems 2020.)

pub mod bands;
pub mod bitmaps;
pub mod engine;
pub mod groups;
pub mod part;
pub mod ranks;
pub mod rows;
#[cfg(test)]
mod tests;
pub mod token_set;
