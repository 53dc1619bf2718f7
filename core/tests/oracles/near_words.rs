//! Texts compared by their near words against all pairs, of which all ways to pair the words are
//! tried.

use std::collections::HashMap;

use neardup_core::executor::{Executor, PlainThreads, Stop};
use neardup_core::features::FeatureSpec;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::near_words::NearWords;
use neardup_core::methods::overflow;
use neardup_core::methods::pair::TwoTexts;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::{Method, documents::Quiet};
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::verify::edit::{EditPredicate, similarity};
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;
use proptest::prelude::*;

use crate::common::cases;
use crate::common::run::{ENOUGH, Found, Interrupted, find};
use crate::edit::distance;
use crate::weights::MEASURES;

/// The words of a text; equal words once, unless repeats count.
fn words(text: &str, multiset: bool) -> Vec<String> {
    let mut words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    words.sort();
    if !multiset {
        words.dedup();
    }
    words
}

/// Tries all ways to pair the left words from `at` on with those right words that are not taken.
fn most(near: &[Vec<bool>], at: usize, taken: u32, known: &mut HashMap<(usize, u32), u32>) -> u32 {
    if at == near.len() {
        return 0;
    }
    if let Some(&best) = known.get(&(at, taken)) {
        return best;
    }
    let mut best = most(near, at + 1, taken, known);
    for n in (0..near[at].len()).filter(|&n| near[at][n] && taken >> n & 1 == 0) {
        best = best.max(1 + most(near, at + 1, taken | 1 << n, known));
    }
    known.insert((at, taken), best);
    best
}

/// The similarities of all pairs of which some words are near.
fn similarities(
    texts: &[String],
    right_from: Option<usize>,
    multiset: bool,
    least: f64,
    measure: Measure,
) -> Vec<(u32, u32, f64)> {
    let texts: Vec<Vec<String>> = texts.iter().map(|text| words(text, multiset)).collect();
    let is_near = |a: &String, b: &String| {
        let [a, b]: [Vec<char>; 2] = [a, b].map(|word| word.chars().collect());
        similarity(distance(&a, &b, true), a.len().max(b.len()) as u32) >= least
    };
    let mut found = Vec::new();
    for left in 0..right_from.unwrap_or(texts.len()) {
        for right in right_from.unwrap_or(left + 1)..texts.len() {
            let (a, b) = (&texts[left], &texts[right]);
            let near: Vec<Vec<bool>> =
                a.iter().map(|word| b.iter().map(|other| is_near(word, other)).collect()).collect();
            let shared = most(&near, 0, 0, &mut HashMap::new());
            if shared > 0 {
                let similarity = measure.similarity(shared, a.len() as u32, b.len() as u32);
                found.push((left as u32, right as u32, similarity));
            }
        }
    }
    found
}

/// The pairs in temporary files.
fn in_files(method: &NearWords, mut corpus: Corpus<'_>, executor: &dyn Executor) -> Found {
    let (mut quiet, resources) = (Quiet, Resources { files: &MemoryFiles, budget: 0, executor });
    let mut reading = Reading::new(&mut corpus, &mut quiet, resources);
    let mut pairs = overflow::pairs(method, method.of_two().unwrap(), &mut reading).unwrap();
    let mut found = Vec::new();
    while let Some(pair) = pairs.next(executor).unwrap() {
        found.push((pair.left.min(pair.right), pair.left.max(pair.right), pair.similarity.to_bits()));
    }
    found.sort_unstable();
    found
}

/// Texts of words that are near many others, and copies of texts with other letters.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![
        3 => "[ab]{1,4}",
        1 => "[a-c]é?",
        2 => prop::sample::select(vec!["haddock", "hadock", "haddokc", "brian", "brain", "12345", "12354", "the"])
            .prop_map(str::to_owned),
    ];
    let text = prop::collection::vec(word, 0..6).prop_map(|words| words.join(" "));
    prop::collection::vec(text, 0..24)
}

