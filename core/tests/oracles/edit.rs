//! The join by edit distance against its specification: all pairs, with a table filled in cell by
//! cell.

use neardup_core::executor::{Executor, PlainThreads};
use neardup_core::hash::mix;
use neardup_core::joins::Algorithm;
use neardup_core::joins::Counts;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::edit::Edit;
use neardup_core::verify::edit::{EditPredicate, similarity};
use proptest::prelude::*;

use crate::common::cases;
use crate::common::frequent_words::sentences;
use crate::common::pages::pages;
use crate::common::run::{ENOUGH, Found, Interrupted, find};

/// Joins texts, with rows from `right_from` on as a second table.
fn join_with(
    texts: &[String],
    right_from: Option<usize>,
    threshold: f64,
    executor: &dyn Executor,
    budget: usize,
) -> (Found, Counts) {
    join_by(Algorithm::Auto, texts, right_from, threshold, executor, budget)
}

fn join_by(
    algorithm: Algorithm,
    texts: &[String],
    right_from: Option<usize>,
    threshold: f64,
    executor: &dyn Executor,
    budget: usize,
) -> (Found, Counts) {
    let predicate = EditPredicate::new(threshold).unwrap();
    join_of(Edit { predicate, algorithm, word_order: true }, texts, right_from, executor, budget)
}

fn join_of(
    method: Edit,
    texts: &[String],
    right_from: Option<usize>,
    executor: &dyn Executor,
    budget: usize,
) -> (Found, Counts) {
    let (found, account) = find(&method, Corpus::of_texts(texts).split(right_from), executor, budget);
    (found, account.counts)
}

fn join(texts: &[String], right_from: Option<usize>, threshold: f64, threads: usize) -> Found {
    let (found, counts) = join_with(texts, right_from, threshold, &PlainThreads(threads), ENOUGH);
    let one = join_with(texts, right_from, threshold, &PlainThreads(1), ENOUGH);
    assert_eq!((&found, counts), (&one.0, one.1), "threads make no difference");
    let blocks = join_with(texts, right_from, threshold, &PlainThreads(threads), 0).0;
    assert_eq!(found, blocks, "memory makes no difference");
    for algorithm in [Algorithm::AllPairs, Algorithm::PpJoin, Algorithm::PpJoinPlus(2)] {
        let other = join_by(algorithm, texts, right_from, threshold, &PlainThreads(threads), ENOUGH).0;
        assert_eq!(found, other, "{algorithm:?} makes no difference");
    }
    found
}

/// What a pair is: the greatest distance, the least similarity, and whether swaps are one edit.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    most: u32,
    threshold: Option<f64>,
    swaps: bool,
}

impl Wanted {
    fn predicate(&self) -> EditPredicate {
        let predicate = match self.threshold {
            None => EditPredicate::within(self.most),
            Some(threshold) => EditPredicate::new(threshold).unwrap().and_within(self.most),
        };
        predicate.with_swaps(self.swaps)
    }
}

/// All pairs, by every algorithm and in every memory.
fn join_within(texts: &[String], right_from: Option<usize>, wanted: Wanted, threads: usize) -> Found {
    let predicate = wanted.predicate();
    let found = |algorithm, threads, budget| {
        let corpus = Corpus::of_texts(texts).split(right_from);
        find(&Edit { predicate, algorithm, word_order: true }, corpus, &PlainThreads(threads), budget).0
    };
    let all = found(Algorithm::Auto, threads, ENOUGH);
    assert_eq!(all, found(Algorithm::Auto, 1, 0), "threads and memory make no difference");
    for algorithm in [Algorithm::AllPairs, Algorithm::PpJoin, Algorithm::PpJoinPlus(2)] {
        assert_eq!(all, found(algorithm, threads, ENOUGH), "{algorithm:?} makes no difference");
    }
    all
}

/// The definition of the distance; with swaps, of optimal string alignment.
pub fn distance(x: &[char], y: &[char], swaps: bool) -> u32 {
    let mut row: Vec<u32> = (0..=y.len() as u32).collect();
    let mut above = Vec::new();
    for (i, a) in x.iter().enumerate() {
        let last = std::mem::replace(&mut row, vec![i as u32 + 1]);
        for (j, b) in y.iter().enumerate() {
            let mut cost = (last[j] + u32::from(a != b)).min(row[j] + 1).min(last[j + 1] + 1);
            if swaps && i > 0 && j > 0 && *a == y[j - 1] && x[i - 1] == *b {
                cost = cost.min(above[j - 1] + 1);
            }
            row.push(cost);
        }
        above = last;
    }
    row[y.len()]
}

