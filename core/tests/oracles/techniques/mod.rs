//! Techniques and their combinations against naive implementations: of the sketches by their
//! definitions, and of the search by comparing all pairs; on random texts, and on the corpora of
//! NEARDUP_DATA where these are.

mod corpora;
mod naive;

use std::collections::{BTreeMap, BTreeSet};

use neardup_core::executor::PlainThreads;
use neardup_core::features::FeatureSpec;
use neardup_core::hash::{hash_bytes, hash_sequence, mix};
use neardup_core::joins::sketches::banding::Banding;
use neardup_core::joins::sketches::combination::{Combination, Safeguards, TechniqueSpec};
use neardup_core::joins::sketches::rule::Rule;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::sketches::Sketches;
use neardup_core::text::words::words;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;
use proptest::prelude::*;

use crate::common::{cases, run};
use naive::{agreeing, minhash, naive, shingles, simhash};

type Found = BTreeMap<(u32, u32), f64>;

/// How a combination is run.
#[derive(Debug, Clone, Copy)]
struct Run {
    threads: usize,
    right_from: Option<u32>,
    budget: usize,
}

const PLAIN: Run = Run { threads: 4, right_from: None, budget: run::ENOUGH };

/// The pairs that the code under test finds.
fn find(combination: &Combination, texts: &[String], sites: Option<&[u32]>, run: Run) -> Found {
    let method = Sketches {
        combination: combination.clone(),
        sites: sites.is_some(),
        safeguards: Safeguards::default(),
    };
    let mut corpus = Corpus::of_texts(texts).split(run.right_from.map(|row| row as usize));
    if let Some(sites) = sites {
        let known = |&site: &u32| (site != u32::MAX).then(|| site.to_string());
        corpus = corpus.with_sites(&sites.iter().map(known).collect::<Vec<_>>()).unwrap();
    }
    let (found, _) = run::find(&method, corpus, &PlainThreads(run.threads), run.budget);
    found.into_iter().map(|(left, right, similarity)| ((left, right), f64::from_bits(similarity))).collect()
}

fn words_of(shingle: usize, wrap: bool) -> FeatureSpec {
    FeatureSpec { shingle, wrap, multiset: false, ..FeatureSpec::WORDS }
}

/// Techniques with parameters at which short random texts are similar now and then.
fn techniques() -> Vec<TechniqueSpec> {
    let cosine = Predicate::new(Measure::Cosine, 0.6).unwrap();
    let shingling = |threshold: f64, wrap, megashingles| TechniqueSpec::Shingling {
        feature: words_of(2, wrap),
        values: 12,
        groups: 6,
        seed: 7,
        threshold,
        megashingles,
    };
    let simhash = |bits, shingle, frequency, threshold| TechniqueSpec::Simhash {
        feature: words_of(shingle, false),
        bits,
        frequency,
        threshold,
    };
    let minhash = |verify| TechniqueSpec::Minhash {
        feature: words_of(2, false),
        plan: Banding { bands: 5, rows: 3 },
        seed: 1,
        threshold: 0.5,
        verify,
    };
    vec![
        shingling(2.0 / 6.0, false, false),
        shingling(2.0 / 6.0, true, true),
        shingling(0.5, false, true),
        shingling(1.0, false, false),
        simhash(64, 1, true, 61.0 / 64.0),
        simhash(384, 1, true, 372.0 / 384.0),
        simhash(64, 2, false, 0.8),
        simhash(128, 1, true, 0.6),
        simhash(1024, 1, false, 0.9),
        minhash(true),
        minhash(false),
        TechniqueSpec::ExactText { clean: true, html: false },
        TechniqueSpec::Sets { feature: words_of(2, false), predicate: cosine },
    ]
}

const SOURCES: usize = 12;

fn rule() -> impl Strategy<Value = Rule> {
    let leaf = (0..SOURCES).prop_map(Rule::Technique);
    leaf.prop_recursive(3, 8, 3, |inner| {
        // Whether minhash finds a pair depends on who asks: as a filter it only compares.
        prop_oneof![
            (prop::collection::vec(inner.clone(), 1..3), prop::bool::ANY).prop_map(|(mut rules, sets)| {
                if sets {
                    rules.push(Rule::Technique(SOURCES));
                }
                Rule::All(rules)
            }),
            prop::collection::vec(inner.clone(), 1..4).prop_map(Rule::Any),
            (prop::option::of(inner.clone()), prop::option::of(inner)).prop_map(|(same, different)| {
                Rule::BySite { at: 0, same: same.map(Box::new), different: different.map(Box::new) }
            }),
        ]
    })
}

fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![Just("a"), Just("b"), Just("c"), Just("字"), Just("long"), Just(" ")];
    let text = prop::collection::vec(word, 0..14).prop_map(|words| words.join(" "));
    // Texts that are near others, and equal ones.
    (prop::collection::vec(text, 0..12), prop::collection::vec((0..100usize, "[ab]? ?"), 0..10)).prop_map(
        |(mut texts, copies)| {
            for (n, more) in copies {
                if let Some(text) = texts.get(n % texts.len().max(1)) {
                    texts.push(format!("{text} {more}"));
                }
            }
            texts
        },
    )
}

proptest! {
    #![proptest_config(cases::cases(300))]

    #[test]
    fn single_techniques_equal_all_pairs(
        texts in texts(),
        technique in 0..SOURCES,
        right in prop::option::of(0..12u32),
        threads in 1..4usize,
        spill in prop::bool::ANY,
    ) {
        let combination =
            Combination { techniques: techniques(), rule: Rule::Technique(technique), most: None };
        let right_from = right.map(|right| right.min(texts.len() as u32));
        let run = Run { threads, right_from, budget: if spill { 64 } else { 1 << 20 } };
        let found = find(&combination, &texts, None, run);
        prop_assert_eq!(found, naive(&combination, &texts, None, right_from));
    }

    #[test]
    fn rules_equal_all_pairs(
        texts in texts(),
        rule in rule(),
        sites in prop::collection::vec(prop_oneof![0..3u32, Just(u32::MAX)], 30),
        right in prop::option::of(0..12u32),
        threads in 1..4usize,
    ) {
        // Minhash is left out: who shares no band is found where another technique makes the
        // candidates.
        let mut techniques = techniques();
        for n in [9, 10] {
            techniques[n] = TechniqueSpec::ExactText { clean: true, html: false };
        }
        let combination = Combination { techniques, rule, most: None };
        let right_from = right.map(|right| right.min(texts.len() as u32));
        let run = Run { threads, right_from, budget: 1 << 20 };
        let sites = &sites[..texts.len()];
        let found = find(&combination, &texts, Some(sites), run);
        prop_assert_eq!(found, naive(&combination, &texts, Some(sites), right_from));
    }
}

/// The share of agreeing bits follows the angle: 1 - θ/π (Charikar 2002; Goemans, Williamson 1995).
#[test]
fn agreeing_bits_follow_the_angle() {
    const BITS: usize = 1024;
    const PAIRS: u64 = 300;
    const TOKENS: u64 = 400;
    for shared in [40, 200, 320, 380, 396] {
        let mut agree = 0;
        for pair in 0..PAIRS {
            let token = |of: u64, n: u64| mix(pair << 32 | of << 20 | n);
            let set = |of: u64| -> Vec<u64> {
                (0..TOKENS).map(|n| token(if n < shared { 0 } else { of }, n)).collect()
            };
            agree += agreeing(&simhash(&set(1), BITS), &simhash(&set(2), BITS));
        }
        let cosine = shared as f64 / TOKENS as f64;
        let expected = 1.0 - cosine.acos() / std::f64::consts::PI;
        let trials = (PAIRS as usize * BITS) as f64;
        // Four standard errors; ties, which give 0, move the share by less than 1/√(π · tokens / 2)
        // of a bit's error.
        let bound = 4.0 * (expected * (1.0 - expected) / trials).sqrt() + 0.004;
        let share = agree as f64 / trials;
        assert!((share - expected).abs() < bound, "{shared}: {share}, expected {expected} ± {bound}");
    }
}

/// The share of agreeing values is the resemblance, with the standard error sqrt(J (1 - J) / m).
#[test]
fn agreeing_values_follow_the_resemblance() {
    const VALUES: u64 = 256;
    const PAIRS: u64 = 300;
    const TOKENS: u64 = 200;
    for shared in [20, 100, 160, 190, 198] {
        let (mut agree, mut squares) = (0.0, 0.0);
        let resemblance = shared as f64 / (2 * TOKENS - shared) as f64;
        for pair in 0..PAIRS {
            let token = |of: u64, n: u64| mix(pair << 32 | of << 20 | n);
            let set = |of: u64| -> Vec<u64> {
                (0..TOKENS).map(|n| token(if n < shared { 0 } else { of }, n)).collect()
            };
            let seed = pair as i64;
            let share = agreeing(&minhash(&set(1), VALUES, seed), &minhash(&set(2), VALUES, seed)) as f64
                / VALUES as f64;
            agree += share;
            squares += (share - resemblance).powi(2);
        }
        let error = (resemblance * (1.0 - resemblance) / VALUES as f64).sqrt();
        let mean = agree / PAIRS as f64;
        assert!((mean - resemblance).abs() < 4.0 * error / (PAIRS as f64).sqrt(), "{shared}: {mean}");
        // The error too is what theory says, within a quarter.
        let measured = (squares / PAIRS as f64).sqrt();
        assert!((measured / error - 1.0).abs() < 0.25, "{shared}: {measured}, expected {error}");
    }
}
