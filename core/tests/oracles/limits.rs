//! What is found where large buckets are cut: whatever is near in some bucket, and what the sample
//! says of it; and the recall at the threshold itself, with and without limits.

use std::collections::BTreeSet;

use neardup_core::executor::PlainThreads;
use neardup_core::features::FeatureSpec;
use neardup_core::joins::sketches::banding::Banding;
use neardup_core::joins::sketches::combination::{Combination, Safeguards, TechniqueSpec};
use neardup_core::joins::sketches::rule::Rule;
use neardup_core::methods::account::Account;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::sketches::Sketches;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;

use crate::common::pages::{pages, sets_at};
use crate::common::run::{ENOUGH, Found, find};

fn words(shingle: usize) -> FeatureSpec {
    FeatureSpec { shingle, multiset: false, ..FeatureSpec::WORDS }
}

fn minhash(feature: FeatureSpec, threshold: f64, recall: f64) -> TechniqueSpec {
    let plan = Banding::for_recall(threshold, recall).unwrap();
    TechniqueSpec::Minhash { feature, plan, seed: 1, threshold, verify: true }
}

fn run(rule: Rule, techniques: &[TechniqueSpec], most: Option<u32>, corpus: Corpus<'_>) -> (Found, Account) {
    let combination = Combination { techniques: techniques.to_vec(), rule, most };
    let method =
        Sketches { combination, sites: false, safeguards: Safeguards { sample: 1000, hand_over: false } };
    find(&method, corpus, &PlainThreads(2), ENOUGH)
}

fn pairs(found: &Found) -> BTreeSet<(u32, u32)> {
    found.iter().map(|&(left, right, _)| (left, right)).collect()
}

/// Of the pairs that the exact join finds the sample shows the share that is found.
#[test]
fn the_measured_recall_knows_the_limits() {
    // The frame alone makes most of them similar.
    let texts = pages(1200, 60, 78);
    let feature = words(1);
    let exact = Sets { spec: feature, ..Sets::of_words(Measure::Jaccard, 0.6).unwrap() };
    for right_from in [None, Some(500)] {
        let corpus = || Corpus::of_texts(&texts).split(right_from);
        let all = find(&exact, corpus(), &PlainThreads(2), ENOUGH).0;
        let mut least = 1f64;
        for most in [None, Some(10_000), Some(400), Some(100), Some(10)] {
            let (found, account) = run(Rule::Technique(0), &[minhash(feature, 0.6, 0.95)], most, corpus());
            assert!(pairs(&found).is_subset(&pairs(&all)));
            let (truth, measured) = (found.len() as f64 / all.len() as f64, account.measured_recall.unwrap());
            assert!((truth - measured).abs() < 0.02, "{most:?}: {measured}, in truth {truth}");
            least = least.min(truth);
            // However many buckets a document is in.
            let counts = account.counts;
            assert!(counts.hot_documents <= 1200, "{counts:?}");
            assert!((counts.hot_buckets > 0) == (counts.hot_documents > most.unwrap_or(1200).into()));
            if most.is_none_or(|most| most > 1200) {
                assert!(truth >= 0.95 && account.counts.hot_buckets == 0, "{truth}");
            }
        }
        assert!(least < 0.95, "some limit loses pairs: {least}");
    }
}

/// Pairs that are just similar enough are found as often as promised.
#[test]
fn the_recall_at_the_threshold() {
    const SEEDS: i64 = 12;
    let feature = words(1);
    for (threshold, frame) in [(0.5, 0), (0.8, 0), (0.8, 60), (0.9, 80)] {
        let sets = sets_at(threshold, 500, 100, frame);
        for most in [None, Some(50)] {
            // Pairs that have a frame in common are found by common chances: so by several seeds.
            let (mut sum, mut hot) = (0.0, 0);
            let mut promised = 0.0;
            for seed in 1..=SEEDS {
                let plan = Banding::for_recall(threshold, 0.95).unwrap();
                let techniques = [TechniqueSpec::Minhash { feature, plan, seed, threshold, verify: true }];
                let (found, account) = run(Rule::Technique(0), &techniques, most, Corpus::of_sets(&sets));
                assert!(found.iter().all(|&(a, b, _)| a % 2 == 0 && b == a + 1));
                let truth = found.len() as f64 / 500.0;
                let measured = account.measured_recall.unwrap();
                assert!(
                    (truth - measured).abs() < 0.02,
                    "{threshold} {frame} {most:?}: {measured}, in truth {truth}"
                );
                sum += truth;
                hot += account.counts.hot_buckets;
                promised = account.promised_recall.unwrap();
            }
            let truth = sum / SEEDS as f64;
            assert!(hot > 0 || truth >= promised - 0.01, "{threshold} {frame}: {truth} of {promised}");
            assert!(most.is_some() || hot == 0);
        }
    }
}