/// The specification.
fn naive(texts: &[String], right_from: Option<usize>, threshold: f64) -> Found {
    naive_within(texts, right_from, Wanted { most: u32::MAX, threshold: Some(threshold), swaps: false })
}

fn naive_within(texts: &[String], right_from: Option<usize>, wanted: Wanted) -> Found {
    let Wanted { most, threshold, swaps } = wanted;
    let texts: Vec<Vec<char>> = texts.iter().map(|text| text.chars().collect()).collect();
    let mut found = Vec::new();
    for left in 0..right_from.unwrap_or(texts.len()) {
        for right in right_from.unwrap_or(left + 1)..texts.len() {
            let (x, y) = (&texts[left], &texts[right]);
            let longer = x.len().max(y.len()) as u32;
            let distance = distance(x, y, swaps);
            let similarity = similarity(distance, longer);
            // An empty text is similar to nothing, however short the other one.
            let has_both = !x.is_empty() && !y.is_empty();
            if has_both && distance <= most && threshold.is_none_or(|threshold| similarity >= threshold) {
                found.push((left as u32, right as u32, similarity.to_bits()));
            }
        }
    }
    found
}

/// Texts that make pairs: tiny ones, empty ones, and copies of a few with some characters changed.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let bases = ["Ellis, port of", "近似文本的检测与合并方法", "aaacaaabaaac", "🙂🙃 emoji é e\u{301}"];
    let edit = (any::<prop::sample::Index>(), 0..5u8, "[a-c字🙂 ]");
    let copy = (prop::sample::select(bases.to_vec()), 1..4usize, prop::collection::vec(edit, 0..5));
    let copy = copy.prop_map(|(base, times, edits)| {
        let mut text: Vec<char> = base.repeat(times).chars().collect();
        for (at, kind, c) in edits {
            let at = at.index(text.len());
            match kind {
                0 => text[at] = c.chars().next().unwrap(),
                1 => text.insert(at, c.chars().next().unwrap()),
                2 => drop(text.remove(at)),
                _ => text.swap(at, at.saturating_sub(1)),
            }
        }
        text.into_iter().collect()
    });
    let text = prop_oneof![4 => "[ab]{0,9}", 2 => "[a-c字]{0,4}", 6 => copy, 1 => Just(String::new())];
    prop::collection::vec(text, 0..40)
}

fn thresholds() -> impl Strategy<Value = f64> {
    let ratio = (1..=20u32, 1..=20u32).prop_map(|(a, b)| f64::from(a.min(b)) / f64::from(a.max(b)));
    let common = prop::sample::select(vec![0.8, 0.5, 0.75, 2.0 / 3.0, 0.9, 1.0, 1e-12, 0.8f64.next_up()]);
    prop_oneof![ratio, 0.01..1.0f64, common]
}

proptest! {
    #![proptest_config(cases::cases(400))]

    #[test]
    fn self_join_equals_all_pairs(texts in texts(), threshold in thresholds(), threads in 1..4usize) {
        prop_assert_eq!(join(&texts, None, threshold, threads), naive(&texts, None, threshold));
    }

    #[test]
    fn join_of_two_tables_equals_all_pairs(
        texts in texts(),
        threshold in thresholds(),
        threads in 1..4usize,
        at in 0..40usize,
    ) {
        let from = Some(at.min(texts.len()));
        prop_assert_eq!(join(&texts, from, threshold, threads), naive(&texts, from, threshold));
    }
}

proptest! {
    #![proptest_config(cases::cases(300))]

    #[test]
    fn pairs_within_a_distance(
        texts in texts(),
        distance in prop_oneof![0..8u32, 8..60u32, Just(u32::MAX)],
        threshold in prop::option::of(thresholds()),
        threads in 1..4usize,
        at in prop::option::of(0..40usize),
        swaps: bool,
    ) {
        let from = at.map(|at| at.min(texts.len()));
        let wanted = Wanted { most: distance, threshold, swaps };
        prop_assert_eq!(join_within(&texts, from, wanted, threads), naive_within(&texts, from, wanted));
    }
}

