//! What goes for what: by equal keys, by repeatability, by the pairs of any method.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::Hash;

use neardup_core::clusters::edges::{Edge, Edges};
use neardup_core::clusters::graph::Graph;
use neardup_core::clusters::leaders::{leaders, rank_by};
use neardup_core::executor::PlainThreads;
use neardup_core::features::codes::CodeSpec;
use neardup_core::methods::Method;
use neardup_core::methods::codes::ByCodes;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::storage::files::{MemoryFiles, NoFiles, Resources};

/// A document that goes, and the one that stays in its place.
pub type Eliminated = (u32, u32);

const RESOURCES: Resources<'_> = Resources { files: &NoFiles, budget: 1 << 40, executor: &PlainThreads(1) };

/// Of documents with equal keys the first stays; how many have a key.
pub fn equal<K: Eq + Hash>(keys: impl IntoIterator<Item = Option<K>>) -> (usize, Vec<Eliminated>) {
    let mut first = HashMap::new();
    let (mut effective, mut gone) = (0, Vec::new());
    for (number, key) in (0..).zip(keys) {
        let Some(key) = key else { continue };
        effective += 1;
        let stays = *first.entry(key).or_insert(number);
        if stays != number {
            gone.push((number, stays));
        }
    }
    (effective, gone)
}

/// What repeatability eliminates.
pub fn repeated(texts: &[String], threshold: f64) -> Vec<Eliminated> {
    repeated_by(texts, threshold, CodeSpec::default())
}

/// The same of codes that are made otherwise.
pub fn repeated_by(texts: &[String], threshold: f64, spec: CodeSpec) -> Vec<Eliminated> {
    let method = ByCodes { spec, threshold: Some(threshold) };
    let (mut rows, mut quiet) = (Corpus::of_texts(texts), Quiet);
    let mut reading = Reading::new(&mut rows, &mut quiet, RESOURCES);
    let (_, leaders) = method.eliminate(&mut reading).expect("memory").expect("a threshold");
    (0..).zip(leaders.of).filter(|(number, leader)| number != leader).collect()
}

/// What the pairs of a method eliminate: the longest texts stay, those of equal length in their
/// order.
pub fn of_pairs(texts: &[String], method: &dyn Method) -> Vec<Eliminated> {
    let (mut rows, mut quiet) = (Corpus::of_texts(texts), Quiet);
    let mut pairs = method.pairs(&mut Reading::new(&mut rows, &mut quiet, RESOURCES)).expect("memory");
    let mut edges = Edges::new(&MemoryFiles, RESOURCES.budget);
    while let Some(pair) = pairs.next(RESOURCES.executor).expect("memory") {
        edges.push(Edge::new(pair.left, pair.right, pair.similarity)).expect("memory");
    }
    let lengths: Vec<usize> = texts.iter().map(|text| text.chars().count()).collect();
    let longest = |row: u32| (Reverse(lengths[row as usize]), row);
    let rank = rank_by(texts.len(), longest, RESOURCES.executor).expect("memory");
    let leaders = leaders(&mut Graph::new(edges, texts.len()), &rank, RESOURCES.executor).expect("memory");
    (0..).zip(leaders.of).filter(|(number, leader)| number != leader).collect()
}

/// A share with so many digits; none of nothing.
pub fn share(part: usize, all: usize) -> String {
    match all {
        0 => "-".to_owned(),
        _ => format!("{:.3}", part as f64 / all as f64),
    }
}
