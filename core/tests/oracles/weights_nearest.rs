//! The nearest of each by words that weigh, against all rows, sorted by similarity and then by id.

use std::collections::BTreeMap;
use std::sync::Arc;

use neardup_core::executor::{Executor, PlainThreads};
use neardup_core::features::FeatureSpec;
use neardup_core::features::dictionary::weights::{Weighing, Weights, squared};
use neardup_core::joins::nearest::pieces::NearestSearch;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::nearest;
use neardup_core::methods::reading::Reading;
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::verify::measure::Measure;
use proptest::prelude::*;

use crate::common::cases;
use crate::common::run::{ENOUGH, Interrupted};
use crate::nearest_across::Sourced;
use crate::weights::{Bags, MEASURES, bags, idf_of, listed, texts};

/// A row, its rank, the row that is near to it, and the bits of their similarity.
type Near = (u32, u64, u32, u64);

/// The specification, for some of the rows: only rows of different sources are compared.
fn naive(
    bags: &Bags,
    by_word: &BTreeMap<String, u16>,
    sources: Option<&[u32]>,
    (measure, k): (Measure, usize),
    rows: impl Iterator<Item = usize>,
) -> Vec<Near> {
    let weight = |word: &String| {
        let weight = by_word[word];
        u32::from(if measure == Measure::Cosine { squared(weight) } else { weight })
    };
    let sizes: Vec<u32> = bags.iter().map(|bag| bag.iter().map(|(word, n)| n * weight(word)).sum()).collect();
    let of_row = |row: usize| {
        let are_compared = |other: &usize| match sources {
            None => *other != row,
            Some(sources) => sources[*other] != sources[row],
        };
        let shared = |other: usize| {
            let of_word = |(word, n): (&String, &u32)| Some(*n.min(bags[other].get(word)?) * weight(word));
            bags[row].iter().filter_map(of_word).sum::<u32>()
        };
        let near = |other: usize| {
            let [x, y] = [sizes[row].max(sizes[other]), sizes[row].min(sizes[other])];
            (measure.similarity(shared(other), x, y), other)
        };
        let mut all: Vec<(f64, usize)> = (0..bags.len()).filter(are_compared).map(near).collect();
        all.retain(|near| near.0 > 0.0);
        all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let ranked = all.into_iter().take(k).zip(1..);
        ranked
            .map(|((near, other), rank)| (row as u32, rank, other as u32, near.to_bits()))
            .collect::<Vec<_>>()
    };
    rows.flat_map(of_row).collect()
}

/// What the search finds if records are searched for by lists where counting takes longer than
/// `short`.
fn found(
    texts: &[String],
    weights: &Weights,
    sources: Option<&[u32]>,
    (measure, k): (Measure, usize),
    (short, multiset): (u64, bool),
    (budget, executor): (usize, &dyn Executor),
) -> Vec<Near> {
    let resources = Resources { files: &MemoryFiles, budget, executor };
    let (mut plain, mut sourced, mut quiet);
    quiet = Quiet;
    let mut reading = match sources {
        None => {
            plain = Corpus::of_texts(texts);
            Reading::new(&mut plain, &mut quiet, resources)
        }
        Some(sources) => {
            sourced = Sourced(Corpus::of_texts(texts), sources.to_vec());
            Reading::new(&mut sourced, &mut quiet, resources)
        }
    };
    let weighing = Weighing { weights: weights.clone(), squares: measure == Measure::Cosine };
    let spec = FeatureSpec { multiset, ..FeatureSpec::WORDS };
    let ordered = nearest::ordered(spec, weighing, &mut reading).unwrap();
    let how = NearestSearch { measure, k, short, sources: None };
    let mut rows = nearest::of_ordered(ordered, how, &mut reading).unwrap();
    let mut found = Vec::new();
    let take = |near: neardup_core::joins::nearest::found::NearestRow| {
        found.push((near.row, near.rank, near.nearest, near.similarity.to_bits()));
        Ok(())
    };
    rows.for_each(executor, take).unwrap();
    found.sort_unstable();
    found
}

proptest! {
    #![proptest_config(cases::cases(60))]

    #[test]
    fn nearest_by_words_that_weigh_equal_all_rows_sorted(
        texts in texts(),
        k in prop_oneof![1..4usize, 4..50usize],
        multiset in any::<bool>(),
        sources in prop::option::of(prop::collection::vec(0..3u32, 40)),
        threads in 1..4usize,
    ) {
        let sources = sources.as_ref().map(|sources| &sources[..texts.len()]);
        let bags = bags(&texts, multiset);
        let by_idf = idf_of(&bags);
        let (list, by_list) = listed(&by_idf, 8.0);
        for (weights, by_word) in [(Weights::Idf, by_idf), (Weights::Words(Arc::new(list)), by_list)] {
            for measure in MEASURES {
                let expected = naive(&bags, &by_word, sources, (measure, k), 0..texts.len());
                let executor: &dyn Executor = &PlainThreads(threads);
                let interrupted = Interrupted::default();
                for (short, budget, executor) in [
                    (0, ENOUGH, executor),
                    (u64::MAX, ENOUGH, executor),
                    (8000, ENOUGH, &interrupted),
                    (8000, 6000, executor),
                    (0, 0, executor),
                ] {
                    let how = (budget, executor);
                    let found = found(&texts, &weights, sources, (measure, k), (short, multiset), how);
                    prop_assert_eq!(&found, &expected, "{:?} {:?} {} {}", measure, weights, short, budget);
                }
            }
        }
    }
}

/// Blocks of records with frequent tokens, in which much and little is similar.
#[test]
fn many_texts_of_several_blocks() {
    let texts: Vec<String> = (0..3_000u64)
        .map(|text| {
            let base = if text % 3 == 2 { text / 40 } else { text };
            let word = |n: u64| {
                let random =
                    neardup_core::hash::mix((if n.is_multiple_of(5) { text } else { base }) << 20 | n);
                match random % 10 {
                    0..5 => format!("frequent{}", random / 10 % 40),
                    5..8 => format!("word{}", random / 10 % 400),
                    _ => format!("rare{}", random / 10 % 20_000),
                }
            };
            (0..5 + neardup_core::hash::mix(base) % 60).map(word).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let bags = bags(&texts, true);
    let by_word = idf_of(&bags);
    for (measure, k, short) in
        [(Measure::Jaccard, 1, 0), (Measure::Cosine, 10, u64::MAX), (Measure::Overlap, 700, 8000)]
    {
        let expected = naive(&bags, &by_word, None, (measure, k), (0..texts.len()).step_by(97));
        for (budget, threads) in [(ENOUGH, 3), (1 << 20, 2)] {
            let executor = &PlainThreads(threads);
            let mut found =
                found(&texts, &Weights::Idf, None, (measure, k), (short, true), (budget, executor));
            found.retain(|near| near.0 % 97 == 0);
            assert_eq!(found, expected, "{measure:?} {k} {budget}");
        }
    }
}
