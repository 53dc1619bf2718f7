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
use neardup_core::verify::tlcs::{Comparer, Parameters, Thresholds};
use proptest::prelude::*;

use crate::common::run::{ENOUGH, Found, Interrupted, find};
use crate::common::{cases, pages};

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

fn cases() -> impl Strategy<Value = Tlcs> {
    let thresholds = (1..=10u32, prop::option::of(1..=10u32));
    let signatures = (1..8u32, 1..=16u32, prop_oneof![Just(1u32), Just(3u32)]);
    let rules = (2..30u64, 1..6u64);
    (signatures, rules, thresholds, any::<bool>(), prop_oneof![Just(0u32), Just(8), Just(16)]).prop_map(
        |((parts, kinds, smallest), (most_documents, most_of_a_site), (t, c), trustable, window)| Tlcs {
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
    let lists = lists.into_values().filter(|list| list.len() > 1);
    let mut merged: BTreeMap<(i64, usize), BTreeSet<usize>> = BTreeMap::new();
    for list in lists {
        let key = list.iter().map(|&row| (weight(row), row)).max().unwrap();
        merged.entry(key).or_default().extend(list);
    }
    let mut rest: Vec<(usize, BTreeSet<usize>)> =
        merged.into_iter().rev().map(|((_, row), set)| (row, set)).collect();
    let pairs: HashMap<(u32, u32), u64> = all_pairs(case, texts, None, None)
        .into_iter()
        .map(|(a, b, similarity)| ((a, b), similarity))
        .collect();
    let mut found = Vec::new();
    while !rest.is_empty() {
        let (representative, mut set) = rest.remove(0);
        while let Some(n) = rest.iter().position(|(other, _)| set.contains(other)) {
            set.extend(rest.remove(n).1);
        }
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

/// Pages with a frame in common are candidates; nothing of the frame is trustable and touches the
/// centre, which is known before the texts are aligned.
#[test]
fn pages_of_one_site_are_hardly_aligned() {
    let texts = pages::pages(200, 300, 33);
    let case = Tlcs {
        signatures: sentence::SignatureParameters { smallest: 1, ..sentence::SignatureParameters::default() },
        rules: StopRules::default(),
        parameters: Parameters::default(),
        thresholds: Thresholds { resemblance: 0.28, containment: Some(0.7) },
        weight: None,
    };
    let (found, account) = find(&case, Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
    let planted: BTreeSet<(u32, u32)> = (4..200).step_by(5).map(|page| (page - 1, page)).collect();
    assert_eq!(found.iter().map(|&(a, b, _)| (a, b)).collect::<BTreeSet<_>>(), planted);
    let counts = account.counts;
    assert!(counts.candidates > 10_000, "{counts:?}");
    assert!(counts.verified < counts.candidates / 20, "{counts:?}");
    assert_eq!(counts.verified + counts.pruned_by_sketch, counts.candidates);
}

/// A method that tries signatures of more than so many documents.
fn trying(tried_beyond: Option<u64>) -> Tlcs {
    Tlcs {
        signatures: sentence::SignatureParameters::default(),
        rules: StopRules { tried_beyond, ..StopRules::default() },
        parameters: Parameters::default(),
        thresholds: Thresholds { resemblance: 0.28, containment: Some(0.7) },
        weight: None,
    }
}

/// Signatures of a frame are dropped, and no near pair with them.
#[test]
fn frames_are_dropped_and_near_duplicates_stay() {
    for frame in [0, 10, 33, 50, 70] {
        let texts = pages::pages(600, 300, frame);
        let run = |case: &Tlcs| find(case, Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
        let (all, before) = run(&trying(None));
        let (found, account) = run(&trying(Some(64)));
        assert_eq!(found, all, "{frame}");
        let (in_files, counted) =
            find(&trying(Some(64)), Corpus::of_texts(&texts), &PlainThreads(2), 1 << 16);
        assert_eq!((in_files, counted.counts), (found, account.counts), "{frame}");
        assert!(account.counts.candidates <= before.counts.candidates);
        if frame == 33 {
            assert!(account.counts.stop_signatures > 0, "{:?}", account.counts);
            assert!(account.counts.candidates < before.counts.candidates, "{:?}", account.counts);
        }
    }
}

/// Four times as many pages of one site are no more than six times the work.
#[test]
fn work_grows_with_the_pages() {
    for frame in [10, 33, 70] {
        let [few, many] = [500, 2000].map(|count| {
            let texts = pages::pages(count, 300, frame);
            let (found, account) =
                find(&trying(Some(64)), Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
            assert!(found.len() as u64 >= count / 5 - 1);
            account.counts
        });
        assert!(many.candidates <= 6 * few.candidates, "{frame}: {few:?} {many:?}");
        assert!(many.verified <= 6 * few.verified, "{frame}: {few:?} {many:?}");
    }
}

/// Versions of one page, in one frame with others.
#[test]
fn versions_of_a_page_are_no_frame() {
    let texts: Vec<String> = (0..400u64)
        .map(|row| {
            let of = if row % 2 == 0 { row } else { 0 };
            let own =
                (0..20).map(|n| if row % 20 == n && row % 2 == 1 { row << 8 } else { (of + 1) << 20 | n });
            let own: Vec<u64> = (900..905).chain(own).chain(905..910).collect();
            text(&own)
        })
        .collect();
    let (all, _) = find(&trying(None), Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
    let (found, _) = find(&trying(Some(8)), Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
    assert!(all.len() >= 20_000, "{}", all.len());
    assert_eq!(found, all);
}

/// What is dropped depends on the texts and not on where they stand, how many threads there are, or
/// the memory.
#[test]
fn trials_do_not_depend_on_the_order() {
    let texts = pages::pages(300, 300, 33);
    let case = trying(Some(10));
    let (found, account) = find(&case, Corpus::of_texts(&texts), &PlainThreads(1), ENOUGH);
    assert!(account.counts.stop_signatures > 0 && !found.is_empty());
    let turned: Vec<String> = texts.iter().rev().cloned().collect();
    for executor in [&PlainThreads(3) as &dyn Executor, &Interrupted::default()] {
        for budget in [ENOUGH, 1 << 16] {
            let (again, counts) = find(&case, Corpus::of_texts(&texts), executor, budget);
            assert!(again == found && counts.counts.stop_signatures == account.counts.stop_signatures);
            let (other, counts) = find(&case, Corpus::of_texts(&turned), executor, budget);
            let mut other: Vec<_> = other.iter().map(|&(a, b, s)| (299 - b, 299 - a, s)).collect();
            other.sort_unstable();
            assert!(other == found && counts.counts.stop_signatures == account.counts.stop_signatures);
        }
    }
    for right_from in [100, 150] {
        let run = |case: &Tlcs| {
            find(case, Corpus::of_texts(&texts).split(Some(right_from)), &PlainThreads(2), ENOUGH).0
        };
        assert_eq!(run(&case), run(&trying(None)));
    }
    let sites: Vec<_> = (0..300).map(|row| Some((row / 100).to_string())).collect();
    let corpus = || Corpus::of_texts(&texts).with_sites(&sites).unwrap();
    let (of_sites, counts) = find(&case, corpus(), &PlainThreads(2), ENOUGH);
    assert!(of_sites == found && counts.counts.stop_signatures >= account.counts.stop_signatures);
}
