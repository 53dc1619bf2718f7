//! Chooses rows such that every other row forms a pair with one of them: the representatives of
//! stars, or the rows to keep.

use super::edge::Edge;
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
/// leader. Every other vertex follows the leader that it is most similar to; of several equally
/// similar leaders, the one with the smallest rank. So no two leaders form a pair, and every other
/// row forms a pair with its leader.
///
/// `rank` contains the place of each vertex in this order; no two vertices have the same place.
/// O(edges · log edges): the edges are walked once in the order of their later vertex, and the
/// edges of equal rows once more.
pub fn leaders(graph: &mut Graph<'_>, rank: &[u32], executor: &dyn Executor) -> Result<Leaders> {
    let Graph { edges, equal, .. } = graph;
    let mut of = Vec::new();
    memory::reserve(&mut of, rank.len(), DOING)?;
    of.extend(0..rank.len() as u32);
    let mut similarity = memory::filled(1.0, rank.len(), DOING)?;
    // If the equal rows of a group are pairs with each other, either the row with the smallest rank
    // leads or no row does. If they are not pairs, either all rows of the group lead or no row
    // does.
    let first_of_rule = |rows: &[u32]| rows.iter().copied().min_by_key(|&row| rank[row as usize]);
    let best = equal.each_group(first_of_rule)?;
    let best_of = |row: u32| equal.number(row).and_then(|number| best[number]).unwrap_or(row);
    let of_best = |edge: Edge| Edge { left: best_of(edge.left), right: best_of(edge.right), ..edge };
    edges.for_each_in_order(
        executor,
        |edge| later_first(rank)(of_best(edge)),
        |edge| {
            let (earlier, later) = in_order(of_best(edge), rank);
            // All pairs of the earlier vertex with vertices before it have been processed, so it is
            // known whether it leads.
            if of[earlier as usize] == earlier {
                let place = later as usize;
                // Leaders come in the order of their ranks, so a later leader that is only equally
                // similar does not replace the first one.
                if of[place] == later || edge.similarity > similarity[place] {
                    (of[place], similarity[place]) = (earlier, edge.similarity);
                }
            }
            Ok(())
        },
    )?;
    for (rows, _) in equal.groups().filter(|(_, are_pairs)| *are_pairs) {
        let best = best_of(rows[0]);
        if of[best as usize] == best {
            executor.check_interrupts()?;
            rows.iter().for_each(|&row| of[row as usize] = best);
        }
    }
    // If the row with the smallest rank in a group follows a leader, all rows of the group form
    // pairs with the same leaders. But a row follows only leaders whose rank is smaller than its
    // own.
    let led = |edge: Edge| {
        let best = of_best(edge);
        let leads = |vertex: u32| of[vertex as usize] == vertex;
        match (leads(best.left), leads(best.right)) {
            (true, false) => Some((edge.right, best.left)),
            (false, true) => Some((edge.left, best.right)),
            _ => None,
        }
        .filter(|(follower, _)| equal.count(*follower) > 1)
    };
    let mut followers = Followers::default();
    let mut found: Vec<(u32, u32, f64)> = Vec::new();
    if !equal.is_empty() {
        let key = |edge| {
            led(edge).map_or((u64::MAX, 0), |(first, leader)| (first.into(), rank[leader as usize].into()))
        };
        edges.for_each_in_order(executor, key, |edge| {
            let Some((first, leader)) = led(edge) else { return Ok(()) };
            if followers.first != Some(first) {
                followers.finish(u32::MAX, rank, &mut found)?;
                followers = Followers::new(first, equal.rows(&first), rank)?;
            }
            followers.finish(rank[leader as usize], rank, &mut found)?;
            if followers.best.is_none_or(|(_, most)| edge.similarity > most) {
                followers.best = Some((leader, edge.similarity));
            }
            Ok(())
        })?;
        followers.finish(u32::MAX, rank, &mut found)?;
    }
    for (vertex, leader, likeness) in found {
        (of[vertex as usize], similarity[vertex as usize]) = (leader, likeness);
    }
    Ok(Leaders { of, similarity })
}

/// The equal rows of a group that follows other rows, in the order of their ranks, and the best
/// leader found so far.
#[derive(Default)]
struct Followers {
    first: Option<u32>,
    rows: Vec<u32>,
    next: usize,
    best: Option<(u32, f64)>,
}

impl Followers {
    fn new(first: u32, rows: &[u32], rank: &[u32]) -> Result<Self> {
        let mut own = Vec::new();
        memory::extend(&mut own, rows, DOING)?;
        own.sort_unstable_by_key(|&row| rank[row as usize]);
        Ok(Self { first: Some(first), rows: own, next: 0, best: None })
    }

    /// Records the leaders of the rows whose rank is smaller than `before`. Their leaders are
    /// final, because later leaders have greater ranks.
    fn finish(&mut self, before: u32, rank: &[u32], found: &mut Vec<(u32, u32, f64)>) -> Result<()> {
        while let Some(&row) = self.rows.get(self.next).filter(|&&row| rank[row as usize] < before)
            && let Some((leader, similarity)) = self.best
        {
            memory::push(found, (row, leader, similarity), DOING)?;
            self.next += 1;
        }
        Ok(())
    }
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
        for (rows, are_pairs) in equal.groups() {
            let first = rows[0];
            if are_pairs {
                add(first, rows.len() as u64 - 1, Edge::new(first, first, 1.0));
            }
        }
        for (rows, _) in equal.groups() {
            executor.check_interrupts()?;
            let first = rows[0] as usize;
            for &row in &rows[1..] {
                (pairs[row as usize], weight[row as usize]) = (pairs[first], weight[first]);
            }
        }
        Ok(Self { pairs, weight })
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
    let mut order: Vec<u32> = Vec::new();
    memory::reserve(&mut order, vertices, DOING)?;
    order.extend(0..vertices as u32);
    crate::executor::one(executor, &mut order, |order, stop| {
        crate::executor::sort_unstable_by(order, stop, &|a, b| key(*a).cmp(&key(*b)))
    })?;
    let mut rank = memory::filled(0, vertices, DOING)?;
    order.iter().zip(0..).for_each(|(&vertex, place)| rank[vertex as usize] = place);
    Ok(rank)
}