/// The same where the union stands in a chain or in a rule by site.
#[test]
fn a_union_within_a_rule_finds_what_its_members_find() {
    let texts = pages(300, 40, 70);
    let sites: Vec<_> = (0..300).map(|row| Some((row % 3).to_string())).collect();
    let simhash = |shingle, threshold| TechniqueSpec::Simhash {
        feature: words(shingle),
        bits: 64,
        frequency: true,
        threshold,
    };
    let exact =
        TechniqueSpec::Sets { feature: words(1), predicate: Predicate::new(Measure::Jaccard, 0.7).unwrap() };
    let techniques = [minhash(words(1), 0.7, 0.9), simhash(1, 0.8), simhash(2, 0.7), exact];
    let t = Rule::Technique;
    let any = || Rule::Any(vec![t(0), t(1)]);
    // What a rule is with one member in place of its union.
    let chain = |rule| Rule::All(vec![rule, t(3)]);
    let second = |rule| Rule::All(vec![t(3), rule, t(2)]);
    let by_site = |rule| {
        let (same, different) = (Some(Box::new(rule)), Some(Box::new(t(2))));
        Rule::BySite { at: 0, same, different }
    };
    let nested = |rule| Rule::Any(vec![chain(rule), t(2)]);
    let rules: [&dyn Fn(Rule) -> Rule; 4] = [&chain, &second, &by_site, &nested];
    let run = |rule: Rule, most| {
        let mut own = Vec::new();
        rule.techniques(&mut own);
        let combination = Combination {
            techniques: own.iter().map(|&n| techniques[n]).collect(),
            rule: renumbered(&rule, &own),
            most,
        };
        let method = Sketches { sites: true, combination, safeguards: Safeguards::default() };
        let corpus = Corpus::of_texts(&texts).with_sites(&sites).unwrap();
        pairs(&find(&method, corpus, &PlainThreads(2), ENOUGH).0)
    };
    for most in [None, Some(1), Some(5), Some(40)] {
        for (number, rule) in rules.iter().enumerate() {
            let union = run(rule(any()), most);
            let alone = [run(rule(t(0)), most), run(rule(t(1)), most)];
            for (member, found) in alone.iter().enumerate() {
                assert!(found.is_subset(&union), "{most:?} rule {number}, member {member}");
            }
            if most.is_none() {
                assert_eq!(&alone[0] | &alone[1], union, "rule {number}");
            }
        }
    }
}

/// A rule whose techniques are numbered by their places in `own`.
fn renumbered(rule: &Rule, own: &[usize]) -> Rule {
    let all = |rules: &[Rule]| rules.iter().map(|rule| renumbered(rule, own)).collect();
    let boxed = |rule: &Option<Box<Rule>>| rule.as_ref().map(|rule| Box::new(renumbered(rule, own)));
    match rule {
        Rule::Technique(n) => Rule::Technique(own.iter().position(|other| other == n).unwrap()),
        Rule::All(rules) => Rule::All(all(rules)),
        Rule::Any(rules) => Rule::Any(all(rules)),
        Rule::BySite { at, same, different } => {
            Rule::BySite { at: *at, same: boxed(same), different: boxed(different) }
        }
    }
}

/// Whatever a member of a union finds alone the union finds, however buckets are cut.
#[test]
fn a_union_finds_what_its_members_find() {
    let texts = pages(300, 40, 70);
    let simhash = |shingle, threshold| TechniqueSpec::Simhash {
        feature: words(shingle),
        bits: 64,
        frequency: true,
        threshold,
    };
    let shingling = TechniqueSpec::Shingling {
        feature: words(2),
        values: 12,
        groups: 6,
        seed: 1,
        threshold: 2.0 / 6.0,
        megashingles: false,
    };
    let exact =
        TechniqueSpec::Sets { feature: words(1), predicate: Predicate::new(Measure::Jaccard, 0.7).unwrap() };
    let techniques = [minhash(words(1), 0.7, 0.9), simhash(1, 0.8), shingling, simhash(2, 0.7), exact];
    let t = Rule::Technique;
    let members = [t(0), t(1), Rule::All(vec![t(2), t(3)]), Rule::All(vec![t(3), t(4)]), t(3)];
    for most in [None, Some(1), Some(5), Some(40), Some(150)] {
        for right_from in [None, Some(140)] {
            let corpus = || Corpus::of_texts(&texts).split(right_from);
            // A member alone has no other numbers in its signatures than its own.
            let alone = members.iter().map(|member| {
                let mut own = Vec::new();
                member.techniques(&mut own);
                let rule = renumbered(member, &own);
                let techniques: Vec<_> = own.iter().map(|&n| techniques[n]).collect();
                pairs(&run(rule, &techniques, most, corpus()).0)
            });
            let alone: Vec<_> = alone.collect();
            let union = pairs(&run(Rule::Any(members.to_vec()), &techniques, most, corpus()).0);
            for (member, found) in members.iter().zip(&alone) {
                assert!(found.is_subset(&union), "{most:?} {member:?}: {} of {}", found.len(), union.len());
            }
            if most.is_none() {
                assert_eq!(alone.into_iter().reduce(|all, more| &all | &more), Some(union));
            } else {
                assert!(!union.is_empty());
            }
        }
    }
}
