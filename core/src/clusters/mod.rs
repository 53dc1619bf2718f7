//! Clusters of pairs, and the choice of the rows to keep (docs/design/algorithms.md section 9).
//!
//! Vertices are rows, numbered in the order of their ids; edges are pairs. Every result depends on
//! the set of edges alone, not on the order in which they arrive: ties between rows are won by the
//! smaller number, and sums are of whole numbers.
//!
//! * [`edges`]: many edges, in memory or a file, in any requested order
//! * [`graph`]: groups of equal rows, whose pairs are not stored, and the edges between them
//! * [`strongest`]: connected components ([`components`]), complete or of bounded size; the union
//!   of rows by all pairs, the strongest first, and the weakest links that hold a cluster together
//! * [`needed`]: the pairs on which leaders and clusters depend, where there are very many pairs
//! * [`leaders`]: rows such that every other row forms a pair with one of them, for stars and for
//!   the rows to keep
//! * [`perhaps_similar`]: sets that share a representative, built from pairs or from signatures
//! * [`grouping`]: the clusters, with the similarity of every row to its representative, and the
//!   clusters of a row
//! * [`elimination`]: the rows eliminated by the repeatability of their feature codes, without
//!   pairs
//! * [`summary`]: the pairs, least and mean similarity, and diameter of a cluster
//! * [`curve`]: the result of every threshold
//! * [`samples`]: steps of similarity, and some pairs of each to look at
//! * [`in_memory`]: clusters, rows to keep and results of thresholds from a list of pairs in memory

pub mod components;
pub mod curve;
pub mod edges;
pub mod elimination;
pub mod graph;
pub mod grouping;
pub mod in_memory;
pub mod leaders;
pub mod needed;
pub mod perhaps_similar;
pub mod samples;
pub mod strongest;
pub mod summary;

#[cfg(test)]
mod equal_rows_tests;
#[cfg(test)]
mod tests;

/// The largest number of connected rows whose pairs are counted to choose representatives. Counting
/// them takes a comparison of every two rows.
pub const LARGEST_COUNTED: u32 = 1_000;

/// The way in which pairs become clusters.
///
/// Each cluster has a representative: the row with the most pairs. Where more than
/// [`LARGEST_COUNTED`] rows are connected, pairs are not counted, and the first row is preferred.
///
/// ```
/// use neardup_core::{Clustering, Pair, cluster_pairs};
///
/// // A chain of four rows.
/// let pair = |left, similarity| Pair { left, right: left + 1, similarity };
/// let pairs = [pair(0, 0.8), pair(1, 0.9), pair(2, 0.8)];
/// let of = |clustering| cluster_pairs(&pairs, 4, clustering);
/// assert_eq!(of(Clustering::Connected)?.get(0).members, [0, 1, 2, 3]);
/// // Row 3 is no pair with the representative.
/// assert_eq!(of(Clustering::Star)?.get(0).members, [0, 1, 2]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clustering {
    /// Connected components: rows that a chain of pairs connects are in one cluster.
    Connected,
    /// Stars: every row is a pair with the representative.
    Star,
    /// Perhaps-similar sets (Huang et al., CIKM 2008): chains in which weights only decrease. Sets
    /// may overlap.
    PerhapsSimilar,
}
