//! How similar two sets are: the measures ([`measure`]), which pairs are in ([`predicate`]) and the number of shared
//! tokens ([`overlap`]), counted block by block ([`shared_blocks`]).
//! How similar two texts are, character by character: [`edit`], by the distance of [`levenshtein`]
//! ([`mod@column`]); the longest common subsequence ([`lcs`]), found greedily ([`lcs_greedy`]) where little
//! differs and bit-parallel ([`lcs_band`]) elsewhere, in no more of the table than what is known of it leaves
//! ([`lcs_bounds`]); its trustable part ([`tlcs`]): filtered sketches ([`filter`]) of the texts' windows
//! ([`windows`]), what both have for certain ([`runs`]), and the region ([`region`]) in which the texts agree;
//! [`repeatability`], by the longest common substring of feature codes ([`automaton`]).

pub mod automaton;
pub mod column;
pub mod edit;
pub mod filter;
pub mod lcs;
pub mod lcs_band;
pub mod lcs_bounds;
pub mod lcs_greedy;
pub mod levenshtein;
pub mod measure;
pub mod overlap;
pub mod predicate;
pub mod region;
pub mod region_bound;
pub mod repeatability;
pub mod runs;
pub mod shared_blocks;
pub mod tlcs;
pub mod windows;

#[cfg(test)]
pub(crate) mod edited_texts;
