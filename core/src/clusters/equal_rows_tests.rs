//! Tests of groups of equal rows, against the graph of all their pairs.

use proptest::prelude::*;

use super::Clustering;
use super::curve::{curve, thresholds};
use super::edges::{Edge, Edges};
use super::graph::{EqualRows, Graph};
use super::grouping::Clusters;
use super::leaders::{Degrees, leaders};
use super::samples::samples;
use super::strongest::links;
use super::summary::summaries;
use super::tests::store;
use crate::error::Error;
use crate::executor::PlainThreads;
use crate::storage::files::MemoryFiles;

const W: &PlainThreads = &PlainThreads(2);

/// Records: the rows of each and how similar they are to each other if they are pairs, and the
/// pairs of records.
#[derive(Debug, Clone)]
struct Records {
    vertices: usize,
    groups: Vec<(Vec<u32>, Option<f64>)>,
    pairs: Vec<(usize, usize, f64)>,
}

impl Records {
    fn graph(&self) -> Graph<'static> {
        let mut equal = EqualRows::new(self.vertices).unwrap();
        for (rows, similarity) in self.groups.iter().filter(|(rows, _)| rows.len() > 1) {
            equal.push(rows.iter().rev().copied(), *similarity).unwrap();
        }
        let mut edges = Edges::new(&MemoryFiles, 1 << 20);
        for &(a, b, similarity) in &self.pairs {
            edges.push(Edge::new(self.groups[a].0[0], self.groups[b].0[0], similarity)).unwrap();
        }
        Graph { vertices: self.vertices, edges, equal }
    }

    fn all(&self) -> Vec<Edge> {
        let mut all = Vec::new();
        for (rows, similarity) in self.groups.iter().filter_map(|(rows, s)| s.map(|s| (rows, s))) {
            for (n, &a) in rows.iter().enumerate() {
                all.extend(rows[n + 1..].iter().map(|&b| Edge::new(a, b, similarity)));
            }
        }
        for &(a, b, similarity) in &self.pairs {
            for &left in &self.groups[a].0 {
                all.extend(self.groups[b].0.iter().map(|&right| Edge::new(left, right, similarity)));
            }
        }
        all
    }
}

fn records() -> impl Strategy<Value = Records> {
    // Rows that say the same are of any similarity to each other if some of what they say does not
    // count.
    let similarity =
        prop_oneof![3 => Just(1.0), 2 => (1u32..5).prop_map(|grade| 1.0 - f64::from(grade) / 16.0)];
    let group = (1usize..6, prop::option::weighted(0.85, similarity));
    (prop::collection::vec(group, 1..9), any::<u64>(), 1u32..5).prop_flat_map(|(sizes, seed, grades)| {
        let vertices: usize = sizes.iter().map(|(size, _)| size).sum();
        let mut rows: Vec<u32> = (0..vertices as u32).collect();
        rows.sort_by_key(|&row| crate::hash::mix(u64::from(row) ^ seed));
        let mut rest = &rows[..];
        let mut groups = Vec::new();
        for (size, similarity) in sizes {
            let (own, others) = rest.split_at(size);
            let mut own = own.to_vec();
            own.sort_unstable();
            groups.push((own, similarity));
            rest = others;
        }
        let pair = (0..groups.len(), 0..groups.len(), 0..grades);
        prop::collection::vec(pair, 0..16).prop_map(move |pairs| {
            let mut seen = std::collections::BTreeSet::new();
            let pairs = pairs.into_iter().filter(|(a, b, _)| a != b && seen.insert((*a.min(b), *a.max(b))));
            let pairs = pairs.map(|(a, b, grade)| (a, b, 1.0 - f64::from(grade) / 16.0)).collect();
            Records { vertices, groups: groups.clone(), pairs }
        })
    })
}

proptest! {
    #![proptest_config(crate::cases::cases(2000))]

    #[test]
    fn equal_rows_are_as_all_their_pairs(records in records(), largest in 1u32..9, seed: u64) {
        let all = records.all();
        let vertices = records.vertices;
        let degrees = Degrees::new(&mut records.graph(), W).unwrap();
        prop_assert_eq!(format!("{degrees:?}"), format!("{:?}", Degrees::new(&mut store(vertices, &all), W).unwrap()));
        for clustering in [Clustering::Connected, Clustering::Star, Clustering::PerhapsSimilar] {
            for largest in [None, Some(largest)] {
                let found = Clusters::new(&mut records.graph(), clustering, largest, W).unwrap();
                let expected = Clusters::new(&mut store(vertices, &all), clustering, largest, W).unwrap();
                prop_assert_eq!(format!("{:?}", found), format!("{:?}", expected));
                let found = summaries(&mut records.graph(), &found, u64::MAX, W).unwrap();
                let expected = summaries(&mut store(vertices, &all), &expected, u64::MAX, W).unwrap();
                prop_assert_eq!(found, expected, "{:?} {:?}", clustering, largest);
            }
        }
        let found = links(&mut records.graph(), W).unwrap();
        prop_assert_eq!(&found, &links(&mut store(vertices, &all), W).unwrap());
        let points = |graph: &mut Graph<'_>| curve(graph, &found, &thresholds(0.5), W).unwrap();
        prop_assert_eq!(points(&mut records.graph()), points(&mut store(vertices, &all)));
        let shown = |graph: &mut Graph<'_>| samples(graph, 3, W).unwrap();
        prop_assert_eq!(shown(&mut records.graph()), shown(&mut store(vertices, &all)));

        let mut order: Vec<u32> = (0..vertices as u32).collect();
        order.sort_by_key(|&v| crate::hash::mix(u64::from(v) ^ seed));
        let mut rank = vec![0; vertices];
        order.iter().zip(0..).for_each(|(&v, place)| rank[v as usize] = place);
        let found = leaders(&mut records.graph(), &rank, W).unwrap();
        let expected = leaders(&mut store(vertices, &all), &rank, W).unwrap();
        prop_assert_eq!((found.of, found.similarity), (expected.of, expected.similarity));
    }
}

