//! Clusters, rows to keep and results of thresholds from a list of pairs, for programs that have
//! all pairs in memory.

use super::Clustering;
use super::curve::{Point, curve};
use super::edges::{Edge, Edges};
use super::graph::Graph;
use super::grouping::Clusters;
use super::leaders::{Leaders, leaders, rank_by};
use super::strongest::links;
use crate::error::{Error, Result};
use crate::executor::PlainThreads;
use crate::joins::pairs::Pair;
use crate::storage::files::NoFiles;

const EXECUTOR: &PlainThreads = &PlainThreads(1);

/// Returns the graph of the pairs of one table. Of repeated pairs, only the most similar one
/// counts. A pair of a row with itself does not count.
fn graph(pairs: &[Pair], documents: usize) -> Result<Graph<'static>> {
    if u32::try_from(documents).is_err() {
        return Err(Error::TooMany { what: "documents", limit: u32::MAX.into() });
    }
    let mut edges = Edges::new(&NoFiles, usize::MAX);
    for &Pair { left, right, similarity } in pairs {
        if left.max(right) as usize >= documents {
            let allowed = "greater than each row of a pair";
            return Err(Error::Parameter { name: "documents", value: documents.to_string(), allowed });
        }
        edges.push(Edge::new(left, right, similarity))?;
    }
    Ok(Graph::new(edges.distinct(EXECUTOR)?, documents))
}

/// Returns the clusters of the pairs of one corpus of `documents` documents.
///
/// Of repeated pairs, only the strongest one counts. Fails if a row of a pair is not less than
/// `documents`. O(pairs · log pairs).
///
/// ```
/// use neardup_core::{Clustering, cluster_pairs, near_duplicates};
///
/// let texts = ["red crane", "north quay", "crane, red", "quay (north)"];
/// let pairs = near_duplicates(&texts, 0.9)?;
/// let clusters = cluster_pairs(&pairs, texts.len(), Clustering::Connected)?;
/// let members: Vec<&[u32]> = clusters.iter().map(|cluster| cluster.members).collect();
/// assert_eq!(members, [[0, 2], [1, 3]]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn cluster_pairs(pairs: &[Pair], documents: usize, clustering: Clustering) -> Result<Clusters> {
    Clusters::new(&mut graph(pairs, documents)?, clustering, None, EXECUTOR)
}

/// Chooses the rows to keep from the pairs of one corpus, such that every other row forms a pair
/// with one of them, and no two of them form a pair.
///
/// Rows with a lesser key are preferred; among rows with equal keys, the smaller row is preferred.
/// So a constant key keeps the first row, and a key that descends with the length keeps the longest
/// text. Fails if a row of a pair is not less than `documents`. O(pairs · log pairs + documents ·
/// log documents).
///
/// ```
/// use neardup_core::{keep_by, near_duplicates};
///
/// let texts = ["a b c d", "north quay", "a b c d e"];
/// let pairs = near_duplicates(&texts, 0.8)?;
/// let first = keep_by(&pairs, texts.len(), |_| 0)?;
/// assert_eq!(first.kept().collect::<Vec<_>>(), [0, 1]);
/// let longest = keep_by(&pairs, texts.len(), |row| std::cmp::Reverse(texts[row as usize].len()))?;
/// assert_eq!(longest.kept().collect::<Vec<_>>(), [1, 2]);
/// assert_eq!((longest.of[0], longest.similarity[0]), (2, 0.8));
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn keep_by<K: Ord>(pairs: &[Pair], documents: usize, key: impl Fn(u32) -> K + Sync) -> Result<Leaders> {
    let mut graph = graph(pairs, documents)?;
    let rank = rank_by(documents, |row| (key(row), row), EXECUTOR)?;
    leaders(&mut graph, &rank, EXECUTOR)
}

/// Returns the numbers of pairs and connected clusters that each threshold would give, from the
/// pairs of the lowest threshold.
///
/// Fails if `thresholds` are not in ascending order, or if a row of a pair is not less than
/// `documents`. O(pairs · log pairs).
///
/// ```
/// use neardup_core::{near_duplicates, threshold_curve};
///
/// let pairs = near_duplicates(&["a b c d", "d c b a", "a b c"], 0.5)?;
/// let curve = threshold_curve(&pairs, 3, &[0.5, 0.75, 1.0])?;
/// assert_eq!(curve.iter().map(|point| point.pairs).collect::<Vec<_>>(), [3, 3, 1]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn threshold_curve(pairs: &[Pair], documents: usize, thresholds: &[f64]) -> Result<Vec<Point>> {
    if !thresholds.is_sorted() {
        let value = format!("{thresholds:?}");
        return Err(Error::Parameter { name: "thresholds", value, allowed: "in ascending order" });
    }
    let mut graph = graph(pairs, documents)?;
    let links = links(&mut graph, EXECUTOR)?;
    curve(&mut graph, &links, thresholds, EXECUTOR)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAIRS: [Pair; 4] = [
        Pair { left: 0, right: 1, similarity: 0.9 },
        Pair { left: 2, right: 1, similarity: 0.8 },
        // A weaker repeat, and a row with itself.
        Pair { left: 1, right: 0, similarity: 0.7 },
        Pair { left: 3, right: 3, similarity: 1.0 },
    ];

    #[test]
    fn a_chain_is_one_cluster_and_keeps_its_ends_or_its_middle() {
        let clusters = cluster_pairs(&PAIRS, 4, Clustering::Connected).unwrap();
        let of: Vec<_> = clusters.iter().map(|cluster| (cluster.representative, cluster.members)).collect();
        assert_eq!(of, [(1, &[0, 1, 2][..])]);
        let first = keep_by(&PAIRS, 4, |row| row).unwrap();
        assert_eq!((first.kept().collect(), &first.of), (vec![0, 2, 3], &vec![0, 0, 2, 3]));
        let middle = keep_by(&PAIRS, 4, |row| row != 1).unwrap();
        assert_eq!((middle.kept().collect::<Vec<_>>(), &middle.of), (vec![1, 3], &vec![1, 1, 1, 3]));
        assert_eq!(middle.similarity, [0.9, 1.0, 0.8, 1.0]);
    }

    #[test]
    fn thresholds_count_each_pair_once() {
        let points = threshold_curve(&PAIRS, 4, &[0.5, 0.85]).unwrap();
        let of: Vec<_> = points.iter().map(|p| (p.pairs, p.clusters, p.redundant, p.largest)).collect();
        assert_eq!(of, [(2, 1, 2, 3), (1, 1, 1, 2)]);
        assert!(threshold_curve(&PAIRS, 4, &[0.9, 0.8]).is_err());
    }

    #[test]
    fn rows_out_of_range_are_refused() {
        assert!(matches!(keep_by(&PAIRS, 3, |row| row), Err(Error::Parameter { name: "documents", .. })));
        assert!(cluster_pairs(&[], 0, Clustering::Star).unwrap().is_empty());
        assert!(threshold_curve(&[], 0, &[]).unwrap().is_empty());
    }
}
