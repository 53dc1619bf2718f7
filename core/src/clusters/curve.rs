//! The result of every threshold, computed from the pairs of the lowest threshold: the numbers of
//! pairs, clusters and redundant rows.
//!
//! A spanning forest of greatest similarity ([`super::strongest`]) contains the connected clusters
//! of all thresholds, so one walk over it, the strongest link first, counts the clusters exactly.
//! O(pairs · log thresholds).

use super::graph::Graph;
use super::strongest::Link;
use crate::error::Result;
use crate::executor::{self, Executor};

/// The result of a threshold.
///
/// ```
/// use neardup_core::{near_duplicates, threshold_curve};
///
/// let pairs = near_duplicates(&["a b c d", "d c b a", "a b c"], 0.5)?;
/// let all = threshold_curve(&pairs, 3, &[0.7])?[0];
/// assert_eq!((all.threshold, all.pairs, all.clusters, all.redundant), (0.7, 3, 1, 2));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The threshold.
    pub threshold: f64,
    /// The number of pairs of at least this similarity.
    pub pairs: u64,
    /// The number of connected clusters of these pairs.
    pub clusters: u64,
    /// The number of rows in clusters, without one row of each cluster.
    pub redundant: u64,
    /// The number of rows of the largest cluster.
    pub largest: u32,
}

/// The number of steps from the lowest threshold to 1.
pub const STEPS: usize = 20;

/// Returns thresholds from `from` to 1 in equal steps. If `from` is greater than 0.95, they begin
/// at 0.95. They are rounded to numbers that people would write.
pub fn thresholds(from: f64) -> [f64; STEPS + 1] {
    let from = from.clamp(0.0, 0.95);
    std::array::from_fn(|n| {
        let exact = from + (1.0 - from) * n as f64 / STEPS as f64;
        (exact * 1e6).round() / 1e6
    })
}

/// Returns the result of each of `thresholds`, which are in ascending order. `links` are the links
/// of all pairs, the strongest first.
pub fn curve(
    graph: &mut Graph<'_>,
    links: &[Link],
    thresholds: &[f64],
    executor: &dyn Executor,
) -> Result<Vec<Point>> {
    let none = |&threshold: &f64| Point { threshold, pairs: 0, clusters: 0, redundant: 0, largest: 0 };
    let mut points: Vec<Point> = thresholds.iter().map(none).collect();
    // Counts the thresholds that a similarity reaches.
    let reached = |similarity: f64| thresholds.partition_point(|&threshold| threshold <= similarity);
    graph.for_each_similarity(executor, |similarity, pairs| {
        if let Some(highest) = reached(similarity).checked_sub(1) {
            points[highest].pairs += pairs;
        }
    })?;
    let mut pairs = 0;
    let (mut clusters, mut redundant, mut largest) = (0, 0u64, 0);
    let mut next = links.iter().peekable();
    for point in points.iter_mut().rev() {
        pairs += point.pairs;
        point.pairs = pairs;
        while let Some(link) = next.next_if(|link| link.edge.similarity >= point.threshold) {
            // A link between two single rows makes a new cluster, and a link between two clusters
            // makes them one. A link that adds a row to a cluster does not change the number of
            // clusters.
            match link.parts {
                [1, 1] => clusters += 1,
                [1, _] | [_, 1] => {}
                _ => clusters -= 1,
            }
            largest = largest.max(link.parts[0].saturating_add(link.parts[1]));
            redundant += 1;
            executor::breathe(executor, redundant, 1 << 16)?;
        }
        *point = Point { clusters, redundant, largest, ..*point };
    }
    Ok(points)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clusters::Clustering;
    use crate::clusters::edges::{Edge, Edges};
    use crate::clusters::grouping::Clusters;
    use crate::clusters::strongest::links;
    use crate::executor::PlainThreads;
    use crate::storage::files::MemoryFiles;
    use proptest::prelude::*;

    #[test]
    fn thresholds_are_round() {
        let of = thresholds(0.8);
        assert_eq!((of[0], of[4], of[11], of[20]), (0.8, 0.84, 0.91, 1.0));
        assert_eq!(thresholds(1.0)[0], 0.95);
    }

    proptest! {
        #[test]
        fn each_point_is_what_a_call_with_it_gives(pairs in proptest::collection::btree_map((0u32..30, 0u32..30), 50u32..=100, 0..60)) {
            let executor = &PlainThreads(1);
            let edges = |least: f64| {
                let mut edges = Edges::new(&MemoryFiles, 1 << 20);
                let of = pairs.iter().filter(|((a, b), _)| a < b).map(|(&(a, b), &s)| Edge::new(a, b, f64::from(s) / 100.0));
                of.filter(|edge| edge.similarity >= least).for_each(|edge| edges.push(edge).unwrap());
                Graph::new(edges, 30)
            };
            let links = links(&mut edges(0.0), executor).unwrap();
            for point in curve(&mut edges(0.0), &links, &thresholds(0.5), executor).unwrap() {
                let mut there = edges(point.threshold);
                let clusters = Clusters::new(&mut there, Clustering::Connected, None, executor).unwrap();
                let mut count = 0;
                there.for_each_similarity(executor, |_, pairs| count += pairs).unwrap();
                let sizes: Vec<usize> = clusters.iter().map(|cluster| cluster.members.len()).collect();
                let expected = Point {
                    threshold: point.threshold,
                    pairs: count,
                    clusters: sizes.len() as u64,
                    redundant: sizes.iter().map(|size| size - 1).sum::<usize>() as u64,
                    largest: sizes.iter().max().map_or(0, |&size| size as u32),
                };
                prop_assert_eq!(point, expected);
            }
        }
    }
}
