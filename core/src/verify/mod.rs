//! Similarity of two sets: the measures ([`measure`]), the condition on pairs ([`predicate`]), and
//! the number of shared tokens ([`overlap`]), which is counted block by block
//! ([`crate::simd::shared_blocks`]).
//!
//! Similarity of two texts, character by character: [`edit`], by the distance of [`levenshtein`]
//! ([`mod@column`]). The longest common subsequence ([`lcs`]) is found greedily ([`lcs_greedy`]) if
//! little differs, and bit-parallel ([`lcs_band`]) otherwise, in no more of the table than known
//! bounds leave ([`lcs_bounds`]); [`lcs_symbols`] are its characters,
//! [`lcs_shares`] its similarities. Its trustable part
//! ([`tlcs`]) uses filtered sketches ([`filter`]) of the texts' windows ([`windows`]), the runs
//! that both texts have for certain ([`runs`]), and the region ([`region`]) in which the texts
//! agree. [`repeatability`] uses the longest common substring of feature codes ([`automaton`]).

pub mod automaton;
pub mod column;
pub mod edit;
pub mod filter;
pub mod lcs;
pub mod lcs_band;
pub mod lcs_bounds;
pub mod lcs_greedy;
pub mod lcs_shares;
pub mod lcs_symbols;
pub mod levenshtein;
pub mod measure;
pub mod overlap;
pub mod predicate;
pub mod region;
pub mod region_bound;
pub mod repeatability;
pub mod runs;
pub mod tlcs;
pub mod windows;

#[cfg(test)]
pub(crate) mod edited_texts;