/// Texts of as many characters, all distinct, as far apart as they may be: of all partners of a
/// text those of its own length have the most characters of their own.
#[test]
fn equal_lengths_in_two_tables() {
    let character = |n: u64| char::from_u32(0x4e00 + (mix(n) % 20_000) as u32).unwrap();
    let text = |n: u64, length: u64| -> String { (0..length).map(|k| character(n << 16 | k)).collect() };
    for (threshold, length, changed) in [(2.0 / 3.0, 60, 20), (0.5, 40, 20), (0.8, 300, 60)] {
        let pairs = 60;
        let mut texts: Vec<String> = (0..pairs).map(|n| text(n, length)).collect();
        // Others of all lengths, so that there are partners of all lengths.
        texts.extend((0..2 * length).map(|n| text(5000 + n, n + 1)));
        let left = texts.len();
        for n in 0..pairs as usize {
            let mut other: Vec<char> = texts[n].chars().collect();
            for (k, place) in (0..changed).map(|k| (k, k * length / changed)) {
                other[place as usize] = character(1 << 40 | (n as u64) << 16 | k);
            }
            texts.push(other.into_iter().collect());
        }
        texts.extend((0..2 * length).map(|n| text(9000 + n, n + 1)));
        let (found, _) = join_with(&texts, Some(left), threshold, &PlainThreads(1), ENOUGH);
        assert!(found.len() >= pairs as usize, "{threshold}: {} of {pairs}", found.len());
    }
}

/// Texts whose words are in another order are compared as if they were in the same order.
#[test]
fn words_in_any_order() {
    let word =
        |n: u64, k: u64| ["Ann ", "van", "Dam\n", "\u{3000}Bo", "Anna "][(mix(n << 8 | k) % 5) as usize];
    let texts: Vec<String> = (0..120)
        .map(|n| (0..n % 4).fold(String::new(), |text, k| format!("{text} {}", word(n, k))))
        .collect();
    let sorted: Vec<String> = texts
        .iter()
        .map(|text| {
            let mut words: Vec<&str> = text.split_whitespace().collect();
            words.sort_unstable();
            words.join(" ")
        })
        .collect();
    for (threshold, from) in [(0.6, None), (0.8, Some(40)), (1.0, None)] {
        let predicate = EditPredicate::new(threshold).unwrap();
        let method = Edit { predicate, algorithm: Algorithm::Auto, word_order: false };
        let (found, _) = join_of(method, &texts, from, &PlainThreads(2), ENOUGH);
        assert!(found.len() > 50);
        assert_eq!(found, naive(&sorted, from, threshold));
    }
}

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// Pairs that share no gram of three characters, and pairs at the threshold.
#[test]
fn traps() {
    let texts = strings(&["aaac", "aabc", "abcde", "abXde", "a", "b", "a", "", ""]);
    let rows = |threshold| -> Vec<(u32, u32, f64)> {
        join(&texts, None, threshold, 2).into_iter().map(|(a, b, s)| (a, b, f64::from_bits(s))).collect()
    };
    assert_eq!(rows(1.0), [(4, 6, 1.0)]);
    assert_eq!(rows(0.8), [(2, 3, 0.8), (4, 6, 1.0)]);
    assert_eq!(rows(0.75), [(0, 1, 0.75), (2, 3, 0.8), (4, 6, 1.0)]);
    assert_eq!(rows(0.8f64.next_up()), [(4, 6, 1.0)]);
    for size in 0..3 {
        for from in [None, Some(0), Some(size)] {
            assert_eq!(join(&texts[..size], from, 0.5, 3), naive(&texts[..size], from, 0.5));
        }
    }
}

/// All short texts of two letters: many are anagrams, and every length meets every other.
#[test]
fn all_short_texts() {
    let mut texts = Vec::new();
    for length in 1..=6 {
        for bits in 0..1u32 << length {
            texts.push((0..length).map(|n| if bits >> n & 1 == 1 { 'b' } else { 'a' }).collect::<String>());
        }
    }
    for threshold in [0.1, 0.2, 1.0 / 3.0, 0.4, 0.5, 0.6, 2.0 / 3.0, 0.7, 0.75, 0.8, 5.0 / 6.0, 0.9] {
        assert_eq!(join(&texts, None, threshold, 2), naive(&texts, None, threshold), "{threshold}");
        assert_eq!(join(&texts, Some(60), threshold, 2), naive(&texts, Some(60), threshold), "{threshold}");
        let wanted = Wanted { most: u32::MAX, threshold: Some(threshold), swaps: true };
        for from in [None, Some(60)] {
            let found = join_within(&texts, from, wanted, 2);
            assert_eq!(found, naive_within(&texts, from, wanted), "{threshold}");
        }
    }
}

#[test]
fn many_equal_texts() {
    let mut texts = vec!["The quick brown fox".to_owned(); 200];
    texts.extend(vec!["The quick brown fog".to_owned(); 100]);
    texts.extend(vec![String::new(); 50]);
    for threshold in [0.9, 1.0] {
        assert_eq!(join(&texts, None, threshold, 2), naive(&texts, None, threshold));
        assert_eq!(join(&texts, Some(250), threshold, 2), naive(&texts, Some(250), threshold));
    }
}

