//! The nearest of each: for every row the *k* rows that are the most similar to it, exactly (the
//! top-k join of sets: Xiao et al., Top-k Set Similarity Joins, ICDE 2009, for each record).
//!
//! There is no threshold. The similarity of the k-th best row that was found so far takes its
//! place: it bounds the sizes that better rows can have, and how many more of the record's tokens
//! have to be searched for ([`probe`]). Rows of equal sets are one record ([`rows`]), so their
//! number costs nothing. Records are independent of each other, so any number of threads finds the
//! same rows; some of them are a task ([`block`]). The time depends on how similar the k-th row is:
//! a record that has very similar ones finds them in the lists of its rarest tokens, and one that
//! is not similar to anything is compared with all others, by counting the tokens that they share
//! ([`count`]). Records whose index has no room in memory are searched for in pieces ([`pieces`]).

pub mod batch;
pub mod best;
pub mod block;
pub mod count;
pub mod found;
pub mod index;
pub mod lists;
pub mod pieces;
pub mod probe;
pub mod rows;
pub mod sources;
pub mod top;

/// In this time, in nanoseconds, a search by lists compares only few records, so that counting is
/// better if it does not take longer.
pub const SHORT: u64 = 8000;
