//! How similar two sets are: the measures ([`measure`]) and the number of shared tokens ([`overlap`]).
//! How similar two texts are, character by character: [`edit`], by the distance of [`levenshtein`]
//! ([`mod@column`]).

pub mod column;
pub mod edit;
pub mod levenshtein;
pub mod measure;
pub mod overlap;
