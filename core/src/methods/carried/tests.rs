//! The pairs that are found in parts are those of the join on one machine.

use std::collections::{BTreeMap, BTreeSet};

use crate::Measure;
use crate::cases::cases;
use crate::executor::{PlainThreads, Stop};
use crate::features::codes::CodeSpec;
use crate::features::imatch::IdfRange;
use crate::features::spotsigs::SpotSpec;
use crate::features::tokens::{Document, FeatureSpec, Tokenizer};
use crate::hash::mix;
use crate::joins::Algorithm;
use crate::joins::keys::Key;
use crate::joins::sets::bounds::Bounds;
use crate::joins::sketches::combination::{Combination, Safeguards, TechniqueSpec};
use crate::joins::sketches::rule::Rule;
use crate::methods::Method;
use crate::methods::carried::limited::{ComparedRows, Limited};
use crate::methods::carrier::{Carrier, LeftOut, Meeting, Places, carried, content};
use crate::methods::codes::ByCodes;
use crate::methods::combined::Combined;
use crate::methods::corpus::Corpus;
use crate::methods::edit::Edit;
use crate::methods::imatch::Imatch;
use crate::methods::runs::Runs;
use crate::methods::sets::Sets;
use crate::methods::sketches::Sketches;
use crate::methods::spotsigs::SpotSigs;
use crate::methods::tlcs::Tlcs;
use crate::parameters::{
    Banding, EditPredicate, Predicate, RunShare, SentenceParameters, StopRules, TlcsParameters,
    TlcsThresholds,
};
use crate::parts::filtered_keys;
use crate::parts::groups::groups;
use crate::parts::keys::{self, KeyPart};
use crate::parts::part::Part;
use crate::parts::ranks::{self, TokenRanks};
use crate::parts::rows::Shared;
use crate::set_index::token_counts::TokenCounts;
use crate::storage::files::MemoryFiles;

mod candidates;
mod limits;
mod overflow;

use candidates::candidates;
use limits::{carried_in_parts, check_limits};

type Found = BTreeMap<(u64, u64), u64>;

/// Finds the pairs of texts in parts.
fn in_parts(method: &dyn Method, texts: &[String], parts: u32) -> Found {
    carried_in_parts(method.carrier().unwrap(), texts, &|_| Places::default(), parts)
}

fn on_one_machine(method: &dyn Method, texts: &[String]) -> Found {
    let pairs = Corpus::of_texts(texts).pairs(method).unwrap();
    pairs
        .iter()
        .map(|pair| {
            let [a, b] = [pair.left, pair.right].map(|row| row as u64);
            ((a.min(b), a.max(b)), pair.similarity.to_bits())
        })
        .collect()
}

/// Returns texts of sentences, some of which are copies of others with some changes; and odd ones.
fn texts(count: u64, seed: u64) -> Vec<String> {
    let word = |n: u64| {
        let kinds =
            ["the", "of", "is", "crane", "quay", "harbour", "left", "in", "rain", "and", "boat", "über"];
        match mix(n ^ seed) % 3 {
            0 => kinds[mix(n) as usize % kinds.len()].to_owned(),
            _ => format!("w{}", mix(n) % 97),
        }
    };
    let sentence = |n: u64| {
        let words: Vec<String> = (0..4 + mix(n) % 9).map(|w| word(mix(n).wrapping_add(w))).collect();
        words.join(" ") + ". "
    };
    let mut all: Vec<String> =
        vec![String::new(), " \n".into(), "…".into(), "a".into(), "ab".into(), "ab".into()];
    for n in 0..count {
        let draw = mix(seed.wrapping_add(n << 20));
        match draw % 5 {
            0 | 1 => all.push((0..1 + draw % 6).map(|s| sentence(mix(draw) % 60 + s)).collect()),
            2 => all.push(all[draw as usize / 8 % all.len()].clone()),
            3 => {
                let mut chars: Vec<char> = all[draw as usize / 8 % all.len()].chars().collect();
                for change in 0..1 + draw % 3 {
                    if !chars.is_empty() {
                        let at = mix(draw + change) as usize % chars.len();
                        match change % 3 {
                            0 => chars[at] = 'x',
                            1 if at > 0 => chars.swap(at - 1, at),
                            _ => {
                                chars.remove(at);
                            }
                        }
                    }
                }
                all.push(chars.into_iter().collect());
            }
            _ => all.push(all[draw as usize / 8 % all.len()].clone() + &sentence(draw)),
        }
    }
    all
}

