//! Tests the whole join in parts against a comparison of all pairs, with any order of tokens, any
//! number of parts, and any memory.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::groups::{self, RowGroups, groups};
use super::part::Part;
use super::ranks::{self, TokenPlaces, TokenRanks};
use super::rows::Shared;
use crate::executor::{PlainThreads, Stop};
use crate::features::hash_sets::{make_set, shared};
use crate::features::tokens::{Document, Scratch, for_each_token};
use crate::features::{FeatureSpec, Tokenizer};
use crate::joins::sets::bounds::Bounds;
use crate::set_index::token_counts::TokenCounts;
use crate::storage::files::MemoryFiles;
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;

const MEASURES: [Measure; 4] = [Measure::Jaccard, Measure::Cosine, Measure::Dice, Measure::Overlap];

fn set_of(text: &str, spec: &FeatureSpec) -> Vec<u64> {
    let (document, stop) = (Document::Text(text.to_owned()), Stop::default());
    let mut set = Vec::new();
    for_each_token(&document, spec, &mut Scratch::default(), &stop, |token| {
        set.push(token.hash());
        Ok(())
    })
    .unwrap();
    make_set(&mut set, spec.multiset, &stop).unwrap();
    set
}

fn count(set: &[u64], counts: &mut TokenCounts<u64>) {
    set.iter().for_each(|&hash| counts.add(hash, &Stop::default()).unwrap());
}

/// Returns the similar pairs among sets, found in parts. Each must be a candidate at most once in a
/// part.
fn in_parts(
    sets: &[Vec<u64>],
    predicate: Predicate,
    parts: u32,
    ranks: &[u8],
    budget: usize,
) -> BTreeSet<(u64, u64, u64)> {
    with_known(sets, predicate, parts, ranks, (budget, &[]))
}

/// Returns those of these pairs of which not both sets are known.
fn with_known(
    sets: &[Vec<u64>],
    predicate: Predicate,
    parts: u32,
    ranks: &[u8],
    (budget, known): (usize, &[bool]),
) -> BTreeSet<(u64, u64, u64)> {
    let is_known = |id: u64| known.get(id as usize) == Some(&true);
    let stop = &Stop::default();
    let bounds = Bounds::new(predicate);
    let ranks = TokenRanks::parse(ranks).unwrap();
    let mut all: Vec<Part<MemoryFiles>> =
        (0..parts).map(|_| Part::new(predicate, MemoryFiles, budget)).collect();
    for (id, set) in sets.iter().enumerate() {
        let RowGroups { size, bitmap, parts } = groups(set, &ranks, &bounds, parts, stop).unwrap();
        for (part, prefix) in parts {
            let (part, row) = (&mut all[part as usize], Shared::Tokens(&prefix));
            part.add(id as u64, size, &bitmap, row, is_known(id as u64)).unwrap();
        }
    }
    let mut pairs = BTreeSet::new();
    let mut equal = BTreeSet::new();
    for part in all {
        let mut here = BTreeSet::new();
        part.candidates(&PlainThreads(1), &mut |a, b| {
            let pair = (a.min(b), a.max(b));
            assert!(pair.0 < pair.1 && here.insert(pair), "{pair:?} twice");
            assert!(!(is_known(pair.0) && is_known(pair.1)), "{pair:?} is known");
            if sets[pair.0 as usize] == sets[pair.1 as usize] {
                assert!(equal.insert(pair), "{pair:?} comes from two parts");
            }
            Ok(())
        })
        .unwrap();
        for (a, b) in here {
            let [left, right] = [a, b].map(|id| &sets[id as usize]);
            let [shared, left, right] =
                [shared(left, right), left.len(), right.len()].map(|count| count as u32);
            if predicate.passes(shared, left, right) {
                let similarity = predicate.similarity(shared, left, right);
                pairs.insert((a, b, similarity.to_bits()));
            }
        }
    }
    pairs
}

fn naive(sets: &[Vec<u64>], measure: Measure, threshold: f64) -> BTreeSet<(u64, u64, u64)> {
    let tokens: Vec<BTreeSet<u64>> = sets.iter().map(|set| set.iter().copied().collect()).collect();
    let mut pairs = BTreeSet::new();
    for a in 0..tokens.len() {
        for b in a + 1..tokens.len() {
            let shared = tokens[a].intersection(&tokens[b]).count() as u32;
            let similarity = measure.similarity(shared, tokens[a].len() as u32, tokens[b].len() as u32);
            if similarity >= threshold {
                pairs.insert((a as u64, b as u64, similarity.to_bits()));
            }
        }
    }
    pairs
}

