//! Tests on random graphs, against clusters built in the simplest way.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::Clustering;
use super::edges::{Edge, Edges};
use super::graph::Graph;
use super::grouping::Clusters;
use super::leaders::{Degrees, leaders};
use super::strongest::connected;
use super::strongest::links;
use super::summary::summaries;
use crate::executor::PlainThreads;
use crate::storage::files::MemoryFiles;

const W: &PlainThreads = &PlainThreads(2);

/// Returns a graph: the number of vertices, and edges, each once.
fn graphs() -> impl Strategy<Value = (usize, Vec<Edge>)> {
    (1usize..40, 0usize..120, 1u32..6).prop_flat_map(|(vertices, edges, grades)| {
        let edge = (0..vertices as u32, 0..vertices as u32, 0..grades);
        proptest::collection::vec(edge, 0..=edges).prop_map(move |edges| {
            let mut seen = BTreeSet::new();
            let edges = edges.into_iter().filter(|(a, b, _)| a != b && seen.insert((*a.min(b), *a.max(b))));
            let grade = |grade: u32| 1.0 - f64::from(grade) / 16.0;
            (vertices, edges.map(|(a, b, s)| Edge::new(a, b, grade(s))).collect())
        })
    })
}

pub(super) fn store(vertices: usize, edges: &[Edge]) -> Graph<'static> {
    let mut store = Edges::new(&MemoryFiles, 1 << 20);
    edges.iter().for_each(|&edge| store.push(edge).unwrap());
    Graph::new(store, vertices)
}

fn cluster(vertices: usize, edges: &[Edge], clustering: Clustering, largest: Option<u32>) -> Clusters {
    Clusters::new(&mut store(vertices, edges), clustering, largest, W).unwrap()
}

fn similarity(edges: &[Edge], a: u32, b: u32) -> Option<f64> {
    let wanted = Edge::new(a, b, 0.0);
    edges.iter().find(|e| e.left == wanted.left && e.right == wanted.right).map(|e| e.similarity)
}

/// Returns the steps between all members of a set, inside the set.
fn distances(edges: &[Edge], members: &[u32]) -> Vec<Vec<u32>> {
    let n = members.len();
    let mut steps = vec![vec![u32::MAX / 4; n]; n];
    for i in 0..n {
        steps[i][i] = 0;
        for j in 0..n {
            if i != j && similarity(edges, members[i], members[j]).is_some() {
                steps[i][j] = 1;
            }
        }
    }
    for k in 0..n {
        for i in 0..n {
            for j in 0..n {
                steps[i][j] = steps[i][j].min(steps[i][k] + steps[k][j]);
            }
        }
    }
    steps
}

/// Spreads labels along edges until nothing changes.
fn naive_components(vertices: usize, edges: &[Edge], least: f64) -> Vec<u32> {
    let mut label: Vec<u32> = (0..vertices as u32).collect();
    loop {
        let before = label.clone();
        for edge in edges.iter().filter(|edge| edge.similarity >= least) {
            let (a, b) = (edge.left as usize, edge.right as usize);
            let low = label[a].min(label[b]);
            (label[a], label[b]) = (low, low);
        }
        if label == before {
            return label;
        }
    }
}

