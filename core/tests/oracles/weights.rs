//! Sets of words that weigh, against all pairs, one by one.

use std::collections::BTreeMap;
use std::sync::Arc;

use neardup_core::executor::{PlainThreads, Stop};
use neardup_core::features::FeatureSpec;
use neardup_core::features::dictionary::weights::{Weights, WordWeights, idf, squared};
use neardup_core::joins::Algorithm;
use neardup_core::methods::Method;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::pair::TwoTexts;
use neardup_core::methods::sets::Sets;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;
use proptest::prelude::*;

use crate::common::cases;
use crate::common::run::{ENOUGH, Found, find};

pub const MEASURES: [Measure; 5] =
    [Measure::Jaccard, Measure::Cosine, Measure::Dice, Measure::Overlap, Measure::Containment];

/// The words of each text, with their numbers of occurrences.
pub type Bags = Vec<BTreeMap<String, u32>>;

pub fn bags(texts: &[String], multiset: bool) -> Bags {
    let bag = |text: &String| {
        let mut bag = BTreeMap::new();
        for word in text.split_whitespace() {
            let count = bag.entry(word.to_owned()).or_insert(0);
            *count = if multiset { *count + 1 } else { 1 };
        }
        bag
    };
    texts.iter().map(bag).collect()
}

/// The weight of each word by the definition.
pub fn idf_of(bags: &Bags) -> BTreeMap<String, u16> {
    let documents = bags.iter().filter(|bag| !bag.is_empty()).count() as u64;
    let mut having: BTreeMap<String, u64> = BTreeMap::new();
    bags.iter().flat_map(|bag| bag.keys()).for_each(|word| *having.entry(word.clone()).or_default() += 1);
    having.into_iter().map(|(word, having)| (word, idf(documents, having))).collect()
}

/// The specification: the similarities of all pairs of which some word is shared.
pub fn similarities(
    bags: &Bags,
    weights: &BTreeMap<String, u16>,
    right_from: Option<usize>,
    measure: Measure,
) -> Vec<(u32, u32, f64)> {
    let weight = |word: &String| {
        let weight = weights[word];
        u32::from(if measure == Measure::Cosine { squared(weight) } else { weight })
    };
    let sizes: Vec<u32> =
        bags.iter().map(|bag| bag.iter().map(|(word, count)| count * weight(word)).sum()).collect();
    let mut found = Vec::new();
    for left in 0..right_from.unwrap_or(bags.len()) {
        for right in right_from.unwrap_or(left + 1)..bags.len() {
            let (a, b) = (&bags[left], &bags[right]);
            let shared =
                a.iter().filter_map(|(word, n)| Some(*n.min(b.get(word)?) * weight(word))).sum::<u32>();
            if shared > 0 {
                let similarity = measure.similarity(shared, sizes[left], sizes[right]);
                found.push((left as u32, right as u32, similarity));
            }
        }
    }
    found
}

fn passing(all: &[(u32, u32, f64)], threshold: f64) -> Found {
    all.iter().filter(|pair| pair.2 >= threshold).map(|&(a, b, s)| (a, b, s.to_bits())).collect()
}

/// Few words that most texts have, and many rare ones.
pub fn texts() -> impl Strategy<Value = Vec<String>> {
    let word = prop_oneof![
        3 => (0..4u32).prop_map(|n| format!("frequent{n}")),
        2 => (0..12u32).prop_map(|n| format!("word{n}")),
        1 => (0..2_000u32).prop_map(|n| format!("rare{n}")),
    ];
    let text = prop_oneof![
        4 => prop::collection::vec(word.clone(), 0..12),
        // Copies of a few texts with some words added.
        3 => (0..3u32, 6..20u32, prop::collection::vec(word, 0..4)).prop_map(|(base, size, more)| {
            (0..size).map(|n| format!("of{base}x{n}")).chain(more).collect()
        }),
    ];
    prop::collection::vec(text.prop_map(|words: Vec<String>| words.join(" ")), 0..40)
}

/// What each of some words weighs, by its name.
pub fn listed(words: &BTreeMap<String, u16>, heaviest: f64) -> (WordWeights, BTreeMap<String, u16>) {
    let (mut list, stop) = (WordWeights::new(FeatureSpec::WORDS), Stop::default());
    let mut expected = BTreeMap::new();
    list.add("heaviest".to_owned(), heaviest, &stop).unwrap();
    for (n, (word, &weight)) in (0..).zip(words) {
        let given = f64::from(weight) / 4096.0 * heaviest;
        let is_listed = n % 5 > 0;
        if is_listed {
            assert_eq!(list.add(word.to_uppercase(), given, &stop).unwrap(), None);
        }
        expected.insert(word.clone(), if is_listed { weight } else { 4096 });
    }
    (list, expected)
}

