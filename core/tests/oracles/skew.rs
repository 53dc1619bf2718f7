//! Where documents have a template in common minhash hands over to the exact join: it finds the
//! same pairs and none too few, and what is looked at does not grow as the pairs of all documents
//! do.

use neardup_core::executor::PlainThreads;
use neardup_core::features::FeatureSpec;
use neardup_core::hash::mix;
use neardup_core::joins::sketches::banding::Banding;
use neardup_core::joins::sketches::combination::{Safeguards, TechniqueSpec};
use neardup_core::methods::account::Account;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::sketches::Sketches;
use neardup_core::verify::measure::Measure;

use crate::common::pages::pages;
use crate::common::run::{ENOUGH, Found, find};

const SETS: FeatureSpec = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };

fn minhash(feature: FeatureSpec, threshold: f64, hand_over: bool) -> Sketches {
    let plan = Banding::for_recall(threshold, 0.95).unwrap();
    let spec = TechniqueSpec::Minhash { feature, plan, seed: 1, threshold, verify: true };
    let mut method = Sketches::by_technique(spec);
    method.combination.most = Some(10_000);
    method.safeguards = Safeguards { sample: 100, hand_over };
    method
}

fn exact(feature: FeatureSpec, threshold: f64, corpus: Corpus<'_>) -> Found {
    let method = Sets { spec: feature, ..Sets::of_words(Measure::Jaccard, threshold).unwrap() };
    find(&method, corpus, &PlainThreads(2), ENOUGH).0
}

/// What bands or the exact join looked at.
fn work(account: &Account) -> u64 {
    account.counts.candidates + account.counts.pruned_by_bitmap + account.counts.pruned_by_size
}

/// Sets of 40 of which 36 are a template; every tenth has 39 in common with the one before.
fn template(count: u64) -> Vec<Vec<i64>> {
    (0..count)
        .map(|row| {
            let of = |n: u64| if row % 10 == 9 && n < 39 { row - 1 } else { row };
            (0..40).map(|n| (mix(if n < 36 { n } else { (of(n) + 1) << 8 | n }) >> 2) as i64).collect()
        })
        .collect()
}

#[test]
fn a_template_is_handed_over() {
    let mut before = None;
    for count in [1000, 2000] {
        let sets = template(count);
        for right_from in [None, Some(count as usize / 2)] {
            let corpus = || Corpus::of_sets(&sets).split(right_from);
            let (found, account) = find(&minhash(SETS, 0.9, true), corpus(), &PlainThreads(2), ENOUGH);
            assert!(account.handed_over, "{count} {right_from:?}");
            assert_eq!((account.measured_recall, account.documents), (Some(1.0), count));
            let all = exact(SETS, 0.9, corpus());
            assert!(!all.is_empty() || right_from.is_some());
            assert_eq!(found, all);
            // Twice as many documents are at most about twice the work.
            if right_from.is_none() {
                let least = before.get_or_insert(work(&account));
                assert!(work(&account) <= 3 * *least, "{} after {least}", work(&account));
            }
            // In files it is the same.
            let (small, account) = find(&minhash(SETS, 0.9, true), corpus(), &PlainThreads(3), 64 << 10);
            assert!(account.handed_over && small == all, "{count} {right_from:?}");
            let (bands, account) = find(&minhash(SETS, 0.9, false), corpus(), &PlainThreads(2), ENOUGH);
            assert!(!account.handed_over);
            assert!(bands.iter().all(|pair| all.contains(pair)));
        }
    }
}

/// Short records of a small vocabulary, such as names with addresses.
#[test]
fn short_records_are_handed_over() {
    let word = |n: u64, all: u64| {
        // Few are frequent, as words are.
        let chance = (mix(n) % 1_000_000 + 1) as f64 / 1e6;
        (all as f64).powf(chance * chance) as u64
    };
    let texts: Vec<String> = (0..30_000u64)
        .map(|row| {
            let of = if row % 8 == 7 { row - 1 } else { row };
            let parts = [(0, 3000), (1, 50_000), (2, 900), (3, 200), (4, 40)];
            let mut text: String =
                parts.iter().map(|&(n, all)| format!("p{n}w{} ", word(of << 8 | n, all))).collect();
            text.push_str(&format!("h{}", mix(row) % 200));
            text
        })
        .collect();
    let corpus = || Corpus::of_texts(&texts);
    let (found, account) = find(&minhash(SETS, 0.8, true), corpus(), &PlainThreads(2), ENOUGH);
    assert!(account.handed_over);
    assert_eq!(found, exact(SETS, 0.8, corpus()));
}

/// Pages with a frame of every size: all pairs of the exact join where it took over, and as many as
/// are promised else.
#[test]
fn frames_of_every_size() {
    for frame in [0, 10, 30, 50, 70, 90] {
        let texts = pages(1500, 60, frame);
        for (threshold, shingle) in [(0.8, 1), (0.8, 3), (0.95, 1)] {
            let feature = FeatureSpec { shingle, ..SETS };
            let method = minhash(feature, threshold, true);
            let (found, account) = find(&method, Corpus::of_texts(&texts), &PlainThreads(2), ENOUGH);
            let all = exact(feature, threshold, Corpus::of_texts(&texts));
            if account.handed_over {
                assert_eq!(found, all, "{frame} {threshold} {shingle}");
            } else {
                let found = found.len() as f64;
                assert!(found >= 0.93 * all.len() as f64, "{frame} {threshold}: {found} of {}", all.len());
                let most = 40 * texts.len() as u64 + 4 * all.len() as u64;
                assert!(work(&account) < most, "{frame} {threshold} {shingle}: {}", work(&account));
            }
        }
    }
}

/// Of long documents few are looked at, and of one that is longer than what is looked at in all,
/// none.
#[test]
fn long_documents_are_handed_over() {
    let number = |n: u64| (mix(n) >> 2).cast_signed();
    let mut sets: Vec<Vec<i64>> = (0..300u64)
        .map(|row| {
            let of = |n: u64| if row % 3 == 2 && n < 1960 { row - 1 } else { row };
            (0..2000).map(|n| number(if n < 1850 { n } else { (of(n) + 1) << 20 | n })).collect()
        })
        .collect();
    sets.insert(7, (0..300_000).map(|n| number(1 << 40 | n)).collect());
    let (found, account) = find(&minhash(SETS, 0.9, true), Corpus::of_sets(&sets), &PlainThreads(2), ENOUGH);
    assert!(account.handed_over);
    let all = exact(SETS, 0.9, Corpus::of_sets(&sets));
    assert!(all.len() >= 100, "{}", all.len());
    assert_eq!(found, all);
    // The recall of the bands is measured by some of them.
    let bands = minhash(SETS, 0.9, false);
    let (found, account) = find(&bands, Corpus::of_sets(&sets), &PlainThreads(2), ENOUGH);
    let truth = found.len() as f64 / all.len() as f64;
    let measured = account.measured_recall.unwrap();
    assert!(account.measured_by > 0 && (measured - truth).abs() < 0.1, "{measured}, in truth {truth}");
}