proptest! {
    #[test]
    fn connected_are_components((vertices, edges) in graphs()) {
        let label = naive_components(vertices, &edges, 0.0);
        let mut expected: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        label.iter().zip(0..).for_each(|(&label, vertex)| expected.entry(label).or_default().push(vertex));
        expected.retain(|_, members| members.len() > 1);
        let clusters = cluster(vertices, &edges, Clustering::Connected, None);
        let seen: BTreeMap<u32, Vec<u32>> = clusters.iter().map(|c| (c.id, c.members.to_vec())).collect();
        prop_assert_eq!(seen, expected);
        for c in clusters.iter() {
            let degree = |v: u32| edges.iter().filter(|e| e.left == v || e.right == v).count();
            let most = c.members.iter().map(|&v| degree(v)).max().unwrap();
            prop_assert_eq!(degree(c.representative), most);
            for (&member, &s) in c.members.iter().zip(c.similarity) {
                if member == c.representative {
                    prop_assert_eq!(s, 1.0);
                } else {
                    prop_assert_eq!((!s.is_nan()).then_some(s), similarity(&edges, member, c.representative));
                }
            }
        }
    }

    #[test]
    fn nothing_depends_on_the_order_of_edges((vertices, edges) in graphs(), seed: u64) {
        let mut shuffled = edges.clone();
        shuffled.sort_by_key(|edge| crate::hash::mix(edge.vertices() ^ seed));
        for clustering in [Clustering::Connected, Clustering::Star, Clustering::PerhapsSimilar] {
            for largest in [None, Some(3)] {
                let a = cluster(vertices, &edges, clustering, largest);
                let b = cluster(vertices, &shuffled, clustering, largest);
                prop_assert_eq!(format!("{a:?}"), format!("{b:?}"));
                let a = summaries(&mut store(vertices, &edges), &a, u64::MAX, W).unwrap();
                let b = summaries(&mut store(vertices, &shuffled), &b, u64::MAX, W).unwrap();
                prop_assert_eq!(a, b);
            }
        }
    }

    #[test]
    fn stars_are_around_their_representatives((vertices, edges) in graphs()) {
        let stars = cluster(vertices, &edges, Clustering::Star, None);
        let mut home = BTreeMap::new();
        for c in stars.iter() {
            for (&member, &s) in c.members.iter().zip(c.similarity) {
                prop_assert!(home.insert(member, c.representative).is_none());
                if member != c.representative {
                    prop_assert_eq!(Some(s), similarity(&edges, member, c.representative));
                }
            }
        }
        // No two representatives are a pair, nor is a row left alone a pair with a representative.
        for edge in &edges {
            let center = |v: u32| home.get(&v).is_none_or(|&r| r == v);
            prop_assert!(!(center(edge.left) && center(edge.right)));
        }
    }

    #[test]
    fn leaders_by_the_rule((vertices, edges) in graphs(), seed: u64) {
        let mut order: Vec<u32> = (0..vertices as u32).collect();
        order.sort_by_key(|&v| crate::hash::mix(u64::from(v) ^ seed));
        let mut rank = vec![0; vertices];
        order.iter().zip(0..).for_each(|(&v, place)| rank[v as usize] = place);
        let found = leaders(&mut store(vertices, &edges), &rank, W).unwrap();
        let mut kept: Vec<u32> = Vec::new();
        for &v in &order {
            if kept.iter().all(|&k| similarity(&edges, v, k).is_none()) {
                kept.push(v);
            }
        }
        for v in 0..vertices as u32 {
            let mut best: Option<(f64, u32)> = None;
            for &k in &kept {
                if let Some(s) = similarity(&edges, v, k)
                    && best.is_none_or(|(most, _)| s > most)
                {
                    best = Some((s, k));
                }
            }
            let expected = best.unwrap_or((1.0, v));
            prop_assert_eq!(best.is_none(), kept.contains(&v));
            prop_assert_eq!((found.similarity[v as usize], found.of[v as usize]), expected);
        }
    }

    #[test]
    fn perhaps_similar_sets_are_lists_merged((vertices, edges) in graphs()) {
        let degree = |v: u32| edges.iter().filter(|e| e.left == v || e.right == v).count();
        let key = |v: u32| (degree(v), v);
        // Lists by representative, as in Huang et al. (CIKM 2008), section 3.2.
        let mut lists: BTreeMap<(usize, u32), BTreeSet<u32>> = BTreeMap::new();
        for edge in &edges {
            let (high, low) = if key(edge.left) > key(edge.right) { (edge.left, edge.right) } else { (edge.right, edge.left) };
            lists.entry(key(high)).or_insert_with(|| [high].into()).insert(low);
        }
        let mut expected = BTreeMap::new();
        while let Some(((_, representative), mut set)) = lists.pop_last() {
            loop {
                let next = lists.keys().rev().find(|(_, r)| set.contains(r)).copied();
                let Some(next) = next else { break };
                set.extend(lists.remove(&next).unwrap());
            }
            expected.insert(representative, set.into_iter().collect::<Vec<_>>());
        }
        let found = cluster(vertices, &edges, Clustering::PerhapsSimilar, None);
        let seen: BTreeMap<u32, Vec<u32>> = found.iter().map(|c| (c.representative, c.members.to_vec())).collect();
        prop_assert_eq!(seen, expected);
    }

    #[test]
    fn bounded_components_break_at_weak_links((vertices, edges) in graphs(), largest in 1u32..12) {
        let mut components = {
            let mut graph = store(vertices, &edges);
            let degrees = Degrees::new(&mut graph, W).unwrap();
            connected(&mut graph, &degrees, Some(largest), W).unwrap()
        };
        let whole = naive_components(vertices, &edges, 0.0);
        let mut label: Vec<u32> = (0..vertices as u32).collect();
        let mut order = edges.clone();
        order.sort_by_key(|edge| edge.strongest_first());
        for edge in order {
            let (a, b) = (label[edge.left as usize], label[edge.right as usize]);
            let size = label.iter().filter(|&&l| l == a || l == b).count();
            if a != b && size <= largest as usize {
                label.iter_mut().filter(|l| **l == a || **l == b).for_each(|l| *l = a.min(b));
            }
        }
        prop_assert_eq!(components.least().unwrap(), label.clone());
        for v in 0..vertices {
            let size = whole.iter().filter(|&&l| l == whole[v]).count();
            if size <= largest as usize {
                prop_assert_eq!(label[v], whole[v]);
            }
        }
    }

    #[test]
    fn summaries_are_right((vertices, edges) in graphs()) {
        for clustering in [Clustering::Connected, Clustering::Star, Clustering::PerhapsSimilar] {
            let clusters = cluster(vertices, &edges, clustering, None);
            let found = summaries(&mut store(vertices, &edges), &clusters, u64::MAX, W).unwrap();
            prop_assert_eq!(found.len(), clusters.len());
            for (c, summary) in clusters.iter().zip(found) {
                let holds = |v: u32| c.members.binary_search(&v).is_ok();
                let inside: Vec<f64> = edges.iter().filter(|e| holds(e.left) && holds(e.right))
                    .map(|e| e.similarity).collect();
                prop_assert_eq!(summary.pairs, inside.len() as u64);
                prop_assert_eq!(summary.least, inside.iter().copied().fold(f64::INFINITY, f64::min));
                prop_assert!((summary.mean - inside.iter().sum::<f64>() / inside.len() as f64).abs() < 1e-9);
                let steps = distances(&edges, c.members);
                prop_assert_eq!(summary.diameter, steps.into_iter().flatten().max());
            }
        }
    }

    #[test]
    fn links_connect_at_every_threshold((vertices, edges) in graphs()) {
        let found = links(&mut store(vertices, &edges), W).unwrap();
        prop_assert!(found.is_sorted_by_key(|link| link.edge.strongest_first()));
        let tree: Vec<Edge> = found.iter().map(|link| link.edge).collect();
        for threshold in (0..16).map(|n| f64::from(n) / 16.0) {
            prop_assert_eq!(naive_components(vertices, &tree, threshold), naive_components(vertices, &edges, threshold));
        }
        for (n, link) in found.iter().enumerate() {
            let before = naive_components(vertices, &tree[..n], 0.0);
            let size = |v: u32| before.iter().filter(|&&l| l == before[v as usize]).count() as u32;
            prop_assert_eq!(link.parts, [size(link.edge.left), size(link.edge.right)]);
        }
    }
}

