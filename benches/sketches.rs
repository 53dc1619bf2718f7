//! How fast documents become sketches on one core: the same token sets as other programs get, and
//! from text.
//!
//!     cargo bench -p neardup-benches --bench sketches -- FILE.tsv
//!
//! FILE.tsv has id, tab, text. A line for each task: its name, seconds (the best of three),
//! documents.

use std::hint::black_box;
use std::time::Instant;

use neardup_core::executor::Stop;
use neardup_core::features::tokens::{Document, Scratch, Token, for_each_token};
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::hash;
use neardup_core::sketches::minhash::Minhasher;
use neardup_core::sketches::simhash::Simhasher;
use neardup_core::text::words::words;

/// The best time of three, with the number of documents.
fn report(task: &str, documents: usize, mut run: impl FnMut()) {
    let seconds = |_| {
        let began = Instant::now();
        run();
        began.elapsed().as_secs_f64()
    };
    let best = (0..3).map(seconds).fold(f64::INFINITY, f64::min);
    println!("{task}|{best:.4}|{documents}");
}

fn main() {
    let Some(path) = std::env::args().skip(1).find(|argument| !argument.starts_with("--")) else {
        println!("usage: cargo bench -p neardup-benches --bench sketches -- FILE.tsv");
        return;
    };
    let text = std::fs::read_to_string(&path).expect("a file of UTF-8");
    let texts: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('\t')?.1)).collect();
    // As the other programs get them: strings of five words, without repeats.
    let sets: Vec<Vec<String>> = texts
        .iter()
        .map(|text| words(text))
        .filter(|words| !words.is_empty())
        .map(|words| {
            let mut set: Vec<String> =
                words.windows(words.len().min(5)).map(|window| window.join(" ")).collect();
            set.sort_unstable();
            set.dedup();
            set
        })
        .collect();
    report("minhash of ready sets, 128 permutations", sets.len(), || {
        let mut hasher = Minhasher::new(128, 1);
        for set in &sets {
            hasher.clear();
            set.iter().for_each(|token| hasher.add(hash::hash_bytes(token.as_bytes())));
            black_box(hasher.values());
        }
    });
    let documents: Vec<Document> = texts.iter().map(|&text| Document::Text(text.to_owned())).collect();
    let (mut scratch, stop) = (Scratch::default(), Stop::default());
    let spec = |shingle| FeatureSpec { tokenizer: Tokenizer::Words, shingle, multiset: false, wrap: false };
    report("minhash from text, 5 words, 128 permutations", documents.len(), || {
        let mut hasher = Minhasher::new(128, 1);
        for document in &documents {
            hasher.clear();
            let add = |token: Token<'_>| {
                hasher.add(token.element());
                Ok(())
            };
            for_each_token(document, &spec(5), &mut scratch, &stop, add).expect("memory");
            black_box(hasher.values());
        }
    });
    for bits in [64, 384, 1024] {
        report(&format!("simhash from text, {bits} bits"), documents.len(), || {
            let mut hasher = Simhasher::new(bits);
            for document in &documents {
                hasher.clear();
                let add = |token: Token<'_>| {
                    hasher.add(token.element());
                    Ok(())
                };
                for_each_token(document, &spec(1), &mut scratch, &stop, add).expect("memory");
                black_box(hasher.bits());
            }
        });
    }
}
