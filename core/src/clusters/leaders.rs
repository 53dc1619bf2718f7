//! Chooses rows such that every other row forms a pair with one of them: the representatives of
//! stars, or the rows to keep.

use super::components::Components;
use super::edges::Edge;
use super::graph::Graph;
use crate::error::Result;
use crate::executor::Executor;
use crate::memory;

const DOING: &str = "choosing representatives";

/// The leader of each vertex.
///
/// ```
/// use neardup_core::{Pair, keep_by};
///
/// let pairs = [Pair { left: 0, right: 2, similarity: 0.9 }];
/// let leaders = keep_by(&pairs, 3, |_| 0)?;
/// assert_eq!((leaders.of, leaders.similarity), (vec![0, 1, 0], vec![1.0, 1.0, 0.9]));
/// # Ok::<(), neardup_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Leaders {
    /// The leader of each vertex: itself, or the leader that it is most similar to.
    pub of: Vec<u32>,
    /// The similarity to the leader; 1 if the vertex leads itself.
    pub similarity: Vec<f64>,
}

impl Leaders {
    /// Returns the vertices that lead themselves, in ascending order: the rows to keep.
    ///
    /// O(vertices).
    ///
    /// ```
    /// use neardup_core::{Pair, keep_by};
    ///
    /// let leaders = keep_by(&[Pair { left: 0, right: 2, similarity: 0.9 }], 4, |row| row)?;
    /// assert_eq!(leaders.kept().collect::<Vec<_>>(), [0, 1, 3]);
    /// # Ok::<(), neardup_core::Error>(())
    /// ```
    pub fn kept(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.of).filter(|(vertex, leader)| vertex == *leader).map(|(vertex, _)| vertex)
    }
}

/// Goes through the vertices from rank 0 on. A vertex that forms no pair with a leader becomes a
/// leader. Then every other vertex follows the leader that it is most similar to, also if that
/// leader comes later; of several equally similar leaders, the one with the smallest rank. So no
/// two leaders form a pair, and every other row forms a pair with its leader.
///
/// `rank` contains the place of each vertex in this order; no two vertices have the same place.
/// O(edges · log edges): the edges are walked once in the order of their later vertex, and once
/// more.
pub fn leaders(graph: &mut Graph<'_>, rank: &[u32], executor: &dyn Executor) -> Result<Leaders> {
    let Graph { edges, equal, .. } = graph;
    // If the equal rows of a group are pairs with each other, either the row with the smallest rank
    // leads or no row does. If they are not pairs, either all rows of the group lead or no row
    // does. So one row decides, and it alone is followed.
    let first_of_rule = |rows: &[u32]| rows.iter().copied().min_by_key(|&row| rank[row as usize]);
    let best = equal.each_group(first_of_rule)?;
    let best_of = |row: u32| equal.number(row).and_then(|number| best[number]).unwrap_or(row);
    let of_best = |edge: Edge| Edge { left: best_of(edge.left), right: best_of(edge.right), ..edge };
    let mut leads = memory::filled(true, rank.len(), DOING)?;
    edges.for_each_in_order(
        executor,
        |edge| later_first(rank)(of_best(edge)),
        |edge| {
            // All pairs of the earlier vertex with vertices before it have been processed, so it is
            // known whether it leads.
            let (earlier, later) = in_order(of_best(edge), rank);
            leads[later as usize] &= !leads[earlier as usize];
            Ok(())
        },
    )?;
    let mut of = memory::collect(0..rank.len() as u32, DOING)?;
    let mut similarity = memory::filled(1.0, rank.len(), DOING)?;
    edges.for_each(executor, |edge| {
        let Edge { left, right, similarity: likeness } = of_best(edge);
        let (leader, follower) = match [left, right].map(|vertex| leads[vertex as usize]) {
            [true, false] => (left, right),
            [false, true] => (right, left),
            _ => return Ok(()),
        };
        let (of, most) = (&mut of[follower as usize], &mut similarity[follower as usize]);
        let is_before = || rank[leader as usize] < rank[*of as usize];
        if *of == follower || likeness > *most || likeness == *most && is_before() {
            (*of, *most) = (leader, likeness);
        }
        Ok(())
    })?;
    for rows in equal.groups() {
        executor.check_interrupts()?;
        let best = best_of(rows[0]);
        let (leader, likeness) = match equal.similarity(best) {
            _ if !leads[best as usize] => (of[best as usize], similarity[best as usize]),
            Some(similarity) => (best, similarity),
            None => continue,
        };
        for &row in rows.iter().filter(|&&row| row != leader) {
            (of[row as usize], similarity[row as usize]) = (leader, likeness);
        }
    }
    Ok(Leaders { of, similarity })
}