fn check(name: &str, method: &dyn Method, least: usize) {
    let mut pairs = 0;
    let seeds = cases(4).cases as usize;
    for seed in 0..seeds as u64 {
        let texts = texts(150, seed);
        let expected = on_one_machine(method, &texts);
        pairs += expected.len();
        overflow::check(name, method, &texts, None);
        for parts in [1, 3] {
            let found = in_parts(method, &texts, parts);
            let [missing, more] = [(&expected, &found), (&found, &expected)].map(|(a, b)| {
                a.iter().filter(|(pair, of)| b.get(pair) != Some(of)).take(3).collect::<Vec<_>>()
            });
            assert!(missing.is_empty() && more.is_empty(), "{name} {seed} {parts}: {missing:?} {more:?}");
        }
        check_limits(name, method.carrier().unwrap(), &texts, &expected);
    }
    assert!(4 * pairs >= least * seeds, "{name}: {pairs} pairs");
}

fn words(shingle: usize) -> FeatureSpec {
    FeatureSpec { shingle, multiset: false, ..FeatureSpec::WORDS }
}

fn sketches(techniques: Vec<TechniqueSpec>, rule: Rule) -> Sketches {
    let combination = Combination { techniques, rule, most: None };
    Sketches { combination, sites: false, safeguards: Safeguards::default() }
}

#[test]
fn signatures() {
    let simhash =
        |bits, threshold| TechniqueSpec::Simhash { feature: words(1), bits, frequency: true, threshold };
    for (bits, threshold) in [(64, 0.95), (64, 0.5), (384, 0.9), (100, 1.0)] {
        check("simhash", &Sketches::by_technique(simhash(bits, threshold)), 100);
    }
    let shingling = |threshold, megashingles| TechniqueSpec::Shingling {
        feature: words(2),
        values: 12,
        groups: 6,
        seed: 1,
        threshold,
        megashingles,
    };
    for (threshold, megashingles) in [(0.3, false), (0.3, true), (0.5, false), (1.0, false)] {
        check("shingling", &Sketches::by_technique(shingling(threshold, megashingles)), 100);
    }
    for (clean, html) in [(true, false), (false, false), (true, true)] {
        check("exact_text", &Sketches::by_technique(TechniqueSpec::ExactText { clean, html }), 50);
    }
    let minhash = |verify| TechniqueSpec::Minhash {
        feature: words(1),
        plan: Banding::for_recall(0.6, 0.95).unwrap(),
        seed: 3,
        threshold: 0.6,
        verify,
    };
    check("values", &Sketches::by_technique(minhash(false)), 100);
    check("minhash", &Sketches::by_technique(minhash(true)), 100);
    let sets =
        TechniqueSpec::Sets { feature: words(1), predicate: Predicate::new(Measure::Jaccard, 0.7).unwrap() };
    let t = Rule::Technique;
    let techniques = || vec![minhash(true), simhash(64, 0.9), shingling(0.3, false), sets];
    for rule in [
        Rule::All(vec![t(2), t(1)]),
        Rule::Any(vec![t(2), t(1)]),
        Rule::All(vec![t(3), t(0)]),
        Rule::Any(vec![Rule::All(vec![t(1), t(3)]), t(0)]),
    ] {
        check("combined", &sketches(techniques(), rule), 50);
    }
}

#[test]
fn sets() {
    let overlap = Predicate::new(Measure::Overlap, 0.7).unwrap().and_shared(3);
    for (spec, predicate) in [
        (words(1), overlap),
        (FeatureSpec::WORDS, Predicate::shared(Measure::Jaccard, 4)),
        (words(3), Predicate::new(Measure::Cosine, 0.4).unwrap()),
        (words(1), Predicate::shared(Measure::Dice, 1).and_within(6)),
    ] {
        check("sets", &Sets { spec, predicate, algorithm: Algorithm::Auto, weights: Default::default() }, 50);
    }
    assert!(Sets::of_words(Measure::Containment, 0.5).unwrap().carrier().is_none());
}

