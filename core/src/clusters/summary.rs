//! Summaries of clusters: pairs, least and mean similarity, diameter.

use super::edge::Edge;
use super::graph::Graph;
use super::grouping::Clusters;
use super::homes::Homes;
use super::inside::Inside;
use crate::error::Result;
use crate::executor::Executor;
use crate::memory;

const DOING: &str = "describing clusters";

/// The summary of the pairs inside a cluster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// The number of pairs.
    pub pairs: u64,
    /// The least similarity of a pair.
    pub least: f64,
    /// The mean similarity of the pairs.
    pub mean: f64,
    /// The greatest number of pairs on a shortest path between two members. `None` if some parts
    /// are not connected inside the cluster, or if the computation would take too long.
    pub diameter: Option<u32>,
}

/// Computes the summaries of all clusters. `effort` bounds the steps for the diameter of one
/// cluster. O(edges), plus, for each cluster that is neither complete nor a star around one row,
/// several searches over its edges.
pub fn summaries(
    graph: &mut Graph<'_>,
    clusters: &Clusters,
    effort: u64,
    executor: &dyn Executor,
) -> Result<Vec<Summary>> {
    let Graph { vertices, edges, equal } = graph;
    let homes = Homes::of_groups(clusters, *vertices, equal)?;
    let mut sums: Vec<(u64, f64, u128)> = memory::filled((0, f64::INFINITY, 0), clusters.len(), DOING)?;
    let mut inside = Vec::new();
    // The diameter needs the pairs in memory. If they do not fit, it is not reported.
    let keep = edges.fit();
    let mut add = |cluster: u32, edge: Edge, more: u64| {
        let (pairs, least, sum) = &mut sums[cluster as usize];
        *pairs += more;
        *least = least.min(edge.similarity);
        *sum += u128::from(more) * u128::from(edge.weight());
    };
    for edge in equal.loops() {
        executor.check_interrupts()?;
        let homes = homes.0.get(edge.left as usize).iter();
        homes.filter(|home| home.rows > 1).for_each(|home| {
            let rows = u64::from(home.rows);
            add(home.cluster, edge, rows * (rows - 1) / 2);
        });
    }
    edges.for_each(executor, |edge| {
        homes.for_each_common(edge, |cluster, pairs| {
            add(cluster, edge, pairs);
            if keep { memory::push(&mut inside, (cluster, edge.left, edge.right), DOING) } else { Ok(()) }
        })
    })?;
    let mut graph = Inside::new(clusters, &homes, equal, &inside)?;
    drop(inside);
    let mut summaries = Vec::new();
    memory::reserve(&mut summaries, sums.len(), DOING)?;
    for (cluster, (pairs, least, sum)) in sums.into_iter().enumerate() {
        let mean = (sum as f64 / pairs.max(1) as f64) / (1u64 << 53) as f64;
        let size = clusters.range(cluster).len() as u64;
        let diameter = if pairs == size * (size - 1) / 2 {
            Some(1)
        } else if keep {
            graph.diameter(cluster, effort, executor)?
        } else {
            None
        };
        // Rounding must not make the mean less than the least similarity.
        summaries.push(Summary { pairs, least, mean: mean.max(least), diameter });
    }
    Ok(summaries)
}