#[test]
fn a_chain_is_one_component_and_many_stars() {
    let n = 10_000u32;
    let edges: Vec<Edge> = (1..n).map(|v| Edge::new(v - 1, v, 0.9)).collect();
    let all = cluster(n as usize, &edges, Clustering::Connected, None);
    assert_eq!((all.len(), all.get(0).members.len()), (1, n as usize));
    let summary = summaries(&mut store(n as usize, &edges), &all, 1 << 30, W).unwrap()[0];
    assert_eq!(summary.diameter, Some(n - 1));
    let stars = cluster(n as usize, &edges, Clustering::Star, None);
    assert!(stars.iter().all(|star| star.members.len() <= 3));
    let parts = cluster(n as usize, &edges, Clustering::Connected, Some(100));
    assert!(parts.iter().all(|part| part.members.len() <= 100));
}

#[test]
fn too_long_a_search_tells_no_diameter() {
    // A cycle: every vertex is as good a start as another.
    let n = 1001u32;
    let edges: Vec<Edge> = (0..n).map(|v| Edge::new(v, (v + 1) % n, 0.9)).collect();
    let all = cluster(n as usize, &edges, Clustering::Connected, None);
    let diameter = |effort| summaries(&mut store(n as usize, &edges), &all, effort, W).unwrap()[0].diameter;
    assert_eq!(diameter(u64::MAX), Some(500));
    assert_eq!(diameter(10_000), None);
}
