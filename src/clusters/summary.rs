//! What clusters are like: pairs, least and mean similarity, diameter.

use super::edge::Edge;
use super::edges::Edges;
use super::grouping::Clusters;
use crate::error::Result;
use crate::memory;
use crate::ragged::Ragged;
use crate::workers::Workers;

const DOING: &str = "describing clusters";

/// What the pairs inside a cluster are like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many pairs there are.
    pub pairs: u64,
    /// The least similarity of a pair.
    pub least: f64,
    /// The mean similarity of the pairs.
    pub mean: f64,
    /// The most steps from pair to pair that the way from one member to another takes; none where
    /// parts are not connected inside the cluster, or where finding it would take too long.
    pub diameter: Option<u32>,
}

/// The summaries of all clusters. `effort` bounds the steps taken for the diameter of one cluster: more are
/// not taken. O(edges), and of each cluster that is neither complete nor around a hub O(its edges · some
/// searches).
pub fn summaries(
    edges: &mut Edges<'_>,
    vertices: usize,
    clusters: &Clusters,
    effort: u64,
    workers: &dyn Workers,
) -> Result<Vec<Summary>> {
    let homes = Homes::new(clusters, vertices)?;
    let mut sums: Vec<(u64, f64, u128)> = memory::filled((0, f64::INFINITY, 0), clusters.len(), DOING)?;
    let mut inside = Vec::new();
    // The diameter needs the pairs at hand; where they do not fit it is not reported.
    let keep = edges.fit();
    edges.for_each(workers, |edge| {
        homes.for_each_common(edge, |cluster| {
            let (pairs, least, sum) = &mut sums[cluster as usize];
            *pairs += 1;
            *least = least.min(edge.similarity);
            *sum += u128::from(edge.weight());
            if keep { memory::push(&mut inside, (cluster, edge.left, edge.right), DOING) } else { Ok(()) }
        })
    })?;
    let mut graph = Graph::new(clusters, &inside)?;
    drop(inside);
    let mut summaries = Vec::new();
    memory::reserve(&mut summaries, sums.len(), DOING)?;
    for (cluster, (pairs, least, sum)) in sums.into_iter().enumerate() {
        let mean = (sum as f64 / pairs.max(1) as f64) / (1u64 << 53) as f64;
        let size = clusters.range(cluster).len() as u64;
        let diameter = if pairs == size * (size - 1) / 2 {
            Some(1)
        } else if keep {
            graph.diameter(cluster, effort, workers)?
        } else {
            None
        };
        // Rounding must not put the mean below the least.
        summaries.push(Summary { pairs, least, mean: mean.max(least), diameter });
    }
    Ok(summaries)
}

/// The clusters that every vertex is in, ascending.
#[derive(Debug)]
pub struct Homes(Ragged<u32>);

impl Homes {
    /// Looks them up. O(vertices + members).
    pub fn new(clusters: &Clusters, vertices: usize) -> Result<Self> {
        let members = || {
            let numbered = (0..).zip(clusters.iter());
            numbered.flat_map(|(number, cluster)| cluster.members.iter().map(move |&v| (v as usize, number)))
        };
        Ragged::dealt(vertices, members, DOING).map(Self)
    }

    /// Calls `each` with the clusters that hold both ends of an edge.
    pub fn for_each_common(&self, edge: Edge, mut each: impl FnMut(u32) -> Result<()>) -> Result<()> {
        let [mut a, mut b] = [edge.left, edge.right].map(|vertex| self.0.get(vertex as usize));
        while let (Some(x), Some(y)) = (a.first(), b.first()) {
            if x == y {
                each(*x)?;
            }
            (a, b) = (&a[usize::from(x <= y)..], &b[usize::from(y <= x)..]);
        }
        Ok(())
    }
}

/// The pairs inside clusters, by place among the members of all clusters.
struct Graph<'c> {
    clusters: &'c Clusters,
    neighbours: Ragged<u32>,
    /// Steps from where a search began, by place.
    distance: Vec<u32>,
    queue: Vec<u32>,
    steps: u64,
}

const FAR: u32 = u32::MAX;

impl<'c> Graph<'c> {
    fn new(clusters: &'c Clusters, inside: &[(u32, u32, u32)]) -> Result<Self> {
        let places = clusters.iter().map(|cluster| cluster.members.len()).sum();
        let place = |(cluster, left, right): (u32, u32, u32)| {
            let cluster = cluster as usize;
            let (members, from) = (clusters.get(cluster).members, clusters.range(cluster).start);
            [left, right].map(|vertex| from + members.binary_search(&vertex).unwrap_or_default())
        };
        let neighbours = || {
            inside.iter().flat_map(|&edge| {
                let [left, right] = place(edge);
                [(left, right as u32), (right, left as u32)]
            })
        };
        let neighbours = Ragged::dealt(places, neighbours, DOING)?;
        let distance = memory::filled(FAR, places, DOING)?;
        Ok(Self { clusters, neighbours, distance, queue: Vec::new(), steps: 0 })
    }

    /// Searches in breadth from a place; the place found last, and how far it is. What was reached
    /// is in the queue.
    fn search(&mut self, cluster: usize, from: usize, workers: &dyn Workers) -> Result<(usize, u32)> {
        self.distance[self.clusters.range(cluster)].fill(FAR);
        self.queue.clear();
        self.distance[from] = 0;
        memory::push(&mut self.queue, from as u32, DOING)?;
        let mut next = 0;
        while let Some(&place) = self.queue.get(next) {
            next += 1;
            let place = place as usize;
            let range = self.neighbours.range(place);
            self.steps += range.len() as u64;
            if next.is_multiple_of(1 << 10) {
                workers.breathe()?;
            }
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

    /// The diameter of a cluster by iFUB (Crescenzi et al. 2013): from the middle of a long way, vertices
    /// are searched from the farthest to the nearest, until the nearer ones cannot give more.
    fn diameter(&mut self, cluster: usize, effort: u64, workers: &dyn Workers) -> Result<Option<u32>> {
        let range = self.clusters.range(cluster);
        self.steps = 0;
        let hub = range.clone().max_by_key(|&place| (self.degree(place), std::cmp::Reverse(place)));
        let Some(hub) = hub else { return Ok(None) };
        if self.degree(hub) + 1 == range.len() {
            // All others are a pair with it, but not all with each other.
            return Ok(Some(2));
        }
        let (end, _) = self.search(cluster, hub, workers)?;
        if self.queue.len() < range.len() {
            return Ok(None);
        }
        let (mut middle, mut longest) = self.search(cluster, end, workers)?;
        // Back half of the way.
        for distance in (longest / 2..longest).rev() {
            let back =
                self.neighbours.get(middle).iter().find(|&&place| self.distance[place as usize] == distance);
            middle = back.map_or(middle, |&place| place as usize);
        }
        self.search(cluster, middle, workers)?;
        let farthest_first = std::mem::take(&mut self.queue);
        let mut levels = Vec::new();
        memory::reserve(&mut levels, farthest_first.len(), DOING)?;
        levels.extend(farthest_first.iter().rev().map(|&p| (p as usize, self.distance[p as usize])));
        for (place, level) in levels {
            // Two vertices at this level and nearer are at most 2 · level apart.
            if longest >= 2 * level {
                return Ok(Some(longest));
            }
            if self.steps > effort {
                return Ok(None);
            }
            longest = longest.max(self.search(cluster, place, workers)?.1);
        }
        Ok(Some(longest))
    }

    fn degree(&self, place: usize) -> usize {
        self.neighbours.range(place).len()
    }
}
