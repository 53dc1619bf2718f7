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
    let has = |b: &[String], window: &[String]| b.windows(least).any(|other| other == window);
    let counts = |window: &[String]| {
        let documents = all.iter().filter(|text| has(text, window)).count() as u64;
        method.max_documents.is_none_or(|most| documents <= most)
    };
    let covered = |a: &[String], b: &[String]| {
        let equal = |i: &usize| has(b, &a[*i..i + least]) && counts(&a[*i..i + least]);
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
        max_documents in prop_oneof![Just(None), (1..5u64).prop_map(Some)],
        tokenizer in prop_oneof![Just(Tokenizer::Words), Just(Tokenizer::Chars)],
    ) {
        // In one table the order of the rows of a pair says nothing.
        let of = if split.is_none() && matches!(of, RunShare::Left | RunShare::Right) { RunShare::Both } else { of };
        let method = Runs { min_run, of, threshold, max_documents, tokenizer };
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
            let share = method.max_documents.is_none().then_some(share);
            prop_assert_eq!(method.explain(&pair, &Stop::default()).unwrap().similarity, share);
        }
    }
}

fn of_words(min_run: usize, threshold: f64) -> Runs {
    let (of, tokenizer) = (RunShare::Smaller, Tokenizer::Words);
    Runs { min_run, of, threshold, max_documents: None, tokenizer }
}

fn similarities(texts: &[String], method: &Runs) -> Vec<(u32, u32, f64)> {
    let find = |threads, budget| {
        let resources = Resources { files: &MemoryFiles, budget, executor: &PlainThreads(threads) };
        let (mut found, _) = Corpus::of_texts(texts).pairs_with(method, resources).unwrap();
        found.sort_by_key(|pair| (pair.left, pair.right));
        found.iter().map(|pair| (pair.left, pair.right, pair.similarity)).collect::<Vec<_>>()
    };
    let found = find(1, 1 << 26);
    assert_eq!(found, find(3, 0), "other resources");
    found
}

#[test]
fn texts_at_the_edges() {
    let text = "one two three four five six".to_owned();
    let texts = [text.clone(), format!("zero {text}"), String::new(), "six".to_owned(), text];
    let all = [(0, 1, 1.0), (0, 3, 1.0), (0, 4, 1.0), (1, 3, 1.0), (1, 4, 1.0), (3, 4, 1.0)];
    assert_eq!(similarities(&texts, &of_words(1, 1.0)), all);
    assert_eq!(similarities(&texts, &of_words(6, 0.5)), [(0, 1, 1.0), (0, 4, 1.0), (1, 4, 1.0)]);
    for longer in [7, 8, 1 << 30] {
        assert_eq!(similarities(&texts, &of_words(longer, 0.5)), []);
    }
}

#[test]
fn one_token_very_often() {
    let texts = ["a ".repeat(300_000), "a ".repeat(200_000), "b a".to_owned()];
    assert_eq!(similarities(&texts, &of_words(12, 0.5)), [(0, 1, 1.0)]);
    let counted = Runs { max_documents: Some(1), ..of_words(12, 0.5) };
    assert_eq!(similarities(&texts, &counted), []);
}

#[test]
fn two_long_texts_with_a_run_at_the_very_end() {
    let text = |n: u32| (0..200_000).map(|i| format!("{n}w{i} ")).collect::<String>();
    let end: String = (0..12).map(|i| format!("end{i} ")).collect();
    let texts = [text(1) + &end, text(2) + &end, text(1) + &end];
    let share = 12.0 / 200_012.0;
    let expected = [(0, 1, share), (0, 2, 1.0), (1, 2, share)];
    assert_eq!(similarities(&texts, &of_words(12, 1e-9)), expected);
    assert_eq!(similarities(&texts, &of_words(13, 1e-9)), [(0, 2, 1.0)]);
}

#[test]
fn very_many_equal_short_texts() {
    let mut texts = vec!["one two three four".to_owned(); 2000];
    texts.push("zero one two three".to_owned());
    let found = similarities(&texts, &of_words(3, 0.5));
    assert_eq!(found.len(), 2000 * 1999 / 2 + 2000);
    // Equal texts count as many documents.
    let counted = |most| Runs { max_documents: Some(most), ..of_words(3, 0.5) };
    assert_eq!(similarities(&texts, &counted(2001)), found);
    let rest = similarities(&texts, &counted(2000));
    assert!(rest.len() == 2000 * 1999 / 2 && rest.iter().all(|pair| pair.2 == 0.75));
    assert_eq!(similarities(&texts, &counted(1999)), []);
}