fn check(texts: &[String], right_from: Option<usize>, multiset: bool, threads: usize, any: f64) {
    let bags = bags(texts, multiset);
    let by_idf = idf_of(&bags);
    let (list, by_list) = listed(&by_idf, 8.0);
    for (weights, by_word) in [(Weights::Idf, by_idf), (Weights::Words(Arc::new(list)), by_list)] {
        for measure in MEASURES {
            if measure == Measure::Containment && right_from.is_none() {
                continue;
            }
            let all = similarities(&bags, &by_word, right_from, measure);
            let mut thresholds = vec![any];
            // At, below and above what some pair has.
            if let Some(&(_, _, met)) = all.get(texts.len() % all.len().max(1)) {
                thresholds.extend([met, met.next_down(), met.next_up().min(1.0)]);
            }
            for threshold in thresholds {
                let expected = passing(&all, threshold);
                let spec = FeatureSpec { multiset, ..FeatureSpec::WORDS };
                let predicate = Predicate::new(measure, threshold).unwrap();
                for algorithm in [Algorithm::Auto, Algorithm::AllPairs, Algorithm::PpJoinPlus(2)] {
                    let sets = Sets { spec, predicate, algorithm, weights: weights.clone() };
                    let corpus = Corpus::of_texts(texts).split(right_from);
                    let (found, account) = find(&sets, corpus, &PlainThreads(threads), ENOUGH);
                    assert_eq!(found, expected, "{measure:?} {threshold} {algorithm:?} {weights:?}");
                    let counts = account.counts;
                    assert_eq!(counts.candidates, counts.pruned_by_position + counts.verified);
                }
                let sets = Sets { spec, predicate, algorithm: Algorithm::Auto, weights: weights.clone() };
                for budget in [1 << 14, 0] {
                    let corpus = Corpus::of_texts(texts).split(right_from);
                    let (found, _) = find(&sets, corpus, &PlainThreads(threads), budget);
                    assert_eq!(found, expected, "in files: {measure:?} {threshold} {budget} {weights:?}");
                }
                // What is said of two texts is what the join says of them.
                if let (Weights::Words(_), Some(&(left, right, similarity))) =
                    (&sets.weights, expected.first())
                {
                    let two = [left, right].map(|row| texts[row as usize].as_str());
                    let two = TwoTexts::new(two).unwrap();
                    let said = sets.explain(&two, &Stop::default()).unwrap();
                    assert_eq!(said.similarity.map(f64::to_bits), Some(similarity));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(cases::cases(200))]

    #[test]
    fn join_of_words_that_weigh_equals_all_pairs(
        texts in texts(),
        right_from in prop::option::of(0..40usize),
        multiset in any::<bool>(),
        threads in 1..4usize,
        any in prop_oneof![0.01..1.0f64, Just(0.5), Just(0.8), Just(1.0), Just(1e-12)],
    ) {
        check(&texts, right_from.map(|from| from.min(texts.len())), multiset, threads, any);
    }
}

/// Ten million pairs: texts that share words with many others, so that the joins by bitmaps are
/// taken.
#[test]
fn many_texts_with_words_that_weigh() {
    let small = std::env::var_os("NEARDUP_EVERY_PAIR").is_none();
    let texts = if small { 700 } else { 4_500 };
    let word = |text: u64, n: u64| {
        let random = neardup_core::hash::mix(text << 20 | n);
        match random % 10 {
            0..4 => format!("frequent{}", random / 10 % 30),
            4..7 => format!("word{}", random / 10 % 400),
            _ => format!("rare{}", random / 10 % 20_000),
        }
    };
    let texts: Vec<String> = (0..texts)
        .map(|text| {
            // Every third text is a version of an earlier one.
            let base = if text % 3 == 2 { text / 30 } else { text };
            let length = 20 + neardup_core::hash::mix(base) % 40;
            let of = |n: u64| if (n * 7 + text) % (5 + text % 60) > 1 { base } else { text };
            (0..length).map(|n| word(of(n), n)).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let bags = bags(&texts, true);
    let weights = idf_of(&bags);
    for measure in MEASURES {
        let all = similarities(
            &bags,
            &weights,
            (measure == Measure::Containment).then_some(texts.len() / 2),
            measure,
        );
        for threshold in
            [0.3, 0.5, 0.8, all.iter().map(|pair| pair.2).filter(|&s| s < 0.7).fold(0.1, f64::max)]
        {
            let predicate = Predicate::new(measure, threshold).unwrap();
            let sets = Sets { predicate, weights: Weights::Idf, ..Sets::of_words(measure, 0.5).unwrap() };
            let right_from = (measure == Measure::Containment).then_some(texts.len() / 2);
            let corpus = Corpus::of_texts(&texts).split(right_from);
            let (found, _) = find(&sets, corpus, &PlainThreads(2), ENOUGH);
            assert_eq!(found, passing(&all, threshold), "{measure:?} {threshold}");
            assert!(!found.is_empty());
        }
    }
}
