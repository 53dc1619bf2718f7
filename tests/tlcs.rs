//! The join by sentence signatures against its specification: all pairs, signatures compared, texts compared.

use std::collections::HashSet;

use neardup::candidates::sentence_join::sentence_pairs;
use neardup::candidates::signature_lists::{Signing, StopRules};
use neardup::clusters::signature_sets::signature_sets;
use neardup::error::{Error, Result};
use neardup::features::store::{NoFiles, TempFile, TempFiles};
use neardup::features::texts::{Distinct, TextCollector, distinct};
use neardup::hash::mix;
use neardup::sketches::sentence::{self, Signatures};
use neardup::verify::tlcs::{Comparer, Parameters, Thresholds};
use neardup::workers::{PlainThreads, Stop, Work, Workers};
use proptest::prelude::*;

/// A file in memory, as a server's temporary file.
#[derive(Default)]
struct FileInMemory(Vec<u8>);

impl TempFile for FileInMemory {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<()> {
        bytes.copy_from_slice(&self.0[at as usize..][..bytes.len()]);
        Ok(())
    }
}

struct FilesInMemory;

impl TempFiles for FilesInMemory {
    fn create(&self) -> Result<Box<dyn TempFile>> {
        Ok(Box::new(FileInMemory::default()))
    }
}

/// Stops the work every few calls, as a leader with pending interrupts does.
struct Interrupted(std::sync::atomic::AtomicUsize);

impl Workers for Interrupted {
    fn count(&self) -> usize {
        2
    }

    fn run(&self, threads: usize, work: &Work<'_>) -> Result<()> {
        let stopped = |n: usize, stop: &Stop| {
            if self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 3 < 2 {
                stop.request();
            }
            work(n, stop)
        };
        loop {
            let stop = Stop::default();
            let ends: Vec<_> = (0..threads).map(|n| stopped(n, &stop)).collect();
            if !ends.contains(&Err(Error::Stopped)) {
                return ends.into_iter().collect();
            }
        }
    }
}

/// Sentence `n` of a small world.
fn sentence(n: u64) -> String {
    let word = |k: u64| -> String {
        let number = mix(n * 100 + k);
        (0..2 + number % 7).map(|i| char::from(b'a' + (mix(number ^ i) % 26) as u8)).collect()
    };
    let words: Vec<String> = (0..2 + mix(n) % 12).map(word).collect();
    // A small letter would say that the full stop ends an abbreviation.
    format!("The {}. ", words.join(" "))
}

fn text(sentences: &[u64]) -> String {
    sentences.iter().map(|&n| if n == 0 { "\n\n".to_owned() } else { sentence(n) }).collect()
}

fn read(texts: &[String], right_from: Option<usize>, threads: usize) -> Distinct {
    let mut collectors: Vec<_> = (0..threads).map(|_| TextCollector::default()).collect();
    for (row, text) in texts.iter().enumerate() {
        collectors[row % threads].add(row as u32, text).unwrap();
    }
    distinct(collectors, right_from.map(|row| row as u32), &PlainThreads(threads)).unwrap()
}

type Found = Vec<(u32, u32, u64)>;

#[derive(Debug)]
struct Case {
    signatures: sentence::Parameters,
    rules: StopRules,
    parameters: Parameters,
    thresholds: Thresholds,
}

fn join(
    case: &Case,
    texts: &[String],
    right_from: Option<usize>,
    sites: Option<&[u32]>,
    workers: &dyn Workers,
    budget: usize,
) -> Found {
    let distinct = read(texts, right_from, workers.count());
    let files: &dyn TempFiles = if budget == usize::MAX { &NoFiles } else { &FilesInMemory };
    let signing = Signing::new(&distinct, case.signatures, case.rules, sites, files, budget).unwrap();
    let (lists, _) = signing.finish(workers).unwrap();
    let first = |text: usize| distinct.left.rows(text)[0];
    let ranks = (0..distinct.left.len()).map(first).collect();
    let mut pairs = sentence_pairs(distinct, lists, ranks, case.parameters, case.thresholds).unwrap();
    let mut found = Vec::new();
    while let Some(pair) = pairs.next(workers).unwrap() {
        let (left, right) = match right_from {
            Some(_) => (pair.left, pair.right),
            None => (pair.left.min(pair.right), pair.left.max(pair.right)),
        };
        found.push((left, right, pair.similarity.to_bits()));
    }
    found.sort_unstable();
    found
}