#[test]
fn sites() {
    let equal = TechniqueSpec::ExactText { clean: true, html: false };
    let different = Some(Box::new(Rule::Technique(0)));
    let rule = Rule::BySite { at: 0, same: None, different };
    let method = Sketches { sites: true, ..sketches(vec![equal], rule) };
    let (carrier, stop): (&dyn Carrier, _) = (&method, Stop::default());
    let of = |text: &str, site| {
        let places = Places { site, ..Places::default() };
        carried(carrier, &Document::Text(text.to_owned()), places, &stop).unwrap()
    };
    let [a, b, c, d] = [of("x", Some("one")), of("x", Some("one")), of("x", Some("two")), of("x", None)];
    // Equal documents of one site are no pair, and so have to be compared.
    assert!(a == b && a[0] == 2);
    let similarity = |a: &[u8], b: &[u8]| {
        carrier.similarity([content(a).unwrap(), content(b).unwrap()], LeftOut::default(), &stop).unwrap()
    };
    assert_eq!(similarity(&a, &b), None);
    assert_eq!([similarity(&a, &c), similarity(&a, &d), similarity(&d, &d)], [Some(1.0); 3]);
}

#[test]
fn texts_by_characters() {
    for threshold in [0.3, 0.6, 0.8, 0.95, 1.0] {
        let predicate = EditPredicate::new(threshold).unwrap();
        for predicate in [predicate, predicate.with_swaps(true)] {
            check("edit", &Edit { predicate, algorithm: Algorithm::Auto, word_order: true }, 50);
        }
    }
    for distance in [0, 1, 2, 5, 10] {
        check("edit within", &Edit::within(distance), 50);
        let predicate = EditPredicate::within(distance).with_swaps(true);
        check(
            "edit within, with swaps",
            &Edit { predicate, algorithm: Algorithm::Auto, word_order: true },
            50,
        );
    }
    let predicate = EditPredicate::new(0.6).unwrap();
    check("edit of words in order", &Edit { predicate, algorithm: Algorithm::Auto, word_order: false }, 50);
    let predicate = EditPredicate::new(0.7).unwrap().and_within(3);
    check("edit by both", &Edit { predicate, algorithm: Algorithm::Auto, word_order: true }, 50);
    assert!(Edit::within(11).carrier().is_none());
}

#[test]
fn codes_of_texts() {
    for threshold in [None, Some(0.4), Some(0.75), Some(1.0)] {
        let spec = CodeSpec { min_length: 3, unit_length: 30, ..CodeSpec::default() };
        check("codes", &ByCodes { spec, threshold }, 50);
    }
    check("codes", &ByCodes { spec: CodeSpec::default(), threshold: Some(0.6) }, 50);
}

#[test]
fn terms_and_spots() {
    for (lo, hi) in [(0.1, 1.0), (0.2, 0.6), (0.0, 1.0), (0.5, 0.5)] {
        check("imatch", &Imatch { spec: words(1), range: IdfRange::new(lo, hi).unwrap() }, 50);
    }
    for threshold in [0.3, 0.8] {
        let predicate = Predicate::new(Measure::Jaccard, threshold).unwrap();
        check("spotsigs", &SpotSigs { spec: SpotSpec::default(), predicate }, 50);
    }
}

#[test]
fn runs_of_tokens() {
    for of in [RunShare::Smaller, RunShare::Larger, RunShare::Both] {
        for (min_run, threshold) in [(4, 0.5), (8, 0.3), (1, 0.9)] {
            let (max_documents, tokenizer) = (None, Tokenizer::Words);
            check("runs", &Runs { min_run, of, threshold, max_documents, tokenizer }, 50);
        }
    }
}

