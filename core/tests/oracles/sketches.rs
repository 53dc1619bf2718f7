//! Sketches of real documents: estimates without bias, with the standard error of the theory, and
//! bits that differ as the angle says.
//!
//! The corpora are the folder NEARDUP_DATA; without it there is nothing to
//! do. Pairs are neighbours in a list of documents sorted by text, which are often alike, and
//! arbitrary ones.

use std::collections::HashMap;

use neardup_core::executor::Stop;
use neardup_core::features::tokens::{Document, Scratch, Token, for_each_token};
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::sketches::minhash::{Minhasher, similarity};
use neardup_core::sketches::simhash::{Simhasher, hamming};

use crate::common::corpora;

const CORPORA: [&str; 4] = ["en_bible_a", "lic_scancode_a", "en_reuters_a", "zh_poetry_a"];

fn texts(corpus: &str) -> Option<Vec<String>> {
    let folder = corpora::folder("sketches")?;
    folder.join(corpus).is_dir().then(|| corpora::texts(&folder, corpus))
}

/// The hashes of the shingles of a text, in order.
fn hashes(text: &str, k: usize) -> Vec<u64> {
    let spec = FeatureSpec { tokenizer: Tokenizer::Words, shingle: k, multiset: false, wrap: false };
    let mut all = Vec::new();
    let document = Document::Text(text.to_owned());
    let element = |token: Token<'_>| {
        all.push(token.element());
        Ok(())
    };
    for_each_token(&document, &spec, &mut Scratch::default(), &Stop::default(), element)
        .expect("nobody stops it");
    all
}

/// Documents that are not empty, and pairs of them: their numbers.
fn pairs(mut texts: Vec<String>, k: usize) -> (Vec<Vec<u64>>, Vec<(usize, usize)>) {
    texts.sort();
    texts.dedup();
    let documents: Vec<Vec<u64>> =
        texts.iter().map(|text| hashes(text, k)).filter(|hashes| !hashes.is_empty()).take(2500).collect();
    let count = documents.len();
    let neighbours = (1..count).flat_map(|n| [(n - 1, n), (n.saturating_sub(2), n)]);
    let arbitrary = (0..count).map(|n| (n, n * 7919 % count));
    (documents, neighbours.chain(arbitrary).filter(|(a, b)| a != b).collect())
}

/// For seeds of their own, so that estimates are independent though documents are the same: the
/// errors in standard errors have the mean 0 and the spread 1, at every level of resemblance.
#[test]
fn minhash_of_real_documents_has_the_error_of_the_theory() {
    const PERMUTATIONS: u16 = 128;
    const SEEDS: i64 = 60;
    for corpus in CORPORA {
        let Some(texts) = texts(corpus) else { continue };
        let (documents, pairs) = pairs(texts, 3);
        let sets: Vec<Vec<u64>> = documents
            .into_iter()
            .map(|mut set| {
                set.sort_unstable();
                set.dedup();
                set
            })
            .collect();
        let resemblance = |a: &[u64], b: &[u64]| {
            let shared = a.iter().filter(|hash| b.binary_search(hash).is_ok()).count();
            shared as f64 / (a.len() + b.len() - shared) as f64
        };
        let true_ones: Vec<f64> = pairs.iter().map(|&(a, b)| resemblance(&sets[a], &sets[b])).collect();
        // By tenth of resemblance: how many, sum and sum of squares of errors in standard errors.
        let mut levels = [(0u32, 0.0, 0.0); 10];
        for seed in 0..SEEDS {
            let mut hasher = Minhasher::new(PERMUTATIONS, seed);
            let sketches: Vec<Vec<u32>> = sets
                .iter()
                .map(|set| {
                    hasher.clear();
                    set.iter().for_each(|&hash| hasher.add(hash));
                    hasher.values().expect("not empty").to_vec()
                })
                .collect();
            for (&(a, b), &truth) in pairs.iter().zip(&true_ones) {
                let agreeing = sketches[a].iter().zip(&sketches[b]).filter(|(x, y)| x == y).count();
                let estimate = similarity(agreeing as u32, PERMUTATIONS);
                let expected = (truth * (1.0 - truth) / f64::from(PERMUTATIONS)).sqrt();
                if truth == 0.0 || truth == 1.0 {
                    // Nothing but chance in 2^32 makes these err.
                    assert!((estimate - truth).abs() < 0.01, "{corpus}: {estimate} instead of {truth}");
                    continue;
                }
                let error = (estimate - truth) / expected;
                let level = &mut levels[(truth * 10.0) as usize];
                *level = (level.0 + 1, level.1 + error, level.2 + error * error);
            }
        }
        for (tenth, (count, sum, squares)) in levels.into_iter().enumerate() {
            if count < 1000 {
                continue;
            }
            let (mean, spread) = (sum / f64::from(count), (squares / f64::from(count)).sqrt());
            println!("{corpus}, {tenth}/10: {count} estimates, mean {mean:.3}, spread {spread:.3}");
            // Pairs that share documents are not independent of one another; hence the wide bounds.
            assert!(mean.abs() < 0.1, "{corpus}, {tenth}/10: biased by {mean} standard errors");
            assert!((0.85..1.15).contains(&spread), "{corpus}, {tenth}/10: spread {spread}");
        }
    }
}

/// The cosine of the angle between the vectors of numbers of occurrences.
fn cosine(a: &HashMap<u64, f64>, b: &HashMap<u64, f64>) -> f64 {
    let norm = |x: &HashMap<u64, f64>| x.values().map(|n| n * n).sum::<f64>().sqrt();
    let shared: f64 = a.iter().filter_map(|(hash, n)| Some(n * b.get(hash)?)).sum();
    shared / norm(a) / norm(b)
}

#[test]
fn simhash_of_real_documents_differs_as_the_angle_says() {
    for corpus in ["en_reuters_a", "lic_scancode_a"] {
        let Some(texts) = texts(corpus) else { continue };
        let (documents, pairs) = pairs(texts, 1);
        let counts: Vec<HashMap<u64, f64>> = documents
            .iter()
            .map(|hashes| {
                let mut counts = HashMap::new();
                hashes.iter().for_each(|&hash| *counts.entry(hash).or_default() += 1.0);
                counts
            })
            .collect();
        let mut hasher = Simhasher::new(1024);
        let sketches: Vec<Vec<u8>> = documents
            .iter()
            .map(|hashes| {
                hasher.clear();
                hashes.iter().for_each(|&hash| hasher.add(hash));
                hasher.bits().expect("not empty")
            })
            .collect();
        let (mut bias, mut squares, mut many) = (0.0, 0.0, 0.0);
        for &(a, b) in &pairs {
            // Short documents have few words, and sums of few that are often 0.
            if documents[a].len().min(documents[b].len()) < 100 {
                continue;
            }
            let expected = cosine(&counts[a], &counts[b]).min(1.0).acos() / std::f64::consts::PI;
            let error = f64::from(hamming(&sketches[a], &sketches[b])) / 1024.0 - expected;
            bias += error;
            squares += error * error;
            many += 1.0;
        }
        println!(
            "{corpus}: {many} pairs, mean error {:.4}, spread {:.4}",
            bias / many,
            (squares / many).sqrt()
        );
        assert!(many > 500.0);
        // At most sqrt(1/4 / 1024) = 0.016 if bits were independent.
        assert!((bias / many).abs() < 0.01, "{corpus}: bias {}", bias / many);
        assert!((squares / many).sqrt() < 0.025, "{corpus}: spread {}", (squares / many).sqrt());
    }
}
