//! Similarity of two sets: the measures ([`measure`]), the condition that a pair must meet
//! ([`predicate`]), and the number of shared tokens ([`overlap`]), which is counted block by block
//! ([`crate::simd::shared_blocks`]).
//!
//! Similarity of two texts, character by character: [`edit`] uses the distance of [`levenshtein`],
//! which advances column by column ([`mod@column`]). [`character_counts`] bounds it for a text of
//! which only the characters are counted. The longest common subsequence ([`lcs`]) is found
//! greedily ([`lcs_greedy`]) if the texts differ little, and bit-parallel ([`lcs_band`]) otherwise,
//! in no more of the table than known bounds require. The trustable part of the subsequence
//! ([`tlcs`]) uses filtered sketches ([`filter`]) of the texts' windows ([`windows`]), the runs
//! that both texts certainly have ([`runs`]), and the region ([`region`]) in which the texts agree.
//! [`near_words`] pairs the words of two texts, and
//! [`repeatability`] uses the longest common substring of feature codes ([`automaton`]). What two
//! texts say word for word is in [`shared_runs`], and how much of them it is in [`shared_windows`].

pub mod automaton;
pub mod character_counts;
pub mod column;
pub mod edit;
pub mod filter;
pub mod lcs;
pub mod lcs_band;
pub mod lcs_greedy;
pub mod levenshtein;
pub mod measure;
pub mod near_words;
pub mod overlap;
pub mod predicate;
pub mod region;
pub mod region_bound;
pub mod repeatability;
pub mod runs;
pub mod shared_runs;
pub mod shared_windows;
pub mod tlcs;
pub mod windows;