#[test]
fn long_texts_by_the_counts_of_their_grams() {
    for (script, swaps) in [(0, false), (0, true), (1, false), (1, true)] {
        let texts = sentences(script);
        for from in [None, Some(50)] {
            let wanted = Wanted { most: u32::MAX, threshold: Some(0.45), swaps };
            let all = naive_within(&texts, from, wanted);
            for threshold in [0.45, 0.6, 0.75, 0.8, 0.9, 0.97] {
                let mut expected = all.clone();
                expected.retain(|&(.., similarity)| f64::from_bits(similarity) >= threshold);
                assert!(!expected.is_empty(), "{script} {from:?} {threshold}");
                let predicate = Wanted { threshold: Some(threshold), ..wanted }.predicate();
                let method = Edit { predicate, algorithm: Algorithm::Auto, word_order: true };
                for (threads, budget) in [(1, ENOUGH), (3, 0), (2, 1 << 20)] {
                    let found = join_of(method, &texts, from, &PlainThreads(threads), budget).0;
                    assert_eq!(found, expected, "{script} {from:?} {threshold} {budget} {swaps}");
                }
                let interrupted = join_of(method, &texts, from, &Interrupted::default(), ENOUGH).0;
                assert_eq!(interrupted, expected, "{script} {from:?} {threshold} {swaps}");
            }
        }
    }
}

/// Pages of one template, and the pages that are equal are found without comparing any: two of each
/// of some, and three, five and fifty of one.
#[test]
fn pages_of_a_template() {
    for frame in [10, 30, 50, 70, 90] {
        let mut texts = pages(70, 30, frame);
        texts.extend_from_within(10..18);
        for (page, copies) in [(20, 2), (21, 4), (22, 49)] {
            texts.extend(vec![texts[page].clone(); copies]);
        }
        for from in [None, Some(35)] {
            let all = naive(&texts, from, 0.7);
            for threshold in [0.7, 0.9] {
                let (found, _) = join_with(&texts, from, threshold, &PlainThreads(2), ENOUGH);
                let mut expected = all.clone();
                expected.retain(|&(.., similarity)| f64::from_bits(similarity) >= threshold);
                assert_eq!(found, expected, "{frame} {from:?} {threshold}");
                let interrupted = join_with(&texts, from, threshold, &Interrupted::default(), 0).0;
                assert_eq!(interrupted, expected, "{frame} {from:?} {threshold}");
            }
            let (found, counts) = join_with(&texts, from, 1.0, &PlainThreads(2), ENOUGH);
            let of_one = |copies: usize| if from.is_some() { copies } else { copies * (copies + 1) / 2 };
            assert_eq!(found.len(), 8 + of_one(2) + of_one(4) + of_one(49));
            assert!(counts.candidates == 0 && counts.verified <= 11, "{counts:?}");
        }
    }
}

/// Long texts that nearly agree, long texts of the same pieces in another order, and long unlike
/// ones.
#[test]
fn long_texts() {
    const LENGTH: u64 = 100_000;
    let random =
        |seed: u64| move |n: u64| char::from(b'a' + (neardup_core::hash::mix(seed << 32 | n) % 20) as u8);
    let base: String = (0..LENGTH).map(random(1)).collect();
    let mut texts: Vec<String> = (0..12)
        .map(|n| {
            let mut text = base.clone();
            for edit in 0..n * 10 {
                text.replace_range(edit * 800 + n..edit * 800 + n + 1, "XY");
            }
            text
        })
        .collect();
    let pieces: Vec<&str> = (0..100).map(|n| &base[n * 1000..(n + 1) * 1000]).collect();
    for seed in 0..4 {
        let mut order: Vec<usize> = (0..pieces.len()).collect();
        order.sort_by_key(|&piece| neardup_core::hash::mix(seed << 32 | piece as u64));
        texts.push(order.into_iter().map(|piece| pieces[piece]).collect());
    }
    texts.extend((2..6).map(|seed| (0..LENGTH).map(random(seed)).collect()));
    let began = std::time::Instant::now();
    let found = join_with(&texts, None, 0.8, &PlainThreads(2), ENOUGH).0;
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
    assert_eq!(found.len(), 12 * 11 / 2);
    assert_eq!(found[0], (0, 1, similarity(20, LENGTH as u32 + 10).to_bits()));
}

#[test]
fn stopped_work_goes_on() {
    let texts: Vec<String> =
        (0..300u64).map(|n| format!("record {} of {}", neardup_core::hash::mix(n) % 500, n % 7)).collect();
    let executor = Interrupted::default();
    assert_eq!(join_with(&texts, None, 0.8, &executor, ENOUGH).0, naive(&texts, None, 0.8));
}
