//! Steps of similarity, each 0.05 wide, for what is shown or counted by similarity; and some pairs
//! to look at before choosing a threshold: a few of each step, and the least similar pair of all.
//!
//! The choice does not depend on the order in which pairs arrive. Of each step the pairs with the
//! least hashes are taken. Where possible, no row is in two of the taken pairs, so a large cluster
//! does not fill the sample. O(pairs).

use std::collections::{BTreeMap, BTreeSet};

use super::edges::Edge;
use super::graph::{EqualRows, Graph};
use crate::error::Result;
use crate::executor::Executor;
use crate::hash;

/// The few edges with the least keys.
struct First {
    room: usize,
    edges: BTreeMap<(u64, u64, u64), Edge>,
}

impl First {
    fn new(room: usize) -> Self {
        Self { room, edges: BTreeMap::new() }
    }

    fn add(&mut self, rank: u64, edge: Edge) {
        let key = (rank, hash::mix(edge.vertices()), edge.vertices());
        if self.edges.len() < self.room || self.edges.last_key_value().is_some_and(|(last, _)| key < *last) {
            self.edges.insert(key, edge);
            if self.edges.len() > self.room {
                self.edges.pop_last();
            }
        }
    }

    /// Takes the first `most` edges that are not in `taken`. Edges whose rows are in no edge of
    /// `before` or taken so far are preferred to other edges.
    fn take(self, most: usize, before: &[Edge], taken: &mut BTreeSet<u64>) -> Vec<Edge> {
        let mut rows: BTreeSet<u32> = before.iter().flat_map(|edge| [edge.left, edge.right]).collect();
        let (mut chosen, mut others) = (Vec::new(), Vec::new());
        for edge in self.edges.into_values().filter(|edge| !taken.contains(&edge.vertices())) {
            let fresh = !rows.contains(&edge.left) && !rows.contains(&edge.right);
            if fresh && chosen.len() < most {
                rows.extend([edge.left, edge.right]);
                chosen.push(edge);
            } else {
                others.push(edge);
            }
        }
        let missing = most - chosen.len();
        chosen.extend(others.into_iter().take(missing));
        taken.extend(chosen.iter().map(|edge| edge.vertices()));
        chosen.sort_by_key(|edge| (edge.similarity.to_bits(), edge.vertices()));
        chosen
    }
}

/// Calls `each` with the pairs that an edge between groups represents, or with the pairs of a group
/// of equal rows. If there are very many pairs, `each` is called with only some of them: the rows
/// are paired one after another, in their order. These pairs are enough to choose from, because all
/// pairs of an edge have the same similarity.
fn pairs_of(edge: Edge, equal: &EqualRows, mut each: impl FnMut(Edge)) {
    const MANY: usize = 256;
    let [lefts, rights] = [&edge.left, &edge.right].map(|first| equal.rows(first));
    let is_one = edge.left == edge.right;
    let pair = |left: u32, right: u32| Edge::new(left, right, edge.similarity);
    if lefts.len() * rights.len() <= MANY {
        for (n, &left) in lefts.iter().enumerate() {
            let rights = if is_one { &rights[n + 1..] } else { rights };
            rights.iter().for_each(|&right| each(pair(left, right)));
        }
    } else if is_one {
        lefts.chunks_exact(2).take(MANY).for_each(|rows| each(pair(rows[0], rows[1])));
    } else {
        let (few, many) = if lefts.len() < rights.len() { (lefts, rights) } else { (rights, lefts) };
        many.iter().zip(few.iter().cycle()).take(MANY).for_each(|(&row, &other)| each(pair(row, other)));
    }
}

/// Samples at most `most` pairs of each 0.05 of similarity from all pairs, the least similar first.
pub fn samples(graph: &mut Graph<'_>, most: usize, executor: &dyn Executor) -> Result<Vec<Edge>> {
    /// The number of pairs to choose from for each pair that is shown.
    const CHOICE: usize = 16;
    if most == 0 {
        return Ok(Vec::new());
    }
    let mut least = First::new(1);
    let mut steps: Vec<First> = (0..=STEPS).map(|_| First::new(most * CHOICE)).collect();
    let mut add = |edge: Edge| {
        // Similarities are not negative, so their bits are in the same order as their values.
        least.add(edge.similarity.to_bits(), edge);
        steps[step_of(edge.similarity)].add(0, edge);
    };
    let Graph { edges, equal, .. } = graph;
    for edge in equal.loops() {
        executor.check_interrupts()?;
        pairs_of(edge, equal, &mut add);
    }
    edges.for_each(executor, |edge| {
        pairs_of(edge, equal, &mut add);
        Ok(())
    })?;
    let mut taken = BTreeSet::new();
    let mut sample = least.take(1, &[], &mut taken);
    for (step, edges) in steps.into_iter().enumerate() {
        let before: Vec<Edge> =
            sample.iter().filter(|edge| step_of(edge.similarity) == step).copied().collect();
        sample.extend(edges.take(most - before.len(), &before, &mut taken));
    }
    sample.sort_by_key(|edge| (edge.similarity.to_bits(), edge.vertices()));
    Ok(sample)
}

