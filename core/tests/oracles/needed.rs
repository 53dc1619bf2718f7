//! Rows to keep and clusters are the same whether all pairs are known or only those that are needed,
//! and many rows of one template take few comparisons.

use std::collections::{BTreeMap, HashSet};

use proptest::prelude::*;

use neardup_core::clusters::Clustering;
use neardup_core::clusters::components::Components;
use neardup_core::clusters::edges::{Edge, Edges};
use neardup_core::clusters::graph::{EqualRows, Graph};
use neardup_core::clusters::grouping::Clusters;
use neardup_core::clusters::leaders::{Leaders, leaders};
use neardup_core::clusters::needed::{Limits, NeededSets, Purpose};
use neardup_core::executor::PlainThreads;
use neardup_core::hash::mix;
use neardup_core::joins::Counts;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::method::Method as _;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sets::Sets;
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::verify::measure::Measure;

const W: &PlainThreads = &PlainThreads(2);

/// What of the pairs is made: all of them, or the needed ones with limits, or with the usual ones.
type Need<'a> = Option<(Purpose, Option<Limits>, &'a [u32])>;

/// The graph of the pairs of texts, the number of its edges, and what the filters counted.
fn graph(texts: &[String], threshold: f64, budget: usize, need: Need<'_>) -> (Graph<'static>, usize, Counts) {
    let resources = Resources { files: &MemoryFiles, budget, executor: W };
    let (mut corpus, mut quiet) = (Corpus::of_texts(texts), Quiet);
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
    let method = Sets::of_words(Measure::Jaccard, threshold).unwrap();
    let mut pairs = method.pairs(&mut reading).unwrap();
    let mut equal = EqualRows::new(texts.len()).unwrap();
    for (rows, similarity) in pairs.equal_rows() {
        equal.push(rows.iter().copied(), similarity).unwrap();
    }
    if let Some((purpose, limits, rank)) = need {
        let narrow = |sets, members: &_| {
            let needed = NeededSets::new(sets, purpose, Box::new(MemoryFiles));
            let needed = match limits {
                Some(limits) => needed.with(limits),
                None => needed,
            };
            needed.join(members, || Ok(|row: u32| rank[row as usize]), W)
        };
        pairs.narrow::<neardup_core::Error>(narrow).unwrap();
    }
    let mut edges = Edges::new(&MemoryFiles, 1 << 20);
    let mut seen = HashSet::new();
    loop {
        while let Some(pair) = pairs.take_group() {
            let [left, right] = [pair.left, pair.right].map(|row| equal.first(row));
            let edge = Edge::new(left, right, pair.similarity);
            assert!(seen.insert((edge.left, edge.right)), "each pair comes once");
            edges.push(edge).unwrap();
        }
        if !pairs.advance(W).unwrap() {
            break;
        }
    }
    (Graph { vertices: texts.len(), edges, equal }, seen.len(), pairs.counts())
}

fn same(a: &Leaders, b: &Leaders) -> bool {
    a.of == b.of && a.similarity == b.similarity
}

fn components(graph: &mut Graph<'_>) -> Vec<u32> {
    let mut components = Components::new(graph.vertices).unwrap();
    for rows in graph.equal.groups() {
        for &row in rows {
            components.unite(rows[0], row, u32::MAX);
        }
    }
    let unite = |edge: Edge| {
        components.unite(edge.left, edge.right, u32::MAX);
        Ok(())
    };
    graph.edges.for_each(W, unite).unwrap();
    components.least().unwrap()
}

/// The edges within components of at most `most` rows.
fn small_edges(graph: &mut Graph<'_>, most: usize) -> Vec<(u32, u32, u64)> {
    let least = components(graph);
    let mut sizes = BTreeMap::new();
    least.iter().for_each(|&first| *sizes.entry(first).or_insert(0) += 1);
    let mut all = Vec::new();
    let keep = |edge: Edge| {
        if sizes[&least[edge.left as usize]] <= most {
            all.push((edge.left, edge.right, edge.similarity.to_bits()));
        }
        Ok(())
    };
    graph.edges.for_each(W, keep).unwrap();
    all.sort_unstable();
    all
}

fn listed(clusters: &Clusters) -> Vec<String> {
    clusters.iter().map(|cluster| format!("{cluster:?}")).collect()
}