/// Returns a set of some of 18 tokens, of which each three have one mark.
fn set_of_marked(tokens: &BTreeSet<u8>) -> Vec<u64> {
    let marked = |n: u64| crate::hash::unmix(crate::hash::mix(n / 3) >> 32 << 32 | n);
    let hashes: BTreeSet<u64> = tokens.iter().map(|&n| marked(n.into())).collect();
    hashes.into_iter().collect()
}

/// Returns an order of the sets' tokens that is independent of frequency.
fn any_order(sets: &[Vec<u64>], seed: u64) -> Vec<u8> {
    let mut frequencies = TokenCounts::new(0);
    for set in sets {
        for &token in set.iter().filter(|&token| !(token ^ seed).is_multiple_of(3)) {
            (0..crate::hash::mix(token ^ seed) % 4).for_each(|_| count(&[token], &mut frequencies));
        }
    }
    ranks::ranks(&mut frequencies, usize::MAX, &Stop::default()).unwrap()
}

fn specs() -> [FeatureSpec; 5] {
    let words = FeatureSpec::WORDS;
    [
        words,
        FeatureSpec { multiset: false, ..words },
        FeatureSpec { shingle: 2, multiset: false, ..words },
        FeatureSpec { tokenizer: Tokenizer::Chars, shingle: 2, ..words },
        FeatureSpec { tokenizer: Tokenizer::Whitespace, ..words },
    ]
}

