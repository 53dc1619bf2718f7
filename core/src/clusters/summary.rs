//! Summaries of clusters: pairs, least and mean similarity, diameter: the greatest number of pairs
//! (steps) on a shortest path between two rows of the cluster.

use super::edges::Edge;
use super::graph::{EqualRows, Graph};
use super::grouping::{Clusters, Homes};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::memory;
use crate::storage::rows::Ragged;

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

/// The pairs inside all clusters. A vertex is a place in `groups`, and stands for a group of equal
/// rows or for a single row. The distance between two rows is the distance between their groups.
pub(super) struct Inside {
    /// The groups of each cluster, given by their first rows, in ascending order.
    groups: Ragged<u32>,
    /// For each cluster, whether some of its rows are equal but not pairs.
    apart: Vec<bool>,
    neighbours: Ragged<u32>,
    /// For each place, the number of steps from the start of a search.
    distance: Vec<u32>,
    queue: Vec<u32>,
    steps: u64,
}

const FAR: u32 = u32::MAX;

impl Inside {
    /// Creates the graph from the edges inside clusters, given as (cluster, left, right).
    pub(super) fn new(
        clusters: &Clusters,
        homes: &Homes,
        equal: &EqualRows,
        inside: &[(u32, u32, u32)],
    ) -> Result<Self> {
        let mut apart = memory::filled(false, clusters.len(), DOING)?;
        let of_clusters = || {
            let all = homes.0.iter().zip(0u32..);
            all.flat_map(|(homes, first)| homes.iter().map(move |home| (home.cluster as usize, first)))
        };
        let groups = Ragged::dealt(clusters.len(), of_clusters, DOING)?;
        for (homes, first) in homes.0.iter().zip(0u32..) {
            for home in homes.iter().filter(|home| home.rows > 1 && equal.similarity(first).is_none()) {
                apart[home.cluster as usize] = true;
            }
        }
        let place = |(cluster, left, right): (u32, u32, u32)| {
            let cluster = cluster as usize;
            let (members, from) = (groups.get(cluster), groups.range(cluster).start);
            [left, right].map(|vertex| from + members.binary_search(&vertex).unwrap_or_default())
        };
        let neighbours = || {
            inside.iter().flat_map(|&edge| {
                let [left, right] = place(edge);
                [(left, right as u32), (right, left as u32)]
            })
        };
        let neighbours = Ragged::dealt(groups.values.len(), neighbours, DOING)?;
        let distance = memory::filled(FAR, groups.values.len(), DOING)?;
        Ok(Self { groups, apart, neighbours, distance, queue: Vec::new(), steps: 0 })
    }

    /// Searches breadth-first from a place. Returns the place found last and its distance.
    /// Afterwards, the queue contains the places that were reached.
    fn search(&mut self, cluster: usize, from: usize, executor: &dyn Executor) -> Result<(usize, u32)> {
        self.distance[self.groups.range(cluster)].fill(FAR);
        self.queue.clear();
        self.distance[from] = 0;
        memory::push(&mut self.queue, from as u32, DOING)?;
        let mut next = 0;
        while let Some(&place) = self.queue.get(next) {
            next += 1;
            let place = place as usize;
            let range = self.neighbours.range(place);
            self.steps += range.len() as u64;
            executor::breathe(executor, next, 1 << 10)?;
            for at in range {
                let neighbour = self.neighbours.values[at];
                if self.distance[neighbour as usize] == FAR {
                    self.distance[neighbour as usize] = self.distance[place] + 1;
                    memory::push(&mut self.queue, neighbour, DOING)?;
                }
            }
        }
        let last = self.queue.last().map_or(from, |&place| place as usize);
        Ok((last, self.distance[last]))
    }

    /// Returns the diameter of a cluster that is not complete.
    pub(super) fn diameter(
        &mut self,
        cluster: usize,
        effort: u64,
        executor: &dyn Executor,
    ) -> Result<Option<u32>> {
        match self.groups.range(cluster).len() {
            // Equal rows that are not pairs can be in the same cluster only if another row connects
            // them.
            1 => Ok(None),
            // So such rows are two steps apart, even if all other rows are one step apart.
            _ => {
                let between = self.between_groups(cluster, effort, executor)?;
                Ok(between.map(|steps| if self.apart[cluster] { steps.max(2) } else { steps }))
            }
        }
    }

    /// Computes the greatest distance between two groups with iFUB (Crescenzi et al. 2013).
    /// Searches start at the vertices one after another, in descending order of their distance from
    /// the middle of a long path, until nearer vertices cannot yield a greater distance.
    fn between_groups(
        &mut self,
        cluster: usize,
        effort: u64,
        executor: &dyn Executor,
    ) -> Result<Option<u32>> {
        let range = self.groups.range(cluster);
        self.steps = 0;
        let hub = range.clone().max_by_key(|&place| (self.degree(place), std::cmp::Reverse(place)));
        let Some(hub) = hub else { return Ok(None) };
        if self.degree(hub) + 1 == range.len() {
            // All other vertices are neighbours of the hub. If all of them were also neighbours of
            // each other, the cluster would be complete, or it would have equal rows that are not
            // pairs.
            return Ok(Some(2));
        }
        let (end, _) = self.search(cluster, hub, executor)?;
        if self.queue.len() < range.len() {
            return Ok(None);
        }
        let (mut middle, mut longest) = self.search(cluster, end, executor)?;
        // Go back half of the path.
        for distance in (longest / 2..longest).rev() {
            let back =
                self.neighbours.get(middle).iter().find(|&&place| self.distance[place as usize] == distance);
            middle = back.map_or(middle, |&place| place as usize);
        }
        self.search(cluster, middle, executor)?;
        let farthest_first = std::mem::take(&mut self.queue);
        let levels = farthest_first.iter().rev().map(|&p| (p as usize, self.distance[p as usize]));
        let levels = memory::collect(levels, DOING)?;
        for (place, level) in levels {
            // Two vertices that are at most `level` steps from the middle are at most 2 · level
            // steps apart.
            if longest >= 2 * level {
                return Ok(Some(longest));
            }
            if self.steps > effort {
                return Ok(None);
            }
            longest = longest.max(self.search(cluster, place, executor)?.1);
        }
        Ok(Some(longest))
    }

    fn degree(&self, place: usize) -> usize {
        self.neighbours.range(place).len()
    }
}