/// Rows of a few templates with some words of their own, in between rows of other words.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let row = (0..6usize, prop::collection::vec(0..12u32, 0..4), any::<prop::sample::Index>());
    prop::collection::vec(row, 0..90).prop_map(|rows| {
        let text = |(template, own, without): (usize, Vec<u32>, prop::sample::Index)| {
            // Neighbouring templates share most of their words.
            let mut words: Vec<String> = (0..9).map(|n| format!("t{}", n + 2 * template)).collect();
            words.remove(without.index(9));
            if template == 0 {
                words.clear();
            }
            words.extend(own.iter().map(|own| format!("w{own}")));
            words.join(" ")
        };
        rows.into_iter().map(text).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn leaders_and_clusters_are_those_of_all_pairs(
        texts in texts(),
        seed in any::<u64>(),
        threshold in prop::sample::select(vec![0.3, 0.5, 0.7, 0.9]),
        few in 1..12usize,
        most in 0..20u32,
        budget in prop::sample::select(vec![0, 1 << 12, 1 << 30]),
    ) {
        let limits = Some(Limits { few, pairs: 0 });
        let mut order: Vec<u32> = (0..texts.len() as u32).collect();
        order.sort_by_key(|&row| mix(seed ^ u64::from(row)));
        let mut rank = vec![0; order.len()];
        order.iter().zip(0..).for_each(|(&row, place)| rank[row as usize] = place);
        let (mut all, ..) = graph(&texts, threshold, 1 << 30, None);

        let need = Some((Purpose::Leaders, limits, &rank[..]));
        let (mut needed, ..) = graph(&texts, threshold, budget, need);
        prop_assert!(same(&leaders(&mut all, &rank, W).unwrap(), &leaders(&mut needed, &rank, W).unwrap()));

        let by_id: Vec<u32> = (0..texts.len() as u32).collect();
        let need = Some((Purpose::Clusters(most), limits, &by_id[..]));
        let (mut needed, ..) = graph(&texts, threshold, budget, need);
        prop_assert!(same(&leaders(&mut all, &by_id, W).unwrap(), &leaders(&mut needed, &by_id, W).unwrap()));
        prop_assert_eq!(components(&mut all), components(&mut needed));
        prop_assert_eq!(small_edges(&mut all, most as usize), small_edges(&mut needed, most as usize));
    }
}

#[test]
fn rows_of_one_template_take_few_comparisons() {
    const ROWS: u64 = 1_500;
    let words: Vec<String> = (0..57).map(|n| format!("w{n}")).collect();
    let template = words.join(" ");
    let own = |row: u64, n: u64| mix(row * 4 + n) % 1_000;
    let mut texts: Vec<String> = (0..ROWS)
        .map(|row| format!("{template} v{} v{} v{}", own(row, 0), own(row, 1), own(row, 2)))
        .collect();
    texts.extend((0..ROWS / 10).map(|row| format!("v{} v{} v{}", own(row, 0), own(row, 1), own(row, 2))));
    let by_id: Vec<u32> = (0..texts.len() as u32).collect();
    let (mut all, pairs, _) = graph(&texts, 0.8, 1 << 30, None);
    assert!(pairs as u64 >= ROWS * (ROWS - 1) / 2 - ROWS);
    for purpose in [Purpose::Leaders, Purpose::Clusters(1_000)] {
        let is_clusters = matches!(purpose, Purpose::Clusters(_));
        for budget in [1 << 20, 1 << 30] {
            let purpose = if is_clusters { Purpose::Clusters(1_000) } else { Purpose::Leaders };
            let (mut needed, pairs, counts) = graph(&texts, 0.8, budget, Some((purpose, None, &by_id)));
            assert!((pairs as u64) < ROWS + 100, "{pairs} pairs");
            assert!(counts.verified < 4 * ROWS, "{counts:?}");
            assert!(same(&leaders(&mut all, &by_id, W).unwrap(), &leaders(&mut needed, &by_id, W).unwrap()));
            for clustering in [Clustering::Connected, Clustering::Star].iter().filter(|_| is_clusters) {
                let of = |graph: &mut Graph<'_>| listed(&Clusters::new(graph, *clustering, None, W).unwrap());
                assert_eq!(of(&mut all), of(&mut needed));
            }
        }
    }
}