proptest! {
    #![proptest_config(cases::cases(300))]

    #[test]
    fn join_by_near_words_equals_all_pairs(
        texts in texts(),
        right_from in prop::option::of(0..24usize),
        multiset in any::<bool>(),
        threads in 1..4usize,
        least in prop_oneof![
            0.2..1.0f64,
            prop::sample::select(vec![1.0 / 3.0, 0.5, 0.6, 2.0 / 3.0, 0.75, 0.8, 0.8f64.next_up(), 1.0]),
        ],
        any in prop_oneof![0.01..1.0f64, Just(0.5), Just(1.0), Just(1e-12)],
        shared in 1..4u32,
    ) {
        let right_from = right_from.map(|from| from.min(texts.len()));
        let words = EditPredicate::new(least).unwrap().with_swaps(true);
        let spec = FeatureSpec { multiset, ..FeatureSpec::WORDS };
        for measure in MEASURES {
            if measure == Measure::Containment && right_from.is_none() {
                continue;
            }
            let all = similarities(&texts, right_from, multiset, least, measure);
            let mut thresholds = vec![any];
            // At, below and above what some pair has.
            if let Some(&(_, _, met)) = all.get(texts.len() % all.len().max(1)) {
                thresholds.extend([met, met.next_down(), met.next_up().min(1.0)]);
            }
            for threshold in thresholds {
                let predicate = Predicate::new(measure, threshold).unwrap();
                let expected: Found = all.iter().filter(|pair| pair.2 >= threshold)
                    .map(|&(a, b, s)| (a, b, s.to_bits())).collect();
                let method = NearWords { spec, predicate, words };
                for (threads, budget) in [(threads, ENOUGH), (1, 0)] {
                    let corpus = Corpus::of_texts(&texts).split(right_from);
                    let (found, _) = find(&method, corpus, &PlainThreads(threads), budget);
                    prop_assert_eq!(&found, &expected, "{:?} {} {} {}", measure, threshold, threads, budget);
                }
                if method.of_two().is_some() {
                    let found = in_files(&method, Corpus::of_texts(&texts).split(right_from), &PlainThreads(threads));
                    prop_assert_eq!(&found, &expected, "in files: {:?} {}", measure, threshold);
                }
                if let Some(&(left, right, similarity)) = expected.first() {
                    let two = TwoTexts::new([left, right].map(|row| texts[row as usize].as_str())).unwrap();
                    let said = method.explain(&two, &Stop::default()).unwrap();
                    prop_assert_eq!(said.similarity.map(f64::to_bits), Some(similarity));
                }
            }
            // A number of words decides.
            let predicate = Predicate::shared(measure, shared);
            let passing = |&(a, b, s): &(u32, u32, f64)| {
                let [x, y] = [a, b].map(|row| self::words(&texts[row as usize], multiset).len() as u32);
                let shared = (shared..=x.min(y)).any(|shared| measure.similarity(shared, x, y) == s);
                shared.then_some((a, b, s.to_bits()))
            };
            let expected: Found = all.iter().filter_map(passing).collect();
            let method = NearWords { spec, predicate, words };
            let corpus = Corpus::of_texts(&texts).split(right_from);
            prop_assert_eq!(find(&method, corpus, &Interrupted::default(), 0).0, expected);
        }
    }

    #[test]
    fn equal_words_are_near(
        texts in crate::weights::texts(),
        right_from in prop::option::of(0..40usize),
        threshold in 0.05..1.0f64,
    ) {
        let right_from = right_from.map(|from| from.min(texts.len()));
        for measure in MEASURES {
            let sets = Sets::of_words(measure, threshold).unwrap();
            let words = EditPredicate::new(1.0).unwrap().with_swaps(true);
            let near = NearWords { spec: sets.spec, predicate: sets.predicate, words };
            let corpus = || Corpus::of_texts(&texts).split(right_from);
            if measure == Measure::Containment && right_from.is_none() {
                continue;
            }
            let of = |method: &dyn Method| find(method, corpus(), &PlainThreads(2), ENOUGH).0;
            prop_assert_eq!(of(&near), of(&sets));
        }
    }
}