proptest! {
    #[test]
    fn tokens_with_one_mark_lose_no_pairs(
        tokens in prop::collection::vec(prop::collection::btree_set(0..18u8, 0..14), 0..30),
        measure in 0..4usize, parts in 1..9u32, seed in any::<u64>(),
        threshold in prop_oneof![Just(0.5), Just(0.8), 0.2..1.0],
        budget in prop_oneof![Just(0usize), Just(4000), Just(1 << 20)],
        known in prop::collection::vec(any::<bool>(), 30),
    ) {
        let sets: Vec<Vec<u64>> = tokens.iter().map(set_of_marked).collect();
        let measure = MEASURES[measure];
        let predicate = Predicate::new(measure, threshold).unwrap();
        let mut expected = naive(&sets, measure, threshold);
        let ranks = any_order(&sets, seed);
        prop_assert_eq!(&in_parts(&sets, predicate, parts, &ranks, budget), &expected);
        expected.retain(|&(a, b, _)| !(known[a as usize] && known[b as usize]));
        prop_assert_eq!(with_known(&sets, predicate, parts, &ranks, (budget, &known)), expected);
    }

    #[test]
    fn all_pairs_are_found(
        texts in prop::collection::vec(prop::collection::vec(0..12u8, 0..14), 0..30),
        spec in 0..5usize, measure in 0..4usize, parts in 1..9u32, seed in any::<u64>(),
        threshold in prop_oneof![Just(0.5), Just(0.8), Just(0.9), Just(1.0), Just(2.0 / 3.0), Just(0.75), 0.01..1.0],
        budget in prop_oneof![Just(0usize), Just(4000), Just(1 << 20)],
        kept in prop_oneof![Just(0usize), Just(3), Just(usize::MAX)],
        known in prop::collection::vec(any::<bool>(), 30),
    ) {
        let spec = specs()[spec];
        let text = |words: &Vec<u8>| words.iter().map(|w| format!("w{w}")).collect::<Vec<_>>().join(" ");
        let sets: Vec<Vec<u64>> = texts.iter().map(|words| set_of(&text(words), &spec)).collect();
        let measure = MEASURES[measure];
        let predicate = Predicate::new(measure, threshold).unwrap();
        let expected = naive(&sets, measure, threshold);
        prop_assert_eq!(&in_parts(&sets, predicate, parts, &any_order(&sets, seed), budget), &expected);
        let mut frequencies = TokenCounts::new(budget / TokenCounts::<u64>::ENTRY);
        for set in &sets {
            count(set, &mut frequencies);
        }
        let ranks = ranks::ranks(&mut frequencies, kept, &Stop::default()).unwrap();
        prop_assert_eq!(&in_parts(&sets, predicate, parts, &ranks, budget), &expected);
        let mut unknown = expected.clone();
        unknown.retain(|&(a, b, _)| !(known[a as usize] && known[b as usize]));
        prop_assert_eq!(with_known(&sets, predicate, parts, &ranks, (budget, &known)), unknown);
        // The similarities themselves as thresholds.
        for &(_, _, similarity) in expected.iter().take(3) {
            let threshold = f64::from_bits(similarity);
            let predicate = Predicate::new(measure, threshold).unwrap();
            let found = in_parts(&sets, predicate, parts, &ranks, budget);
            prop_assert_eq!(found, naive(&sets, measure, threshold));
        }
    }

    /// Tests that any bytes lead to an error or to a value.
    #[test]
    fn any_bytes(
        bytes in prop::collection::vec(any::<u8>(), 0..60), is_order in any::<bool>(),
        cut in any::<prop::sample::Index>(), with in any::<u8>(), size in any::<u32>(),
    ) {
        let mut bytes = bytes;
        let mut frequencies = TokenCounts::new(0);
        let set = set_of("a b c a", &FeatureSpec::WORDS);
        if is_order {
            count(&set, &mut frequencies);
            count(&set, &mut frequencies);
            bytes = ranks::ranks(&mut frequencies, 9, &Stop::default()).unwrap();
            let at = cut.index(bytes.len());
            bytes[at] = with;
        }
        if let Ok(ranks) = TokenRanks::parse(&bytes) {
            let places = TokenPlaces::new(&ranks).unwrap();
            let some = [0, u64::MAX, u64::from(size)];
            let _ = (some.map(|token| ranks.rank(token)), ranks.with(&places).of_each(some));
        }
        let _ = groups::for_each_token(&bytes, size, |_, place| {
            assert!(place < size);
            Ok(())
        });
        let mut part = Part::new(Predicate::new(Measure::Jaccard, 0.5).unwrap(), MemoryFiles, 1 << 20);
        for shared in [Shared::Tokens(&bytes), Shared::Keys(&bytes), Shared::Keys(&[1; 17])] {
            for bitmap in [&bytes[..], &[1; 9]] {
                let _ = part.add(1, size, bitmap, shared, false);
            }
        }
        part.candidates(&PlainThreads(1), &mut |_, _| Ok(())).unwrap();
    }

    #[test]
    fn ranks_are_found(tokens in prop::collection::btree_map(prop_oneof![any::<u64>(), 0..9u64, u64::MAX - 9..=u64::MAX], 1..9u32, 0..200), other in any::<u64>()) {
        let header = [1, 0, 0, 0, 0, 0, 0, 0].to_vec();
        let hashes = tokens.keys().flat_map(|token| token.to_le_bytes());
        let bytes: Vec<u8> = header.into_iter().chain(hashes).chain(tokens.values().flat_map(|r| r.to_le_bytes())).collect();
        let ranks = TokenRanks::parse(&bytes).unwrap();
        let places = TokenPlaces::new(&ranks).unwrap();
        for token in tokens.keys().copied().chain([0, 1, other, u64::MAX]) {
            let rank = tokens.get(&token).copied().unwrap_or(0);
            prop_assert_eq!(ranks.rank(token), rank);
            prop_assert_eq!(ranks.of_each([token, other])[0], rank);
            prop_assert_eq!(ranks.with(&places).of_each([token, other])[0], rank);
        }
    }
}

#[test]
fn forgets_the_rare_ones_where_memory_is_short() {
    let mut frequencies = TokenCounts::new(0);
    let common = set_of("the of and", &FeatureSpec::WORDS);
    for n in 0..200 {
        let rare: Vec<String> = (0..100).map(|word| format!("w{n}x{word}")).collect();
        count(&set_of(&rare.join(" "), &FeatureSpec::WORDS), &mut frequencies);
        count(&common, &mut frequencies);
    }
    let bytes = ranks::ranks(&mut frequencies, 10, &Stop::default()).unwrap();
    let ranks = TokenRanks::parse(&bytes).unwrap();
    assert_eq!(ranks.len(), 3);
    assert!(common.iter().all(|&hash| ranks.rank(hash) > 0));
}
