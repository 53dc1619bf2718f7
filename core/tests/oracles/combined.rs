//! The pairs of a combination of any methods are those of the algebra of sets over what each method
//! finds alone.

use std::collections::BTreeMap;

use neardup_core::features::FeatureSpec;
use neardup_core::features::tokens::Document;
use neardup_core::hash::mix;
use neardup_core::joins::sketches::combination::TechniqueSpec;
use neardup_core::joins::sketches::rule::Rule;
use neardup_core::methods::Method;
use neardup_core::methods::combined::Combined;
use neardup_core::methods::combined::techniques::CombinedTechnique;
use neardup_core::methods::corpus::Corpus;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;
use proptest::prelude::*;

use neardup_core::executor::PlainThreads;

use crate::common::cases::cases;
use crate::common::methods::all_methods;
use crate::common::run::{ENOUGH, Interrupted, find};

type Similarities = BTreeMap<(u32, u32), u64>;

/// Techniques that miss no pair of their definition.
fn specs() -> Vec<TechniqueSpec> {
    let feature = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
    let predicate = |measure, threshold| Predicate::new(measure, threshold).unwrap();
    vec![
        TechniqueSpec::ExactText { clean: true, html: false },
        TechniqueSpec::Simhash { feature, bits: 64, frequency: true, threshold: 0.8 },
        TechniqueSpec::Simhash { feature, bits: 128, frequency: true, threshold: 0.9 },
        TechniqueSpec::Sets { feature, predicate: predicate(Measure::Jaccard, 0.6) },
        TechniqueSpec::Sets { feature, predicate: predicate(Measure::Overlap, 0.8) },
    ]
}

fn technique(n: usize) -> CombinedTechnique {
    match specs().get(n) {
        Some(spec) => CombinedTechnique::Spec(*spec),
        None => CombinedTechnique::Method(all_methods().swap_remove(n - specs().len()).1),
    }
}

/// A rule of techniques below `count`, and the next random number.
fn rule(seed: &mut u64, depth: u32, count: usize) -> Rule {
    *seed = mix(*seed);
    if depth == 0 || *seed % 5 < 2 {
        return Rule::Technique((*seed >> 8) as usize % count);
    }
    let kind = *seed % 2;
    let rules = (0..1 + (*seed >> 9) % 3).map(|_| rule(seed, depth - 1, count)).collect();
    if kind == 0 { Rule::All(rules) } else { Rule::Any(rules) }
}

/// The pairs of a rule by definition.
fn expected(rule: &Rule, own: &[Similarities], is_same: &dyn Fn(u32, u32) -> bool) -> Similarities {
    let of = |rule: &Rule| expected(rule, own, is_same);
    match rule {
        Rule::Technique(n) => own[*n].clone(),
        Rule::All(rules) => {
            let mut all: Vec<Similarities> = rules.iter().map(of).collect();
            let mut last = all.pop().unwrap();
            last.retain(|pair, _| all.iter().all(|found| found.contains_key(pair)));
            last
        }
        // What is inserted last stays.
        Rule::Any(rules) => rules.iter().rev().flat_map(of).collect(),
        Rule::BySite { same, different, .. } => {
            let side = |rule: &Option<Box<Rule>>, wanted: bool| {
                let mut found = rule.as_ref().map(|rule| of(rule)).unwrap_or_default();
                found.retain(|&(a, b), _| is_same(a, b) == wanted);
                found
            };
            let mut found = side(same, true);
            found.append(&mut side(different, false));
            found
        }
    }
}

fn text(seed: u64) -> String {
    const WORDS: [&str; 14] = [
        "the", "a", "is", "harbour", "of", "quay", "to", "crane", "and", "ellis", "moved", "north", "rain",
        "library",
    ];
    let kind = seed % 6;
    let mut text = String::new();
    for n in 0..kind * 9 {
        let changed = mix(seed) % 60 == n;
        let word = mix(kind << 32 | n | u64::from(changed) << 20) as usize % WORDS.len();
        text.push_str(WORDS[word]);
        text.push_str(if n % 9 == 8 { ". The " } else { " " });
    }
    text
}

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn any_rule_is_the_algebra_of_its_methods(
        rows in prop::collection::vec((0..120u64, prop::option::of(0..3u8)), 0..60),
        mut seed in any::<u64>(),
        split in prop::option::of(0..60usize),
        sites in prop::sample::select(vec![None, Some(0), Some(1), Some(2)]),
        budget in prop::sample::select(vec![0, 20 << 10, ENOUGH]),
    ) {
        const TECHNIQUES: usize = 4;
        let all = specs().len() + all_methods().len();
        let chosen: Vec<usize> = (0..TECHNIQUES).map(|n| {
            seed = mix(seed);
            // Half of them compare signatures or sets.
            if n % 2 == 0 { seed as usize % specs().len() } else { seed as usize % all }
        }).collect();
        let split = split.map(|split| split.min(rows.len()));
        let corpus = || {
            let text = |n: usize| (rows[n].0 % 13 > 0).then(|| Document::Text(text(rows[n].0)));
            let corpus = Corpus::new(rows.len(), text).split(split);
            if sites.is_none() {
                return corpus;
            }
            let sites: Vec<_> = rows.iter().map(|(_, site)| site.map(|site| site.to_string())).collect();
            corpus.with_sites(&sites).unwrap()
        };
        let of = |seed: &mut u64| rule(seed, 3, TECHNIQUES);
        let rule = match sites {
            None | Some(0) => of(&mut seed),
            Some(1) => Rule::BySite { at: 0, same: Some(Box::new(of(&mut seed))), different: None },
            _ => Rule::BySite {
                at: 0,
                same: Some(Box::new(of(&mut seed))),
                different: Some(Box::new(of(&mut seed))),
            },
        };
        let own: Vec<Similarities> = chosen.iter().map(|&n| {
            let alone = Combined::of_techniques(vec![technique(n)], Rule::Technique(0), None, false).unwrap();
            let method: Box<dyn Method> = match technique(n) {
                CombinedTechnique::Spec(_) => alone,
                CombinedTechnique::Method(method) => method,
            };
            let (found, _) = find(&*method, corpus(), &PlainThreads(2), ENOUGH);
            found.into_iter().map(|(left, right, similarity)| ((left, right), similarity)).collect()
        }).collect();
        let is_same = |a: u32, b: u32| {
            let [a, b] = [a, b].map(|row| rows[row as usize].1);
            sites.is_some() && a.is_some() && a == b
        };
        let expected = expected(&rule, &own, &is_same);
        let expected: Vec<_> = expected.into_iter().map(|((a, b), similarity)| (a, b, similarity)).collect();
        let combined = || {
            let techniques = chosen.iter().map(|&n| technique(n)).collect();
            Combined::of_techniques(techniques, rule.clone(), None, sites.is_some_and(|n| n > 0)).unwrap()
        };
        let (found, account) = find(&*combined(), corpus(), &PlainThreads(2), budget);
        prop_assert_eq!(&found, &expected, "{:?} {:?}", &rule, &chosen);
        prop_assert_eq!(account.documents, rows.len() as u64);
        let (found, _) = find(&*combined(), corpus(), &Interrupted::default(), budget);
        prop_assert_eq!(&found, &expected, "{:?} {:?} interrupted", &rule, &chosen);
    }
}
