//! Shingles as a stand-in for q-grams: Table 2 of the paper.

use std::collections::HashSet;

use neardup_core::executor::PlainThreads;
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::files::NoFiles;
use neardup_core::joins::sets::Algorithm;
use neardup_core::methods::Method;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sets::Sets;
use neardup_core::resources::Resources;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;

use crate::THRESHOLDS;
use crate::processor;

/// Pairs of rows by 4-grams of characters, which count as the truth there, and by shingles of 4
/// words; processor seconds from texts to pairs.
pub fn table(corpora: &[(&str, &Vec<String>)]) {
    println!(
        "| corpus | t | pairs by 4-grams | by shingles | precision | recall | 4-grams by All-Pairs, s | by neardup, s | shingles, s |\n\
         |---|---:|---:|---:|---:|---:|---:|---:|---:|"
    );
    let grams = FeatureSpec { tokenizer: Tokenizer::Chars, shingle: 4, ..FeatureSpec::WORDS };
    let shingles = FeatureSpec { shingle: 4, multiset: false, ..FeatureSpec::WORDS };
    for (name, texts) in corpora {
        for t in THRESHOLDS {
            let (truth, all_pairs) = find(texts, grams, t, Algorithm::AllPairs);
            let (same, seconds) = find(texts, grams, t, Algorithm::Auto);
            assert_eq!(truth, same, "both are exact");
            let (found, by_shingles) = find(texts, shingles, t, Algorithm::Auto);
            let both = found.intersection(&truth).count() as f64;
            println!(
                "| {name} | {t} | {} | {} | {:.2} | {:.2} | {all_pairs:.1} | {seconds:.1} | {by_shingles:.1} |",
                truth.len(),
                found.len(),
                both / found.len() as f64,
                both / truth.len() as f64,
            );
        }
    }
    println!();
}

fn find(texts: &[String], spec: FeatureSpec, t: f64, algorithm: Algorithm) -> (HashSet<(u32, u32)>, f64) {
    let predicate = Predicate::new(Measure::Jaccard, t).expect("a threshold");
    let began = processor::seconds();
    // One thread, the first, whose time is taken.
    let resources = Resources { files: &NoFiles, budget: 1 << 40, executor: &PlainThreads(1) };
    let (mut corpus, mut quiet) = (Corpus::of_texts(texts), Quiet);
    let mut pairs = Sets { spec, predicate, algorithm }
        .pairs(&mut Reading::new(&mut corpus, &mut quiet, resources))
        .expect("memory");
    let mut found = HashSet::new();
    while let Some(pair) = pairs.next(resources.executor).expect("memory") {
        found.insert((pair.left.min(pair.right), pair.left.max(pair.right)));
    }
    (found, processor::seconds() - began)
}
