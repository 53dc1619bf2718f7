//! What titles, checksums, equal codes and repeatability eliminate on corpora.

use std::collections::HashMap;
use std::path::Path;

use neardup_core::executor::Stop;
use neardup_core::features::codes::{CodeSpec, feature_code};
use neardup_core::sketches::checksum::checksum;
use neardup_core::text::words::words;
use serde_json::Value;

use crate::bootstrap::{Part, cell, interval};
use crate::corpora::{self, Corpus, on_all};
use crate::elimination::{equal, repeated, share};
use crate::plot;

/// The titles of documents: of their own, or their first line.
fn titles(data: &Path, name: &str) -> Vec<Option<String>> {
    let title = |document: Value| {
        let own = document["meta"]["title"].as_str().map(str::to_owned);
        let first = || corpora::text(&document).lines().next().map(|line| line.trim().to_owned());
        own.or_else(first).filter(|title| !title.is_empty())
    };
    corpora::documents(data, name).map(title).collect()
}

/// Jaccard similarity of the words of two texts, repeats counted.
pub fn jaccard(a: &str, b: &str) -> f64 {
    let mut counts: HashMap<String, [u32; 2]> = HashMap::new();
    for (side, text) in [a, b].into_iter().enumerate() {
        words(text).into_iter().for_each(|word| counts.entry(word).or_default()[side] += 1);
    }
    let sum = |of: fn(&[u32; 2]) -> u32| f64::from(counts.values().map(of).sum::<u32>());
    sum(|[a, b]| *a.min(b)) / sum(|[a, b]| *a.max(b)).max(1.0)
}

/// Prints the table of a corpus.
pub fn compare(data: &Path, name: &str) {
    let mut corpus = Corpus::read(data, name);
    if name == "zh_sts_a" {
        // Scores of meaning are no labels of near duplicates.
        corpus.labelled.clear();
    }
    let spec = CodeSpec::default();
    let codes =
        on_all(&corpus.texts, || (), |(), text| feature_code(text, &spec, &Stop::default()).expect("memory"));
    let sums = |clean| {
        on_all(&corpus.texts, || (), |(), text| checksum(text, clean, &Stop::default()).expect("memory"))
    };
    let mut rows = vec![
        ("equal title".to_owned(), equal(titles(data, name)).1),
        ("equal MD5".to_owned(), equal(sums(false)).1),
        ("equal MD5, cleaned".to_owned(), equal(sums(true)).1),
        (
            "equal code".to_owned(),
            equal(codes.iter().map(|code| Some(code).filter(|code| !code.is_empty()))).1,
        ),
    ];
    for percent in (70..=100).rev().step_by(5) {
        let threshold = f64::from(percent) / 100.0;
        rows.push((format!("repeatability {threshold:.2}"), repeated(&corpus.texts, threshold)));
    }
    let rows: Vec<Vec<String>> = rows
        .into_iter()
        .map(|(method, gone)| {
            let text = |number: u32| corpus.texts[number as usize].as_str();
            let alike = on_all(&gone, || (), |(), &(a, b)| jaccard(text(a), text(b)) >= 0.5);
            let of_each: Vec<Part> = alike.iter().map(|&alike| [f64::from(u8::from(alike)), 1.0]).collect();
            let alike = alike.into_iter().filter(|&alike| alike).count();
            let labelled =
                gone.iter().filter(|&&(a, b)| corpus.labelled.contains(&(a.min(b), a.max(b)))).count();
            let labelled = match corpus.labelled.len() {
                0 => "-".to_owned(),
                _ => labelled.to_string(),
            };
            let rate = format!("{:.2} %", 100.0 * gone.len() as f64 / corpus.texts.len() as f64);
            vec![
                method,
                gone.len().to_string(),
                rate,
                share(alike, gone.len()),
                cell(interval(&of_each)),
                labelled,
            ]
        })
        .collect();
    println!("### {name}: {} documents, {} labelled pairs\n", corpus.texts.len(), corpus.labelled.len());
    let head = ["method", "eliminated", "rate", "precision", "95 %", "labelled pairs"];
    plot::table(&head.map(str::to_owned), &rows);
}
