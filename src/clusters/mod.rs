//! Pairs into clusters, and which of their rows to keep (docs/design/algorithms.md section 9).
//!
//! Vertices are rows, numbered in the order of their ids; edges are pairs. Everything here depends on
//! the set of edges alone, not on the order in which they come: where rows tie, that of the smaller
//! number wins, and sums are of whole numbers.
//!
//! * [`edges`]: many edges ([`edge`]), in memory or a file, in any order that is asked for ([`runs`])
//! * [`equal_rows`], [`graph`]: groups of equal rows, whose pairs are not written down, and the edges between them
//! * [`connected`]: connected components ([`components`]), whole or of bounded size
//! * [`strongest`]: what all pairs unite, the strongest first
//! * [`leaders`]: rows such that every other one is a pair with one of them: stars, and what to keep
//! * [`perhaps_similar`]: sets that share a representative, of pairs or of signatures
//! * [`grouping`]: the clusters, with the similarity of every row to its representative
//! * [`elimination`]: which rows go by the repeatability of their feature codes, without pairs
//! * [`summary`]: what a cluster is like: pairs, least and mean similarity, diameter; [`homes`]: which one a row is in
//! * [`links`]: the weakest links that hold a cluster together
//! * [`curve`]: what every threshold gives
//! * [`samples`]: some pairs to look at

pub mod components;
pub mod connected;
pub mod curve;
pub mod edge;
pub mod edges;
pub mod elimination;
pub mod equal_rows;
pub mod graph;
pub mod grouping;
pub mod homes;
mod inside;
pub mod leaders;
pub mod links;
pub mod perhaps_similar;
pub mod runs;
pub mod samples;
pub mod strongest;
pub mod summary;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_equal_rows;

/// How pairs become clusters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clustering {
    /// Connected components: rows that a chain of pairs connects are together.
    Connected,
    /// Stars: every row is a pair with the representative.
    Star,
    /// Perhaps-similar sets (Huang et al., CIKM 2008): chains that only go down in weight; sets may overlap.
    PerhapsSimilar,
}