/// All pairs of rows, by the definition.
fn all_pairs(case: &Case, texts: &[String], right_from: Option<usize>, sites: Option<&[u32]>) -> Found {
    let stop = Stop::default();
    let mut signatures = Signatures::new(case.signatures).unwrap();
    let mut of: Vec<HashSet<u128>> =
        texts.iter().map(|text| signatures.of(text, &stop).unwrap().iter().copied().collect()).collect();
    let all: HashSet<u128> = of.iter().flatten().copied().collect();
    for signature in all {
        let rows: Vec<usize> = (0..texts.len()).filter(|&row| of[row].contains(&signature)).collect();
        let of_one_site = |site: u32| rows.iter().filter(|&&row| sites.unwrap()[row] == site).count();
        let many = rows.len() as u64;
        let is_stop = many > case.rules.most_documents
            || sites.is_some()
                && many > case.rules.most_of_a_site
                && (0..9).any(|site| 2 * of_one_site(site) > rows.len());
        if is_stop {
            rows.iter().for_each(|&row| assert!(of[row].remove(&signature)));
        }
    }
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut found = Vec::new();
    for a in 0..texts.len() {
        for b in 0..texts.len() {
            let together = match right_from {
                Some(from) => a < from && from <= b,
                None => a < b,
            };
            if !together {
                continue;
            }
            let (x, y) = (plain(&texts[a]), plain(&texts[b]));
            if x.is_empty() || y.is_empty() || (of[a].is_disjoint(&of[b]) && x != y) {
                continue;
            }
            let similarity = |x: &str, y: &str| {
                let mut comparer = Comparer::new(case.parameters).unwrap();
                let found = comparer.compare(x, y, None, &stop).unwrap().unwrap();
                let passes = case.thresholds.pass(found.shared, found.left, found.right);
                passes.then(|| found.resemblance().to_bits())
            };
            if let Some(similarity) = similarity(&texts[a], &texts[b]) {
                found.push((a as u32, b as u32, similarity));
            }
        }
    }
    found.sort_unstable();
    found
}

fn cases() -> impl Strategy<Value = Case> {
    let thresholds = (1..=10u32, prop::option::of(1..=10u32));
    let signatures = (1..8u32, 1..=16u32, prop_oneof![Just(1u32), Just(3u32)]);
    let rules = (2..30u64, 1..6u64);
    (signatures, rules, thresholds, any::<bool>(), prop_oneof![Just(0u32), Just(8), Just(16)]).prop_map(
        |((parts, kinds, smallest), (most_documents, most_of_a_site), (t, c), trustable, window)| Case {
            signatures: sentence::Parameters { parts, kinds, smallest, wider_than: 16 },
            rules: StopRules { most_documents, most_of_a_site },
            parameters: Parameters { trustable, window, ..Parameters::default() },
            thresholds: Thresholds {
                resemblance: f64::from(t) / 10.0,
                containment: c.map(|c| f64::from(c) / 10.0),
            },
        },
    )
}

/// The pairs alone: which of two equally long texts is taken for A is not said.
fn pairs(found: &Found) -> Vec<(u32, u32)> {
    found.iter().map(|&(a, b, _)| (a, b)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn equals_all_pairs(
        case in cases(),
        documents in prop::collection::vec(prop::collection::vec(0..24u64, 0..9), 0..30),
        right in prop::option::of(0..30usize),
        with_sites in any::<bool>(),
    ) {
        let texts: Vec<String> = documents.iter().map(|sentences| text(sentences)).collect();
        let right = right.map(|row| row.min(texts.len()));
        let sites: Vec<u32> = (0..texts.len() as u64).map(|row| mix(row) as u32 % 3).collect();
        let sites = with_sites.then_some(&sites[..]);
        let expected = all_pairs(&case, &texts, right, sites);
        let found = join(&case, &texts, right, sites, &PlainThreads(1), usize::MAX);
        prop_assert_eq!(pairs(&found), pairs(&expected));
        for (one, other) in found.iter().zip(&expected).filter(|(one, other)| one != other) {
            // Which of two texts of one length is A goes by the first row of each text.
            let repeats = |row: u32| texts.iter().filter(|text| **text == texts[row as usize]).count() > 1;
            prop_assert!(repeats(one.0) || repeats(one.1), "{one:?} {other:?}");
        }
        for workers in [&PlainThreads(3) as &dyn Workers, &Interrupted(Default::default())] {
            prop_assert_eq!(&join(&case, &texts, right, sites, workers, 1), &found);
        }
    }
}

/// Every candidate is in a perhaps-similar set, and the sets hold no document that shares nothing.
#[test]
fn sets_hold_the_candidates() {
    let texts: Vec<String> = (0..200u64).map(|n| text(&[mix(n) % 60 + 1, mix(n * 7) % 60 + 1])).collect();
    let distinct = read(&texts, None, 1);
    let (signatures, rules) = (sentence::Parameters::default(), StopRules::default());
    let signing = Signing::new(&distinct, signatures, rules, None, &NoFiles, usize::MAX).unwrap();
    let (lists, _) = signing.finish(&PlainThreads(1)).unwrap();
    let arrival: Vec<u32> =
        (0..distinct.texts.len() as u32).map(|n| distinct.left.rows(n as usize)[0]).collect();
    let sets = signature_sets(&lists, lists.weights(), &arrival, &Stop::default()).unwrap();
    assert!(sets.len() > 1);
    for list in 0..lists.len() {
        let holds = |documents: &[u32]| lists.documents(list).iter().all(|d| documents.contains(d));
        assert!(sets.iter().any(|set| holds(&set.documents)));
    }
    for set in &sets {
        assert!(set.documents.contains(&set.representative) && set.documents.len() > 1);
        assert!(set.documents.iter().all(|&document| !lists.of(document).is_empty()));
    }
}
