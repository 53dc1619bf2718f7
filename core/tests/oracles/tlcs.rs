//! The join by sentence signatures against its specification: all pairs, signatures compared, texts
//! compared.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use neardup_core::executor::{Executor, PlainThreads, Stop};
use neardup_core::hash::mix;
use neardup_core::joins::sentences::lister::StopRules;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::{Grouping, Method, tlcs::Tlcs};
use neardup_core::sketches::sentence::{self, SentenceSigner};
use neardup_core::storage::files::{MemoryFiles, NoFiles, Resources, TempFiles};
use neardup_core::text::words::words;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;
use neardup_core::verify::tlcs::{Comparer, Parameters, Thresholds};
use proptest::prelude::*;

use crate::common::cases;
use crate::common::run::{ENOUGH, Found, Interrupted, find};

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

/// A text of sentences by their numbers.
pub fn text(sentences: &[u64]) -> String {
    sentences.iter().map(|&n| if n == 0 { "\n\n".to_owned() } else { sentence(n) }).collect()
}

fn join(
    case: &Tlcs,
    texts: &[String],
    right_from: Option<usize>,
    sites: Option<&[u32]>,
    executor: &dyn Executor,
    budget: usize,
) -> Found {
    let mut corpus = Corpus::of_texts(texts).split(right_from);
    if let Some(sites) = sites {
        let sites: Vec<_> = sites.iter().map(|site| Some(site.to_string())).collect();
        corpus = corpus.with_sites(&sites).unwrap();
    }
    find(case, corpus, executor, budget).0
}

/// All pairs of rows, by the definition.
fn all_pairs(case: &Tlcs, texts: &[String], right_from: Option<usize>, sites: Option<&[u32]>) -> Found {
    let stop = Stop::default();
    let mut signatures = SentenceSigner::new(case.signatures).unwrap();
    let mut of: Vec<HashSet<u128>> = texts
        .iter()
        .map(|text| signatures.signatures(text, &stop).unwrap().iter().copied().collect())
        .collect();
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
            if let Some(similarity) = similarity(case, &texts[a], &texts[b]) {
                found.push((a as u32, b as u32, similarity));
            }
        }
    }
    found.sort_unstable();
    found
}

/// The similarity of two texts if they are a pair.
fn similarity(case: &Tlcs, x: &str, y: &str) -> Option<u64> {
    if let Some(predicate) = case.words {
        let counted = |text: &str| {
            let mut counts: HashMap<String, u32> = HashMap::new();
            words(text).into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
            counts
        };
        let (x, y) = (counted(x), counted(y));
        let shared = x.iter().map(|(word, count)| count.min(y.get(word).unwrap_or(&0))).sum();
        let [left, right] = [&x, &y].map(|counts| counts.values().sum());
        let passes = predicate.passes(shared, left, right);
        return passes.then(|| predicate.similarity(shared, left, right).to_bits());
    }
    let mut comparer = Comparer::new(case.parameters).unwrap();
    let found = comparer.compare(x, y, None, &Stop::default()).unwrap().unwrap();
    let passes = case.thresholds.pass(found.shared, found.left, found.right);
    passes.then(|| found.resemblance().to_bits())
}

fn cases() -> impl Strategy<Value = Tlcs> {
    let thresholds = (1..=10u32, prop::option::of(1..=10u32));
    let signatures = (1..8u32, 1..=16u32, prop_oneof![Just(1u32), Just(3u32)]);
    let rules = (2..30u64, 1..6u64);
    let measures =
        prop::sample::select(vec![Measure::Jaccard, Measure::Cosine, Measure::Dice, Measure::Overlap]);
    let words = prop::option::weighted(0.3, (measures, 1..=10u32)).prop_map(|words| {
        words.map(|(measure, tenths)| Predicate::new(measure, f64::from(tenths) / 10.0).unwrap())
    });
    let compared = (any::<bool>(), prop_oneof![Just(0u32), Just(8), Just(16)], words);
    (signatures, rules, thresholds, compared).prop_map(
        |((parts, kinds, smallest), (most_documents, most_of_a_site), (t, c), (trustable, window, words))| {
            Tlcs {
                signatures: sentence::SignatureParameters {
                    parts,
                    kinds,
                    smallest,
                    ..sentence::SignatureParameters::default()
                },
                rules: StopRules { most_documents, most_of_a_site, tried_beyond: None },
                parameters: Parameters { trustable, window, ..Parameters::default() },
                thresholds: Thresholds {
                    resemblance: f64::from(t) / 10.0,
                    containment: c.map(|c| f64::from(c) / 10.0),
                },
                weight: None,
                words,
                whole_sets: false,
            }
        },
    )
}

