//! Engines whose leader looks for requests to stop, between the batches of its threads: each ends
//! at any of its checks, and finds the same when it is called again.

use std::cell::Cell;

use super::{resources, stops_anywhere};
use crate::Corpus;
use crate::cases::cases;
use crate::clusters::Clustering;
use crate::clusters::curve::curve;
use crate::clusters::edges::{Edge, Edges};
use crate::clusters::graph::{EqualRows, Graph};
use crate::clusters::grouping::Clusters;
use crate::clusters::leaders::{leaders, rank_by};
use crate::clusters::needed::{Limits, NeededSets, Purpose};
use crate::clusters::samples::samples;
use crate::clusters::strongest::links;
use crate::clusters::summary::summaries;
use crate::error::{Error, Result};
use crate::executor::{Executor, PlainThreads, Stop, Task};
use crate::hash::mix;
use crate::joins::keys::Key;
use crate::joins::sets::bounds::Bounds;
use crate::methods::documents::Quiet;
use crate::methods::method::Method as _;
use crate::methods::reading::Reading;
use crate::methods::sets::Sets;
use crate::parts::groups::groups;
use crate::parts::keys::{self, KeyPart};
use crate::parts::part::Part;
use crate::parts::ranks::TokenRanks;
use crate::parts::rows::Shared;
use crate::storage::files::MemoryFiles;
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;

/// Ends at a check of the leader; at none if `at` is 0.
struct EndsAt {
    at: u64,
    checks: Cell<u64>,
}

impl EndsAt {
    fn check(at: u64) -> Self {
        Self { at, checks: Cell::new(0) }
    }
}

impl Executor for EndsAt {
    fn count(&self) -> usize {
        2
    }

    fn run(&self, threads: usize, work: &Task<'_>) -> Result<()> {
        PlainThreads(2).run(threads, work)
    }

    fn check_interrupts(&self) -> Result<()> {
        self.checks.set(self.checks.get() + 1);
        if self.checks.get() == self.at { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// An engine ends at any check of the leader, of which there are at least so many.
fn ends_anywhere(name: &str, least: u64, answer: &dyn Fn(&dyn Executor) -> Result<String>) {
    let whole = answer(&PlainThreads(2)).unwrap();
    assert!(whole.len() > 2, "{name} finds something");
    let counted = EndsAt::check(0);
    assert_eq!(answer(&counted).as_ref(), Ok(&whole), "{name}");
    let checks = counted.checks.get();
    println!("{name}: {checks} checks of the leader");
    assert!(checks >= least, "{name}: {checks} checks of the leader");
    let mut at = 1;
    while at <= checks {
        assert_eq!(answer(&EndsAt::check(at)), Err(Error::Stopped), "{name}, ended at {at} of {checks}");
        at = if cases(256).cases < 256 { at * 4 } else { (at + at / 3).max(at + 1) };
    }
    assert_eq!(answer(&PlainThreads(2)), Ok(whole), "{name}, called again");
}

const VERTICES: usize = 30_000;
const EDGES: u64 = 100_000;

/// A graph of chains, stars and cliques.
fn graph<'f>(files: &'f MemoryFiles, budget: usize, executor: &dyn Executor) -> Result<Graph<'f>> {
    let mut edges = Edges::new(files, budget);
    for n in 0..EDGES {
        let left = mix(n) % VERTICES as u64;
        let right = match n % 3 {
            0 => left + 1,
            1 => left / 1000 * 1000,
            _ => left / 8 * 8 + mix(n ^ 1) % 8,
        };
        let right = right.min(VERTICES as u64 - 1);
        if left != right {
            // Similarities are whole hundredths.
            edges.push(Edge::new(left as u32, right as u32, (50 + mix(n ^ 2) % 51) as f64 / 100.0))?;
        }
    }
    Ok(Graph::new(edges.distinct(executor)?, VERTICES))
}

#[test]
fn clusters_end_anywhere() {
    for budget in [0, usize::MAX] {
        for (clustering, largest) in
            [(Clustering::Connected, None), (Clustering::Connected, Some(50)), (Clustering::Star, None)]
        {
            ends_anywhere("clusters", 10, &|executor| {
                let mut graph = graph(&MemoryFiles, budget, executor)?;
                let clusters = Clusters::new(&mut graph, clustering, largest, executor)?;
                Ok(format!("{clusters:?} {:?}", summaries(&mut graph, &clusters, 1 << 20, executor)?))
            });
        }
        ends_anywhere("rows to keep", 10, &|executor| {
            let mut graph = graph(&MemoryFiles, budget, executor)?;
            let rank = rank_by(VERTICES, |row| (mix(row.into()), row), executor)?;
            Ok(format!("{:?}", leaders(&mut graph, &rank, executor)?))
        });
        ends_anywhere("curve and samples", 10, &|executor| {
            let mut graph = graph(&MemoryFiles, budget, executor)?;
            let links = links(&mut graph, executor)?;
            let points = curve(&mut graph, &links, &[0.5, 0.7, 0.9, 1.0], executor)?;
            Ok(format!("{links:?} {points:?} {:?}", samples(&mut graph, 50, executor)?))
        });
    }
}

/// Sets of families whose members share most of their tokens.
fn sets() -> Vec<Vec<u64>> {
    (0..4000u64)
        .map(|n| {
            let token = |at: u64| mix(if at % 10 == n % 10 { n << 32 | at } else { (n / 8) << 16 | at });
            let mut set: Vec<u64> = (0..20).map(token).collect();
            set.sort_unstable();
            set
        })
        .collect()
}

#[test]
fn parts_end_anywhere() {
    let (sets, stop) = (sets(), Stop::default());
    let predicate = Predicate::new(Measure::Jaccard, 0.7).unwrap();
    for budget in [1 << 16, usize::MAX] {
        ends_anywhere("sets of a part", 1, &|executor| {
            let ranks = TokenRanks::parse(&[1, 0, 0, 0, 0, 0, 0, 0])?;
            let mut part = Part::new(predicate, MemoryFiles, budget);
            for (n, set) in sets.iter().enumerate() {
                let rows = groups(set, &ranks, &Bounds::new(predicate), 1, &stop)?;
                for (_, prefix) in &rows.parts {
                    part.add(n as u64, rows.size, &rows.bitmap, Shared::Tokens(prefix), n % 3 == 0)?;
                }
            }
            let mut found = Vec::new();
            part.candidates(executor, &mut |a, b| {
                found.push((a.min(b), a.max(b)));
                Ok(())
            })?;
            found.sort_unstable();
            Ok(format!("{found:?}"))
        });
        ends_anywhere("keys of a part", 1, &|executor| {
            let mut part = KeyPart::new(MemoryFiles, budget, None);
            for (n, set) in sets.iter().enumerate() {
                let mut own: Vec<Key> = set.iter().map(|&token| Key::from_hash(token)).collect();
                for (_, bytes) in keys::groups(&mut own, 1, &stop)?.parts {
                    part.add(n as u64, &bytes, n % 3 == 0)?;
                }
            }
            let mut found = Vec::new();
            part.candidates(executor, &mut |a, b| {
                found.push((a, b));
                Ok(())
            })?;
            Ok(format!("{found:?}"))
        });
    }
}

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
        let needed = NeededSets::new(sets, purpose, Box::new(MemoryFiles)).with(Limits { few: 4, pairs: 2 });
        needed.join(members, || Ok(|row: u32| row), executor)
    };
    pairs.narrow::<Error>(narrow).unwrap();
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
