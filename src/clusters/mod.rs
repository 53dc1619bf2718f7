//! Pairs into clusters, and which of their rows to keep (algorithms.md section 9).
//!
//! Vertices are rows, numbered in the order of their ids; edges are pairs. Everything here depends on
//! the set of edges alone, not on the order in which they come: where rows tie, that of the lesser
//! number wins, and sums are of whole numbers.
//!
//! * [`edges`]: many edges, in memory or a file, in any order that is asked for
//! * [`components`]: connected components, whole or of bounded size
//! * [`leaders`]: rows such that every other one is a pair with one of them: stars, and what to keep
//! * [`perhaps_similar`]: sets that share a representative
//! * [`signature_sets`]: the same of documents by their signatures, before any pair is compared
//! * [`sentence_sets`]: such sets of rows by their sentence signatures, with similarities
//! * [`grouping`]: the clusters, with the similarity of every row to its representative
//! * [`repeated`]: elimination by the repeatability of feature codes, without pairs; [`row_codes`], [`code_groups`],
//!   [`repeated_groups`], [`repeated_blocks`] and [`short_codes`] are parts of it
//! * [`summary`]: what is to be known of a cluster: pairs, least and mean similarity, diameter
//! * [`links`]: the weakest links that hold a cluster together

pub mod code_groups;
pub mod components;
pub mod edges;
pub mod grouping;
pub mod leaders;
pub mod links;
pub mod perhaps_similar;
pub mod repeated;
pub mod repeated_blocks;
pub mod repeated_groups;
pub mod row_codes;
pub mod sentence_sets;
pub mod short_codes;
pub mod signature_sets;
pub mod summary;

#[cfg(test)]
mod tests;

/// How pairs become clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clustering {
    /// Connected components: rows that a chain of pairs connects are together.
    Connected,
    /// Stars: every row is a pair with the representative.
    Star,
    /// Perhaps-similar sets (Huang et al.): chains that only go down in weight; sets may overlap.
    PerhapsSimilar,
}