proptest! {
    #![proptest_config(crate::cases::cases(1000))]

    #[test]
    fn vertices_without_pairs_may_be_left_out(records in records(), gaps in prop::collection::vec(0u32..100, 64)) {
        // Vertices move apart, and those between them are in no pair.
        let mut moved = records.clone();
        let places: Vec<u32> = gaps.iter().scan(0, |at, gap| { *at += gap + 1; Some(*at) }).collect();
        for (rows, _) in &mut moved.groups {
            rows.iter_mut().for_each(|row| *row = places[*row as usize]);
        }
        moved.vertices = places.last().map_or(0, |&last| last as usize + 40);
        // Any row of a group may be in the pairs.
        let mut pairs = Edges::new(&MemoryFiles, 1 << 20);
        for &(a, b, similarity) in &moved.pairs {
            let [left, right] = [a, b].map(|group| *moved.groups[group].0.last().unwrap());
            pairs.push(Edge::new(left, right, similarity)).unwrap();
        }
        let groups = moved.groups.iter().filter(|(rows, _)| rows.len() > 1);
        let groups = groups.map(|(rows, similarity)| (&rows[..], *similarity));
        let in_order = |rows: &mut Vec<u32>| {
            assert!(rows.is_sorted_by(|a, b| a < b));
            Ok::<_, Error>(())
        };
        let (mut compact, all) = Graph::of_rows(pairs, groups, moved.vertices, false, in_order, W).unwrap();
        prop_assert!(all.is_sorted_by(|a, b| a < b) && all.iter().all(|vertex| places.contains(vertex)));
        prop_assert_eq!(compact.vertices, all.len());
        let clusters = |graph: &mut Graph<'_>| Clusters::new(graph, Clustering::Star, None, W).unwrap();
        let (found, expected) = (clusters(&mut compact), clusters(&mut moved.graph()));
        prop_assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected.iter()) {
            let members: Vec<u32> = found.members.iter().map(|&member| all[member as usize]).collect();
            prop_assert_eq!((&members[..], all[found.representative as usize]), (expected.members, expected.representative));
            prop_assert_eq!(format!("{:?}", found.similarity), format!("{:?}", expected.similarity));
        }
        let rank: Vec<u32> = (0..moved.vertices as u32).rev().collect();
        let own: Vec<u32> = all.iter().map(|&vertex| rank[vertex as usize]).collect();
        let (found, expected) = (leaders(&mut compact, &own, W).unwrap(), leaders(&mut moved.graph(), &rank, W).unwrap());
        for (place, &vertex) in all.iter().enumerate() {
            prop_assert_eq!(all[found.of[place] as usize], expected.of[vertex as usize]);
            prop_assert_eq!(found.similarity[place], expected.similarity[vertex as usize]);
        }
        prop_assert!((0..).zip(&expected.of).all(|(vertex, &of)| vertex == of || all.contains(&vertex)));
    }
}

/// Tests two groups of very many rows that are similar to each other, and single rows that are
/// similar to both.
#[test]
fn very_many_equal_rows_take_little() {
    const EACH: u32 = 300_000;
    const OTHERS: u32 = 200;
    let vertices = (2 * EACH + OTHERS) as usize;
    let graph = || {
        let mut equal = EqualRows::new(vertices).unwrap();
        equal.push((0..EACH).map(|n| 2 * n), Some(1.0)).unwrap();
        equal.push((0..EACH).map(|n| 2 * n + 1), Some(1.0)).unwrap();
        let mut edges = Edges::new(&MemoryFiles, 1 << 20);
        edges.push(Edge::new(0, 1, 0.9)).unwrap();
        for other in 2 * EACH..vertices as u32 {
            edges.push(Edge::new(0, other, 0.8)).unwrap();
            edges.push(Edge::new(1, other, 0.8)).unwrap();
        }
        Graph { vertices, edges, equal }
    };
    for clustering in [Clustering::Connected, Clustering::Star, Clustering::PerhapsSimilar] {
        let clusters = Clusters::new(&mut graph(), clustering, None, W).unwrap();
        assert_eq!((clusters.len(), clusters.get(0).members.len()), (1, vertices), "{clustering:?}");
        let summary = summaries(&mut graph(), &clusters, 1 << 20, W).unwrap()[0];
        let all = u64::from(2 * EACH);
        assert_eq!(summary.pairs, all * (all - 1) / 2 + all * u64::from(OTHERS));
        assert_eq!((summary.least, summary.diameter), (0.8, Some(2)));
    }
    for largest in [2, 1000, EACH + 7] {
        let clusters = Clusters::new(&mut graph(), Clustering::Connected, Some(largest), W).unwrap();
        assert!(clusters.iter().all(|cluster| cluster.members.len() <= largest as usize));
    }
    assert_eq!(links(&mut graph(), W).unwrap().len(), vertices - 1);
}