/// Tests that texts are no candidates by a template that is too short for their shares.
#[test]
fn runs_of_a_template() {
    let method = Runs {
        min_run: 5,
        of: RunShare::Smaller,
        threshold: 0.5,
        max_documents: None,
        tokenizer: Tokenizer::Words,
    };
    let words = |count: u64, n: u64| {
        let word = |w: u64| format!("w{}", mix(n << 8 | w) % 100_000);
        (0..count).map(word).collect::<Vec<_>>().join(" ")
    };
    let text = |n: u64| format!("{} {} {}", words(60, n / 3), words(10, 1 << 32), words(60, n + 1000));
    let texts: Vec<String> = (0..600).map(text).collect();
    let carrier = method.carrier().unwrap();
    let all: Vec<_> = texts.iter().map(|text| text.as_bytes()).collect();
    let found = candidates(carrier, &all, LeftOut::default(), 3);
    // Each three texts have their first words in common: 600 pairs, and hardly any others.
    assert!(found.len() < 620, "{}", found.len());
    assert_eq!(in_parts(&method, &texts, 3), on_one_machine(&method, &texts));
}

#[test]
fn subsequences() {
    for trustable in [true, false] {
        for thresholds in [
            TlcsThresholds { resemblance: 0.28, containment: Some(0.7) },
            TlcsThresholds { resemblance: 0.8, containment: None },
        ] {
            let parameters = TlcsParameters { trustable, ..TlcsParameters::default() };
            let (signatures, rules) = (SentenceParameters::default(), StopRules::default());
            for words in [None, Some(Predicate::new(Measure::Cosine, thresholds.resemblance).unwrap())] {
                let whole_sets = false;
                let method =
                    Tlcs { signatures, rules, parameters, thresholds, weight: None, words, whole_sets };
                check("tlcs", &method, 50);
            }
        }
    }
}

#[test]
fn combinations() {
    let simhash = |threshold| {
        let simhash = TechniqueSpec::Simhash { feature: words(1), bits: 64, frequency: true, threshold };
        Box::new(Sketches::by_technique(simhash)) as Box<dyn Method>
    };
    let minhash = TechniqueSpec::Minhash {
        feature: words(1),
        plan: Banding::for_recall(0.6, 0.95).unwrap(),
        seed: 3,
        threshold: 0.6,
        verify: true,
    };
    let minhash = || Box::new(Sketches::by_technique(minhash)) as Box<dyn Method>;
    let edit = |threshold| Box::new(Edit::new(threshold).unwrap()) as Box<dyn Method>;
    let tlcs = || {
        let thresholds = TlcsThresholds { resemblance: 0.28, containment: Some(0.7) };
        let (signatures, rules) = (SentenceParameters::default(), StopRules::default());
        let parameters = TlcsParameters::default();
        Box::new(Tlcs {
            signatures,
            rules,
            parameters,
            thresholds,
            weight: None,
            words: None,
            whole_sets: false,
        }) as Box<dyn Method>
    };
    let t = Rule::Technique;
    for (methods, rule) in [
        (vec![simhash(0.8), edit(0.5)], Rule::All(vec![t(0), t(1)])),
        (vec![edit(0.6), minhash()], Rule::All(vec![t(1), t(0)])),
        (vec![edit(0.6), minhash()], Rule::All(vec![t(0), t(1)])),
        (vec![simhash(0.8), minhash(), edit(0.5)], Rule::Any(vec![Rule::All(vec![t(0), t(2)]), t(1)])),
        (vec![simhash(0.8), tlcs()], Rule::All(vec![t(0), t(1)])),
        (vec![edit(0.7)], t(0)),
    ] {
        check("combined", &Combined { methods, rule }, 20);
    }
    let whole = [
        (vec![simhash(0.8), tlcs()], Rule::Any(vec![t(0), t(1)])),
        (
            vec![edit(0.6), Box::new(Sets::of_words(Measure::Jaccard, 0.5).unwrap())],
            Rule::Any(vec![t(0), t(1)]),
        ),
    ];
    for (methods, rule) in whole {
        assert!(Combined { methods, rule }.carrier().is_none());
    }
}
