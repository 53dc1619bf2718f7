//! Rows such that every other row is a pair with one of them: representatives of stars, or what is kept.

use super::edges::{Edge, Edges};
use crate::error::Result;
use crate::memory;
use crate::workers::Workers;

const DOING: &str = "choosing representatives";

/// What becomes of each vertex.
#[derive(Debug)]
pub struct Leaders {
    /// The leader of each vertex: itself, or the leader that it is most similar to.
    pub of: Vec<u32>,
    /// The similarity to it; 1 to itself.
    pub similarity: Vec<f64>,
}

/// Goes through the vertices from rank 0 on. One that is no pair with a leader becomes a leader, the
/// others follow the leader they are most similar to, of equal ones that of the lesser rank. So no
/// two leaders are a pair, and every other row is a pair with its own.
///
/// `rank` holds the place of each vertex, each place once. O(edges · log edges): edges in the order of
/// their later vertex are walked through once.
pub fn leaders(edges: &mut Edges<'_>, rank: &[u32], workers: &dyn Workers) -> Result<Leaders> {
    let mut of = Vec::new();
    memory::reserve(&mut of, rank.len(), DOING)?;
    of.extend(0..rank.len() as u32);
    let mut similarity = memory::filled(1.0, rank.len(), DOING)?;
    edges.for_each_in_order(workers, later_first(rank), |edge| {
        let (earlier, later) = in_order(edge, rank);
        // All pairs of the earlier one with those before it are done: it follows, or it leads.
        if of[earlier as usize] == earlier {
            let place = later as usize;
            // Leaders come in the order of rank: an equal one does not take over.
            if of[place] == later || edge.similarity > similarity[place] {
                (of[place], similarity[place]) = (earlier, edge.similarity);
            }
        }
        Ok(())
    })?;
    Ok(Leaders { of, similarity })
}

/// The two vertices of an edge in the order of their rank.
pub fn in_order(edge: Edge, rank: &[u32]) -> (u32, u32) {
    let Edge { left, right, .. } = edge;
    if rank[left as usize] < rank[right as usize] { (left, right) } else { (right, left) }
}

/// The order of edges by their later vertex, then by their earlier one.
pub fn later_first(rank: &[u32]) -> impl Fn(Edge) -> (u64, u64) + Sync {
    |edge| {
        let (earlier, later) = in_order(edge, rank);
        (u64::from(rank[later as usize]), u64::from(rank[earlier as usize]))
    }
}

/// How many pairs every vertex has, and the sum of their similarities in [`Edge::weight`]s.
#[derive(Debug)]
pub struct Degrees {
    /// Pairs of each vertex.
    pub pairs: Vec<u32>,
    /// In units of 2⁻²¹, so that 2³² of them fit.
    weight: Vec<u64>,
}

impl Degrees {
    /// Counts the edges of `vertices` vertices. O(edges).
    pub fn new(edges: &mut Edges<'_>, vertices: usize, workers: &dyn Workers) -> Result<Self> {
        let mut pairs = memory::filled(0u32, vertices, DOING)?;
        let mut weight = memory::filled(0u64, vertices, DOING)?;
        edges.for_each(workers, |edge| {
            for vertex in [edge.left, edge.right] {
                pairs[vertex as usize] += 1;
                weight[vertex as usize] += edge.weight() >> 22;
            }
            Ok(())
        })?;
        Ok(Self { pairs, weight })
    }

    /// Whether `a` represents a cluster rather than `b`: it has more pairs, or as many of greater
    /// similarity, or is the lesser one.
    pub fn is_before(&self, a: u32, b: u32) -> bool {
        self.key(a) < self.key(b)
    }

    fn key(&self, vertex: u32) -> impl Ord + use<> {
        let place = vertex as usize;
        (u32::MAX - self.pairs[place], u64::MAX - self.weight[place], vertex)
    }

    /// The place of each vertex when the best representative comes first. O(n · log n).
    pub fn rank(&self, workers: &dyn Workers) -> Result<Vec<u32>> {
        rank_by(self.pairs.len(), |vertex| self.key(vertex), workers)
    }
}

/// The place of each of `vertices` vertices in the order of a key; no two have the same key.
pub fn rank_by<K: Ord>(
    vertices: usize,
    key: impl Fn(u32) -> K + Sync,
    workers: &dyn Workers,
) -> Result<Vec<u32>> {
    let mut order: Vec<u32> = Vec::new();
    memory::reserve(&mut order, vertices, DOING)?;
    order.extend(0..vertices as u32);
    crate::workers::one(workers, &mut order, |order, stop| {
        crate::workers::sort_unstable_by(order, stop, &|a, b| key(*a).cmp(&key(*b)))
    })?;
    let mut rank = memory::filled(0, vertices, DOING)?;
    order.iter().zip(0..).for_each(|(&vertex, place)| rank[vertex as usize] = place);
    Ok(rank)
}