/// The pairs alone: which of two equally long texts is taken for A is not said.
fn pairs(found: &Found) -> Vec<(u32, u32)> {
    found.iter().map(|&(a, b, _)| (a, b)).collect()
}

proptest! {
    #![proptest_config(cases::cases(120))]

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
        let found = join(&case, &texts, right, sites, &PlainThreads(1), ENOUGH);
        prop_assert_eq!(pairs(&found), pairs(&expected));
        for (one, other) in found.iter().zip(&expected).filter(|(one, other)| one != other) {
            // Which of two texts of one length is A goes by the first row of each text.
            let repeats = |row: u32| texts.iter().filter(|text| **text == texts[row as usize]).count() > 1;
            prop_assert!(repeats(one.0) || repeats(one.1), "{one:?} {other:?}");
        }
        for executor in [&PlainThreads(3) as &dyn Executor, &Interrupted::default()] {
            // Texts are in files, a few or a pair of them in memory at a time.
            for budget in [1, 1 << 14] {
                prop_assert_eq!(&join(&case, &texts, right, sites, executor, budget), &found);
            }
        }
    }
}

/// The signatures of each text that are not stop signatures, without sites.
fn kept_signatures(case: &Tlcs, texts: &[String]) -> Vec<HashSet<u128>> {
    let mut signer = SentenceSigner::new(case.signatures).unwrap();
    let mut signed =
        |text: &String| signer.signatures(text, &Stop::default()).unwrap().iter().copied().collect();
    let mut of: Vec<HashSet<u128>> = texts.iter().map(&mut signed).collect();
    let all: Vec<u128> = of.iter().flatten().copied().collect();
    let mut rows: HashMap<u128, u64> = HashMap::new();
    all.iter().for_each(|&signature| *rows.entry(signature).or_default() += 1);
    of.iter_mut().for_each(|own| own.retain(|signature| rows[signature] <= case.rules.most_documents));
    of
}

/// Representative, member and the similarity of both where they are a pair.
type Membership = (u32, u32, Option<u64>);

/// The sets of rows by the steps of docs/design/algorithms.md section 5, literally.
fn stepwise_sets(case: &Tlcs, texts: &[String], weights: Option<&[i64]>) -> Vec<Membership> {
    let pairs: HashMap<(u32, u32), u64> = all_pairs(case, texts, None, None)
        .into_iter()
        .map(|(a, b, similarity)| ((a, b), similarity))
        .collect();
    let mut found = Vec::new();
    for (representative, set) in steps(case, texts, None, weights) {
        let representative = representative as u32;
        for row in set.into_iter().map(|row| row as u32) {
            let similarity = match row == representative {
                true => Some(1f64.to_bits()),
                false => pairs.get(&(row.min(representative), row.max(representative))).copied(),
            };
            found.push((representative, row, similarity));
        }
    }
    found.sort_unstable();
    found
}

/// The representative and the rows of each set. With two tables a list has rows of both.
fn steps(
    case: &Tlcs,
    texts: &[String],
    right_from: Option<usize>,
    weights: Option<&[i64]>,
) -> Vec<(usize, BTreeSet<usize>)> {
    let of = kept_signatures(case, texts);
    let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    // Texts that are equal up to white space are a list, too.
    let mut lists: HashMap<(u128, String), BTreeSet<usize>> = HashMap::new();
    for (row, own) in of.iter().enumerate() {
        own.iter().for_each(|&signature| {
            lists.entry((signature, String::new())).or_default().insert(row);
        });
        let whole = plain(&texts[row]);
        if !whole.is_empty() {
            lists.entry((0, whole)).or_default().insert(row);
        }
    }
    let weight = |row: usize| weights.map_or(of[row].len() as i64, |weights| weights[row]);
    let is_of_both = |list: &BTreeSet<usize>| {
        right_from
            .is_none_or(|from| list.iter().any(|&row| row < from) && list.iter().any(|&row| row >= from))
    };
    let lists = lists.into_values().filter(|list| list.len() > 1 && is_of_both(list));
    let mut merged: BTreeMap<(i64, usize), BTreeSet<usize>> = BTreeMap::new();
    for list in lists {
        let key = list.iter().map(|&row| (weight(row), row)).max().unwrap();
        merged.entry(key).or_default().extend(list);
    }
    let mut rest: Vec<(usize, BTreeSet<usize>)> =
        merged.into_iter().rev().map(|((_, row), set)| (row, set)).collect();
    let mut sets = Vec::new();
    while !rest.is_empty() {
        let (representative, mut set) = rest.remove(0);
        while let Some(n) = rest.iter().position(|(other, _)| set.contains(other)) {
            set.extend(rest.remove(n).1);
        }
        sets.push((representative, set));
    }
    sets
}

