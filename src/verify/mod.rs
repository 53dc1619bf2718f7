//! How similar two sets are: the measures ([`measure`]) and the number of shared tokens ([`overlap`]).
//! How similar two texts are, character by character: [`edit`], by the distance of [`levenshtein`]
//! ([`mod@column`]); [`repeatability`], by the longest common substring of feature codes ([`automaton`]).

pub mod automaton;
pub mod column;
pub mod edit;
pub mod levenshtein;
pub mod measure;
pub mod overlap;
pub mod repeatability;