/// The number of steps below a similarity of 1, which is a step of its own.
pub const STEPS: usize = 20;

/// Returns the step of a similarity.
pub fn step_of(similarity: f64) -> usize {
    // A similarity that equals a multiple of 0.05 up to rounding belongs to it.
    const ROUNDING: f64 = 1e-9;
    ((similarity + ROUNDING) * STEPS as f64).floor().clamp(0.0, STEPS as f64) as usize
}

/// Returns the least similarity of a step, as a user would write it.
pub fn least_of(step: usize) -> f64 {
    5.0 * step as f64 / 100.0
}

/// Returns the thresholds from `lowest` on that begin a step, and `lowest` itself.
pub fn thresholds(lowest: f64) -> Vec<f64> {
    let lowest = lowest.clamp(0.0, 1.0);
    let first = step_of(lowest);
    let mut all = if least_of(first) == lowest { Vec::new() } else { vec![lowest] };
    all.extend((first..=STEPS).map(least_of).filter(|&least| least >= lowest));
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clusters::edges::Edges;
    use crate::executor::PlainThreads;
    use crate::storage::files::MemoryFiles;
    use proptest::prelude::*;

    fn of(all: &[Edge], most: usize) -> Vec<Edge> {
        let mut edges = Edges::new(&MemoryFiles, 1 << 20);
        all.iter().for_each(|&edge| edges.push(edge).unwrap());
        samples(&mut Graph::new(edges, 100), most, &PlainThreads(1)).unwrap()
    }

    #[test]
    fn a_large_cluster_does_not_fill_the_sample() {
        let mut all: Vec<Edge> = (1..50).map(|n| Edge::new(0, n, 0.8)).collect();
        all.extend([Edge::new(60, 61, 0.8), Edge::new(70, 71, 0.8), Edge::new(80, 81, 0.9)]);
        let found = of(&all, 3);
        assert!(found.iter().filter(|edge| edge.left == 0).count() <= 1, "{found:?}");
    }

    proptest! {
        #[test]
        fn each_step_has_its_pairs(pairs in proptest::collection::btree_map((0u32..20, 20u32..40), 50u32..=100, 0..80), most in 0usize..5) {
            let mut all: Vec<Edge> = pairs.iter().map(|(&(a, b), &s)| Edge::new(a, b, f64::from(s) / 100.0)).collect();
            let found = of(&all, most);
            all.reverse();
            prop_assert_eq!(&found, &of(&all, most));
            let mut seen = BTreeSet::new();
            prop_assert!(found.iter().all(|edge| seen.insert(edge.vertices()) && all.contains(edge)));
            prop_assert!(found.is_sorted_by_key(|edge| edge.similarity));
            for step in 0..=STEPS {
                let of_step = |edges: &[Edge]| edges.iter().filter(|edge| step_of(edge.similarity) == step).count();
                prop_assert_eq!(of_step(&found), most.min(of_step(&all)));
            }
            let least = all.iter().map(|edge| edge.similarity).fold(1.0, f64::min);
            prop_assert!(most == 0 || all.is_empty() || found[0].similarity == least);
        }
    }

    #[test]
    fn steps_hold_their_least_similarity() {
        for n in 0..=STEPS {
            assert_eq!(step_of(least_of(n)), n);
            assert_eq!(step_of(n as f64 / 20.0), n);
            assert_eq!(step_of((least_of(n) - 1e-6).max(0.0)), n.saturating_sub(1));
        }
        assert_eq!([11, 7].map(least_of), [0.55, 0.35]);
    }

    #[test]
    fn thresholds_are_the_lowest_and_those_of_steps() {
        assert_eq!(thresholds(0.8), [0.8, 0.85, 0.9, 0.95, 1.0]);
        assert_eq!(thresholds(0.87), [0.87, 0.9, 0.95, 1.0]);
        assert_eq!(thresholds(1.0), [1.0]);
        assert_eq!(thresholds(0.0).len(), STEPS + 1);
    }
}
