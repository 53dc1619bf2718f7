//! The method `runs` against its definition: all pairs of windows.

use std::collections::BTreeSet;

use neardup_core::parameters::RunShare;
use neardup_core::{
    Corpus, MemoryFiles, Method, PlainThreads, Resources, Runs, Stop, Tokenizer, TwoTexts, words,
};
use proptest::prelude::*;

fn tokens(text: &str, tokenizer: Tokenizer) -> Vec<String> {
    match tokenizer {
        Tokenizer::Words => words(text),
        // A run of white space within the text is one token.
        _ => text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase()
            .chars()
            .map(String::from)
            .collect(),
    }
}

/// Pairs by all pairs of windows.
fn pairs_by_definition(texts: &[String], split: Option<usize>, method: &Runs) -> Vec<(u32, u32, f64)> {
    let all: Vec<Vec<String>> = texts.iter().map(|text| tokens(text, method.tokenizer)).collect();
    let least = method.min_run;
    let covered = |a: &[String], b: &[String]| {
        let equal =
            |i: &usize| (0..(b.len() + 1).saturating_sub(least)).any(|j| a[*i..i + least] == b[j..j + least]);
        let places = (0..(a.len() + 1).saturating_sub(least)).filter(equal);
        places.flat_map(|i| i..i + least).collect::<BTreeSet<usize>>().len() as u32
    };
    let mut pairs = Vec::new();
    for i in 0..texts.len() {
        for j in i + 1..texts.len() {
            if split.is_some_and(|split| i >= split || j < split) {
                continue;
            }
            let shared = [covered(&all[i], &all[j]), covered(&all[j], &all[i])];
            let share = method.of.share(shared, [all[i].len() as u32, all[j].len() as u32]);
            if shared[0] > 0 && share >= method.threshold {
                pairs.push((i as u32, j as u32, share));
            }
        }
    }
    pairs
}

proptest! {
    #[test]
    fn pairs_are_those_of_the_definition(
        texts in prop::collection::vec(prop_oneof!["([abc][ .]){0,16}", "([ab]{1,2}[ .]){0,16}", "[甲乙 ]{0,12}"], 0..9),
        split in prop::option::of(0..9usize),
        min_run in 1..6usize,
        of in prop_oneof![
            Just(RunShare::Left), Just(RunShare::Right), Just(RunShare::Smaller), Just(RunShare::Larger),
            Just(RunShare::Both),
        ],
        threshold in prop_oneof![Just(0.01), Just(0.3), Just(0.5), Just(0.75), Just(1.0)],
        tokenizer in prop_oneof![Just(Tokenizer::Words), Just(Tokenizer::Chars)],
    ) {
        // In one table the order of the rows of a pair says nothing.
        let of = if split.is_none() && matches!(of, RunShare::Left | RunShare::Right) { RunShare::Both } else { of };
        let method = Runs { min_run, of, threshold, tokenizer };
        let split = split.map(|split| split.min(texts.len()));
        let expected = pairs_by_definition(&texts, split, &method);
        for (threads, budget) in [(1, 1 << 26), (3, 0)] {
            let resources = Resources { files: &MemoryFiles, budget, executor: &PlainThreads(threads) };
            let (mut found, _) = Corpus::of_texts(&texts).split(split).pairs_with(&method, resources).unwrap();
            found.sort_by_key(|pair| (pair.left, pair.right));
            let found: Vec<_> = found.iter().map(|pair| (pair.left, pair.right, pair.similarity)).collect();
            prop_assert_eq!(&found, &expected);
        }
        for &(left, right, share) in &expected {
            let pair = TwoTexts::new([&texts[left as usize], &texts[right as usize]]).unwrap();
            prop_assert_eq!(method.explain(&pair, &Stop::default()).unwrap().similarity, Some(share));
        }
    }
}
