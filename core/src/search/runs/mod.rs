//! Exact search for the texts that have a run of tokens in common with a given text, by a stored
//! index (Schleimer, Wilkerson and Aiken, *Winnowing*, SIGMOD 2003).
//!
//! A [`query`] is a text and the least length of a run. A [`verifier`] decides whether a text has
//! such a run in common with it. The other modules find the texts that are worth verifying. An
//! index stores the [anchors](crate::features::runs::anchors) of each text: hashes of some grams,
//! chosen so that two texts with `least` tokens in common, one after the other, have an anchor in
//! common. A search follows the lists of some anchors of the query only ([`cover`]).
//!
//! # Nothing is lost
//!
//! Which gram is the anchor of a window of `least` tokens depends on the tokens of the window
//! alone. A run of at least `least` tokens that two texts have in common consists of such windows,
//! each of which has the same anchor in both texts. So a text with a run of `m` tokens of the query
//! has all anchors of the windows in some range of `m` tokens of the query. It is enough to follow
//! a set of anchors with one of each range, and the set with the fewest rows is the best one. Where
//! that leaves many rows, only those are verified that have all anchors of a range, and beside each
//! anchor the tokens that belong to the run ([`signature`]).
//! Equal hashes of different grams only add texts to verify.

pub mod cover;
pub mod query;
pub mod signature;
mod stretches;
pub mod verifier;
mod windows;
