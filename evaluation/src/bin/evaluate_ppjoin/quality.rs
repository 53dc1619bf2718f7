//! Shingles as a stand-in for q-grams: Table 2 of the paper.

use std::collections::HashSet;

use neardup_core::executor::{PlainThreads, Stop};
use neardup_core::features::tokens::{Document, Scratch, Token, for_each_token};
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::hash::{hash_bytes, mix};
use neardup_core::joins::Algorithm;
use neardup_core::methods::Method;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sets::Sets;
use neardup_core::storage::files::{NoFiles, Resources};
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;

use crate::bootstrap::{self, parts};
use crate::{THRESHOLDS, processor};

/// Min-wise shingles of a record, of 4 bytes each, as in the paper.
const SHINGLES: u64 = 32;

/// Table 2 of the paper: threshold, precision and recall of shingles, seconds of 4-grams by
/// All-Pairs and by PPJoin+, and of shingles.
const OF_PAPER: [[&str; 6]; 4] = [
    ["0.95", "0.38", "0.11", "42.0", "11.8", "1.0"],
    ["0.9", "0.48", "0.06", "245.0", "43.4", "1.0"],
    ["0.85", "0.58", "0.04", "926.5", "202.7", "1.0"],
    ["0.8", "0.57", "0.03", "2467.3", "775.0", "1.1"],
];

/// Pairs of rows, the lesser number first, and the processor seconds from texts to pairs.
type Found = (HashSet<(u32, u32)>, f64);

/// Pairs of rows by 4-grams of characters, which count as the truth there; by the paper's 32
/// min-wise shingles; and by all shingles, compared exactly. Then the intervals of the recall.
pub fn table(corpora: &[(&str, &Vec<String>)]) {
    let shingled = |shingle| FeatureSpec { shingle, multiset: false, ..FeatureSpec::WORDS };
    let grams = FeatureSpec { tokenizer: Tokenizer::Chars, shingle: 4, ..FeatureSpec::WORDS };
    println!(
        "| corpus | t | pairs by 4-grams | 32 of words: pairs | precision | recall | 32 of 4-word shingles: pairs | precision | recall | all 4-word shingles: pairs | precision | recall | 4-grams by All-Pairs, s | by neardup, s | 32 shingles, s | all shingles, s |"
    );
    println!("|---|{}", "---:|".repeat(15));
    let mut intervals = Vec::new();
    for (name, texts) in corpora {
        for t in THRESHOLDS {
            let (truth, all_pairs) = find(texts, grams, t, Algorithm::AllPairs);
            let (same, seconds) = find(texts, grams, t, Algorithm::Auto);
            assert_eq!(truth, same, "both are exact");
            let by = [
                min_wise(texts, shingled(1), t),
                min_wise(texts, shingled(4), t),
                find(texts, shingled(4), t, Algorithm::Auto),
            ];
            let cells: Vec<String> = by.iter().map(|(found, _)| quality(found, &truth)).collect();
            println!(
                "| {name} | {t} | {} | {} | {all_pairs:.1} | {seconds:.1} | {:.1} | {:.1} |",
                truth.len(),
                cells.join(" | "),
                by[1].1,
                by[2].1,
            );
            let (of, groups) = bootstrap::connected(texts.len(), truth.iter().copied());
            let recall = |found: &HashSet<(u32, u32)>| {
                parts(groups, truth.iter().map(|pair| (of[pair.0 as usize], found.contains(pair))))
            };
            let recalls = [recall(&by[2].0), recall(&by[1].0)];
            let cells: Vec<String> = recalls
                .iter()
                .zip([None, Some(&recalls[0][..])])
                .flat_map(|(recall, first)| bootstrap::cells(recall, first))
                .collect();
            intervals.push(format!("| {name} | {t} | {} |", cells.join(" | ")));
        }
    }
    for [t, precision, recall, all_pairs, plus, shingles] in OF_PAPER {
        let empty = "- | - | - | -";
        println!(
            "| the paper's web pages | {t} | {empty} | - | {precision} | {recall} | - | - | - | {all_pairs} | {plus} | {shingles} | - |"
        );
    }
    println!("\n### Intervals of the recall of Table 2\n");
    println!("Drawn: records with those that pairs by 4-grams connect to them.\n");
    let heads = [bootstrap::heads("all shingles: recall"), bootstrap::heads("32 shingles: recall")].concat();
    println!("| corpus | t | {} |\n|---|{}", heads.join(" | "), "---:|".repeat(1 + heads.len()));
    println!("{}\n", intervals.join("\n"));
}

/// How many pairs there are, which share of them is right, and which share of the truth they are.
fn quality(found: &HashSet<(u32, u32)>, truth: &HashSet<(u32, u32)>) -> String {
    let both = found.intersection(truth).count() as f64;
    let share = |of: usize| if of == 0 { "-".to_owned() } else { format!("{:.2}", both / of as f64) };
    format!("{} | {} | {}", found.len(), share(found.len()), share(truth.len()))
}

/// By a method for sets.
fn find(texts: &[String], spec: FeatureSpec, t: f64, algorithm: Algorithm) -> Found {
    let began = processor::seconds();
    let found = pairs(Corpus::of_texts(texts), spec, t, algorithm);
    (found, processor::seconds() - began)
}

/// By the sets of min-wise shingles of the texts, with PPJoin+, as in the paper.
fn min_wise(texts: &[String], spec: FeatureSpec, t: f64) -> Found {
    let began = processor::seconds();
    let mut scratch = Scratch::default();
    let sets: Vec<Vec<i64>> = texts.iter().map(|text| sketch(text, &spec, &mut scratch)).collect();
    let found = pairs(
        Corpus::of_sets(&sets),
        FeatureSpec { multiset: false, ..FeatureSpec::WORDS },
        t,
        Algorithm::PpJoinPlus(2),
    );
    (found, processor::seconds() - began)
}

/// For each of 32 permutations, the least shingle of a text, cut to 4 bytes.
fn sketch(text: &str, spec: &FeatureSpec, scratch: &mut Scratch) -> Vec<i64> {
    let mut least: Option<[u64; SHINGLES as usize]> = None;
    for_each_token(&Document::Text(text.to_owned()), spec, scratch, &Stop::default(), |token| {
        let hash = match token {
            Token::Bytes(bytes) => hash_bytes(bytes),
            Token::Number(number) => mix(number),
        };
        let least = least.get_or_insert([u64::MAX; SHINGLES as usize]);
        for (least, permutation) in least.iter_mut().zip(1..) {
            *least = (*least).min(mix(hash ^ mix(permutation)));
        }
        Ok(())
    })
    .expect("nobody asked to stop");
    let mut set: Vec<i64> = least.iter().flatten().map(|least| i64::from(*least as u32)).collect();
    set.sort_unstable();
    set.dedup();
    set
}

fn pairs(mut corpus: Corpus<'_>, spec: FeatureSpec, t: f64, algorithm: Algorithm) -> HashSet<(u32, u32)> {
    let predicate = Predicate::new(Measure::Jaccard, t).expect("a threshold");
    // One thread, the first, whose time is taken.
    let resources = Resources { files: &NoFiles, budget: 1 << 40, executor: &PlainThreads(1) };
    let mut quiet = Quiet;
    let mut pairs = Sets { spec, predicate, algorithm, weights: Default::default() }
        .pairs(&mut Reading::new(&mut corpus, &mut quiet, resources))
        .expect("memory");
    let mut found = HashSet::new();
    while let Some(pair) = pairs.next(resources.executor).expect("memory") {
        found.insert((pair.left.min(pair.right), pair.left.max(pair.right)));
    }
    found
}