/// Returns the two vertices of an edge in the order of their rank.
pub fn in_order(edge: Edge, rank: &[u32]) -> (u32, u32) {
    let Edge { left, right, .. } = edge;
    if rank[left as usize] < rank[right as usize] { (left, right) } else { (right, left) }
}

/// Returns the key function that orders edges by the rank of their later vertex, then by the rank
/// of their earlier vertex.
pub fn later_first(rank: &[u32]) -> impl Fn(Edge) -> (u64, u64) + Sync {
    |edge| {
        let (earlier, later) = in_order(edge, rank);
        (u64::from(rank[later as usize]), u64::from(rank[earlier as usize]))
    }
}

/// The number of pairs of every vertex, and the sum of their similarities, derived from
/// [`Edge::weight`].
#[derive(Debug)]
pub struct Degrees {
    /// The number of pairs of each vertex.
    pub pairs: Vec<u32>,
    /// The sum of the similarities of each vertex, in units of 2⁻³¹, so 2³² terms fit.
    weight: Vec<u64>,
}

impl Degrees {
    /// Counts the pairs of all vertices. O(edges + vertices).
    pub fn new(graph: &mut Graph<'_>, executor: &dyn Executor) -> Result<Self> {
        let Graph { vertices, edges, equal } = graph;
        let mut pairs = memory::filled(0u32, *vertices, DOING)?;
        let mut weight = memory::filled(0u64, *vertices, DOING)?;
        let mut add = |vertex: u32, partners: u64, edge: Edge| {
            // A vertex has fewer pairs than there are vertices.
            pairs[vertex as usize] += partners as u32;
            weight[vertex as usize] += partners * (edge.weight() >> 22);
        };
        edges.for_each(executor, |edge| {
            add(edge.left, equal.count(edge.right), edge);
            add(edge.right, equal.count(edge.left), edge);
            Ok(())
        })?;
        for edge in equal.loops() {
            add(edge.left, equal.count(edge.left) - 1, edge);
        }
        for rows in equal.groups() {
            executor.check_interrupts()?;
            let first = rows[0] as usize;
            for &row in &rows[1..] {
                (pairs[row as usize], weight[row as usize]) = (pairs[first], weight[first]);
            }
        }
        Ok(Self { pairs, weight })
    }

    /// Forgets the pairs of the vertices in sets of more than `most` vertices, so that there the
    /// first vertex is preferred. O(vertices).
    pub fn forget_large(&mut self, sets: &mut Components, most: u32) {
        for vertex in 0..self.pairs.len() as u32 {
            if sets.size(vertex) > most {
                (self.pairs[vertex as usize], self.weight[vertex as usize]) = (0, 0);
            }
        }
    }

    /// Reports whether `a` is preferred to `b` as the representative of a cluster: `a` has more
    /// pairs, or equally many pairs with a greater sum of similarities, or is the smaller vertex if
    /// both are equal.
    pub fn is_before(&self, a: u32, b: u32) -> bool {
        self.key(a) < self.key(b)
    }

    fn key(&self, vertex: u32) -> impl Ord + use<> {
        let place = vertex as usize;
        (u32::MAX - self.pairs[place], u64::MAX - self.weight[place], vertex)
    }

    /// Returns the place of each vertex in the order that puts the best representative first. O(n ·
    /// log n).
    pub fn rank(&self, executor: &dyn Executor) -> Result<Vec<u32>> {
        rank_by(self.pairs.len(), |vertex| self.key(vertex), executor)
    }
}

/// Returns the place of each of `vertices` vertices in the order of a key. No two vertices have the
/// same key.
pub fn rank_by<K: Ord>(
    vertices: usize,
    key: impl Fn(u32) -> K + Sync,
    executor: &dyn Executor,
) -> Result<Vec<u32>> {
    let mut order: Vec<u32> = memory::collect(0..vertices as u32, DOING)?;
    crate::executor::sort(executor, &mut order, |a, b| key(*a).cmp(&key(*b)))?;
    let mut rank = memory::filled(0, vertices, DOING)?;
    order.iter().zip(0..).for_each(|(&vertex, place)| rank[vertex as usize] = place);
    Ok(rank)
}