fn sets(
    case: &Tlcs,
    texts: &[String],
    weights: Option<&[i64]>,
    executor: &dyn Executor,
    budget: usize,
) -> Vec<Membership> {
    let files: &dyn TempFiles = if budget == ENOUGH { &NoFiles } else { &MemoryFiles };
    let mut corpus = Corpus::of_texts(texts);
    if let Some(weights) = weights {
        corpus = corpus.with_weights(weights.to_vec());
    }
    let mut quiet = Quiet;
    let mut reading = Reading::new(&mut corpus, &mut quiet, Resources { files, budget, executor });
    let grouping: &dyn Grouping = case.grouping().expect("a method with signatures of its own");
    let sets = grouping.sets(&mut reading).unwrap();
    let clusters = sets.clusters(executor).unwrap();
    let mut found = Vec::new();
    for cluster in clusters.iter() {
        assert_eq!(cluster.id, cluster.representative);
        for (&member, &similarity) in cluster.members.iter().zip(cluster.similarity) {
            found.push((cluster.id, member, (!similarity.is_nan()).then(|| similarity.to_bits())));
        }
    }
    found.sort_unstable();
    found
}

proptest! {
    #![proptest_config(cases::cases(120))]

    #[test]
    fn perhaps_similar_sets_equal_the_steps(
        case in cases(),
        documents in prop::collection::vec(prop::collection::vec(0..24u64, 0..9), 0..30),
        weights in prop::option::of(prop::collection::vec(0..4i64, 30)),
    ) {
        let texts: Vec<String> = documents.iter().map(|sentences| text(sentences)).collect();
        let weights = weights.as_deref().map(|weights| &weights[..texts.len()]);
        let expected = stepwise_sets(&case, &texts, weights);
        let found = sets(&case, &texts, weights, &PlainThreads(1), ENOUGH);
        let plain = |found: &[Membership]| -> Vec<_> { found.iter().map(|&(r, m, s)| (r, m, s.is_some())).collect() };
        prop_assert_eq!(plain(&found), plain(&expected));
        for (one, other) in found.iter().zip(&expected).filter(|(one, other)| one != other) {
            // Which of two texts of one length is A goes by the first row of each text.
            let repeats = |row: u32| texts.iter().filter(|text| **text == texts[row as usize]).count() > 1;
            prop_assert!(repeats(one.0) || repeats(one.1), "{one:?} {other:?}");
        }
        // Every pair is in a set.
        for (a, b, _) in all_pairs(&case, &texts, None, None) {
            let holds = |row| found.iter().filter(move |&&(_, member, _)| member == row).map(|&(r, ..)| r);
            prop_assert!(holds(a).any(|r| holds(b).any(|other| r == other)), "{a} {b}");
        }
        for executor in [&PlainThreads(3) as &dyn Executor, &Interrupted::default()] {
            prop_assert_eq!(&sets(&case, &texts, weights, executor, 1), &found);
        }
    }
}

proptest! {
    #![proptest_config(cases::cases(120))]

    #[test]
    fn whole_sets_are_compared(
        case in cases(),
        documents in prop::collection::vec(prop::collection::vec(0..24u64, 0..9), 0..30),
        right in prop::option::of(0..30usize),
    ) {
        let texts: Vec<String> = documents.iter().map(|sentences| text(sentences)).collect();
        let right = right.map(|row| row.min(texts.len()));
        let mut expected = BTreeSet::new();
        for (_, set) in steps(&case, &texts, right, None) {
            for (&a, &b) in set.iter().flat_map(|a| set.iter().map(move |b| (a, b))) {
                let together = right.map_or(a < b, |from| a < from && from <= b);
                if together && similarity(&case, &texts[a], &texts[b]).is_some() {
                    expected.insert((a as u32, b as u32));
                }
            }
        }
        let expected: Vec<_> = expected.into_iter().collect();
        let shared = pairs(&join(&case, &texts, right, None, &PlainThreads(1), ENOUGH));
        let case = Tlcs { whole_sets: true, ..case };
        let found = join(&case, &texts, right, None, &PlainThreads(1), ENOUGH);
        prop_assert_eq!(&pairs(&found), &expected);
        prop_assert!(shared.iter().all(|pair| expected.contains(pair)));
        for executor in [&PlainThreads(3) as &dyn Executor, &Interrupted::default()] {
            prop_assert_eq!(&join(&case, &texts, right, None, executor, 1), &found);
        }
    }
}
