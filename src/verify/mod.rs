//! How similar two sets are: the measures ([`measure`]) and the number of shared tokens ([`overlap`]).
//! How similar two texts are, character by character: [`edit`], by the distance of [`levenshtein`]
//! ([`mod@column`]); the longest common subsequence ([`lcs`]), found greedily ([`lcs_greedy`]) where little
//! differs and bit-parallel ([`lcs_band`]) elsewhere.

pub mod column;
pub mod edit;
pub mod lcs;
pub mod lcs_band;
pub mod lcs_greedy;
pub mod levenshtein;
pub mod measure;
pub mod overlap;
