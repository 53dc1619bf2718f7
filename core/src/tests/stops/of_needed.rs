//! The pairs that clusters and eliminations need end at any check, and are the same afterwards.

use super::{resources, stops_anywhere};
use crate::Corpus;
use crate::clusters::edges::{Edge, Edges};
use crate::clusters::equal_rows::EqualRows;
use crate::clusters::graph::Graph;
use crate::clusters::leaders::leaders;
use crate::clusters::needed::{Limits, Needed, Purpose};
use crate::executor::{Executor, PlainThreads};
use crate::methods::documents::Quiet;
use crate::methods::method::Method as _;
use crate::methods::reading::Reading;
use crate::methods::sets::Sets;
use crate::storage::files::MemoryFiles;
use crate::verify::measure::Measure;

/// The rows to keep, of the pairs that are needed for a purpose.
fn kept(texts: &[String], purpose: Purpose, budget: usize, executor: &dyn Executor) -> String {
    let (mut corpus, mut quiet) = (Corpus::of_texts(texts), Quiet);
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources(budget, executor));
    let mut pairs = Sets::of_words(Measure::Jaccard, 0.6).unwrap().pairs(&mut reading).unwrap();
    let mut equal = EqualRows::new(texts.len()).unwrap();
    for (rows, similarity) in pairs.equal_rows() {
        equal.push(rows.iter().copied(), similarity).unwrap();
    }
    let narrow = |sets, members: &_| {
        let needed = Needed::new(sets, members, |row| row, purpose, Box::new(MemoryFiles))?;
        Ok(Box::new(needed.with(Limits { few: 4, pairs: 2 })) as _)
    };
    pairs.narrow(narrow).unwrap();
    let mut edges = Edges::new(&MemoryFiles, 1 << 20);
    loop {
        while let Some(pair) = pairs.take_group() {
            let [left, right] = [pair.left, pair.right].map(|row| equal.first(row));
            edges.push(Edge::new(left, right, pair.similarity)).unwrap();
        }
        if !pairs.advance(executor).unwrap() {
            break;
        }
    }
    let rank: Vec<u32> = (0..texts.len() as u32).collect();
    let mut graph = Graph { vertices: texts.len(), edges, equal };
    let leaders = leaders(&mut graph, &rank, &PlainThreads(2)).unwrap();
    format!("{:?} {:?}", leaders.of, leaders.similarity)
}

#[test]
fn needed_pairs_stop_anywhere() {
    for purpose in [Purpose::Leaders, Purpose::Clusters(5)] {
        stops_anywhere("needed pairs", &|texts, budget, executor| kept(texts, purpose, budget, executor));
    }
}
