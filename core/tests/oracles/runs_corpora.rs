//! Repeated runs of real corpora against their definition: a dictionary of all windows. Corpora are
//! in the folder NEARDUP_DATA.

use std::collections::HashMap;

use neardup_core::executor::{PlainThreads, Stop};
use neardup_core::features::runs::places::token_places;
use neardup_core::features::runs::tokens::read_tokens;
use neardup_core::features::tokens::Scratch;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::repeats;
use neardup_core::repeats::{RunParameters, Unit};
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::{Corpus, Document, Tokenizer, html_text};

use crate::common::corpora;
use crate::common::runs::{Run, joined};

/// The tokens of all texts, as numbers.
fn numbered(texts: &[String], tokenizer: Tokenizer) -> Vec<Vec<u32>> {
    let mut numbers: HashMap<u64, u32> = HashMap::new();
    let mut scratch = Scratch::default();
    let mut read = |text: &String| {
        let mut tokens = Vec::new();
        read_tokens(&Document::from(text.as_str()), tokenizer, &mut scratch, &mut tokens, &Stop::default())
            .unwrap();
        let number = |token: &u64| {
            let next = numbers.len() as u32;
            *numbers.entry(*token).or_insert(next)
        };
        tokens.iter().map(number).collect()
    };
    texts.iter().map(&mut read).collect()
}

fn by_definition(tokens: &[Vec<u32>], least: usize) -> Vec<Run> {
    // The first place of each content, the last document that has it, and their number.
    let mut contents: HashMap<&[u32], (usize, usize, usize, usize)> = HashMap::new();
    for (row, text) in tokens.iter().enumerate() {
        for (place, window) in text.windows(least).enumerate() {
            let entry = contents.entry(window).or_insert((row, place, row, 1));
            entry.3 += usize::from(entry.2 != row);
            entry.2 = row;
        }
    }
    let places = tokens.iter().enumerate().flat_map(|(row, text)| {
        text.windows(least).enumerate().map(move |(place, window)| ((row, place), window))
    });
    joined(places.filter_map(|(at, window)| {
        let (of_row, of_place, _, documents) = contents[window];
        ((of_row, of_place) != at).then_some((at, (of_row, of_place, documents)))
    }))
}

fn found(texts: &[String], parameters: &RunParameters, threads: usize, budget: usize) -> Vec<Vec<usize>> {
    let mut corpus = Corpus::of_texts(texts);
    let resources = Resources { files: &MemoryFiles, budget, executor: &PlainThreads(threads) };
    let mut runs = repeats::runs(parameters, &mut Reading::new(&mut corpus, &mut Quiet, resources)).unwrap();
    let next = || {
        let run = runs.next(&PlainThreads(1)).unwrap()?;
        let (row, of_row) = (run.row as usize, run.of_row as usize);
        let spans = [run.span.start, run.span.end, run.of_span.start, run.of_span.end];
        Some([vec![row, of_row, run.tokens as usize, run.documents as usize], spans.to_vec()].concat())
    };
    std::iter::from_fn(next).collect()
}

#[test]
fn runs_of_corpora_are_those_of_the_definition() {
    let Some(folder) = corpora::folder("repeated runs") else { return };
    for name in corpora::names(&folder) {
        let mut texts = corpora::texts(&folder, &name);
        // The dictionary of larger corpora takes gigabytes, and minutes.
        let mut bytes = 0;
        texts.retain(|text| {
            bytes += text.len();
            bytes <= 2 << 20
        });
        let pages = name.starts_with("html").then(|| texts.clone());
        if pages.is_some() {
            texts = texts.iter().map(|text| html_text(text, None)).collect();
        }
        for (tokenizer, least) in [
            (Tokenizer::Words, 50),
            (Tokenizer::Words, 12),
            (Tokenizer::Chars, 100),
            (Tokenizer::Whitespace, 1000),
        ] {
            if tokenizer == Tokenizer::Chars && bytes > 2 << 20 {
                continue;
            }
            let tokens = numbered(&texts, tokenizer);
            let mut last = (usize::MAX, Vec::new());
            let mut place = |row: usize, token: usize| {
                if last.0 != row {
                    token_places(&texts[row], tokenizer, &Stop::default(), &mut last.1).unwrap();
                    last.0 = row;
                }
                last.1[token].chars.clone()
            };
            let runs = by_definition(&tokens, least);
            let expected: Vec<Vec<usize>> = runs
                .iter()
                .map(|&[row, from, to, of, of_from, documents]| {
                    let length = to - from + least;
                    let span = [place(row, from).start, place(row, from + length - 1).end];
                    let source = [place(of, of_from).start, place(of, of_from + length - 1).end];
                    vec![row, of, length, documents, span[0], span[1], source[0], source[1]]
                })
                .collect();
            let parameters =
                RunParameters { unit: Unit::Window(least), tokenizer, ..RunParameters::default() };
            let of_pages = pages
                .as_ref()
                .filter(|_| tokenizer == Tokenizer::Words)
                .map(|pages| (pages, RunParameters { tokenizer: Tokenizer::Html, ..parameters }, 2, 1 << 24));
            let of_texts =
                [(1, 1 << 28), (3, 1 << 20)].map(|(threads, budget)| (&texts, parameters, threads, budget));
            for (texts, parameters, threads, budget) in of_texts.into_iter().chain(of_pages) {
                let found = found(texts, &parameters, threads, budget);
                assert!(
                    found == expected,
                    "{name}, {:?}, {least}, {threads} threads: {} runs, not {}",
                    parameters.tokenizer,
                    found.len(),
                    expected.len()
                );
            }
            corpora::say(&format!("{name}: {} runs of at least {least} tokens, {tokenizer:?}", runs.len()));
        }
    }
}
