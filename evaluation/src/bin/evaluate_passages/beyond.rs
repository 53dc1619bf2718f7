//! Documents that have passages in common beside those that are near duplicates: figure 10 of Zhang
//! et al. (SIGIR 2010).

use std::collections::HashSet;
use std::path::Path;

use neardup_core::executor::PlainThreads;
use neardup_core::features::spotsigs::SpotSpec;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::spotsigs::SpotSigs;
use neardup_core::passages::{Parameters, Passage};
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;

use crate::content::Spread;
use crate::framed::Framed;
use crate::searching::{few_texts, passages};

/// SpotSigs of whole documents.
pub fn by_spotsigs(threshold: f64) -> SpotSigs {
    let predicate = Predicate::new(Measure::Jaccard, threshold).expect("a threshold");
    SpotSigs { spec: SpotSpec::default(), predicate }
}

/// Documents of which some pair is found by SpotSigs.
fn found_by_spotsigs(texts: &[String], threshold: f64) -> HashSet<u32> {
    let resources = Resources { files: &MemoryFiles, budget: 1 << 30, executor: &PlainThreads(2) };
    let (pairs, _) = Corpus::of_texts(texts).pairs_with(&by_spotsigs(threshold), resources).expect("memory");
    pairs.into_iter().flat_map(|pair| [pair.left, pair.right]).collect()
}

/// Documents found beyond SpotSigs.
pub fn table(data: &Path, framed: &Framed) {
    println!("### Documents with duplication, beyond SpotSigs of whole documents (Figure 10)\n");
    println!(
        "| corpus | documents | SpotSigs 0.44 | SpotSigs 0.8 | passages of at least | documents | beyond 0.44 | beyond 0.8 | with content: documents | beyond 0.44 | beyond 0.8 | mean sentences |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for name in ["en_reuters_a", "html_kafka_a", "zh_news_a"] {
        rows(name, &few_texts(data, name));
    }
    rows("pages of sites", &framed.texts);
    println!();
}

fn rows(name: &str, texts: &[String]) {
    let by_spots = [0.44, 0.8].map(|threshold| found_by_spotsigs(texts, threshold));
    let spread = Spread::of(texts);
    for min_sentences in [1, 3, 6] {
        let parameters = Parameters { min_sentences, ..Parameters::default() };
        let all = passages(texts, &parameters);
        let rows = |passage: &Passage| [passage.left_row, passage.right_row];
        let found: HashSet<u32> = all.iter().flat_map(rows).collect();
        let content: HashSet<u32> =
            all.iter().filter(|passage| spread.is_content(passage)).flat_map(rows).collect();
        let sentences: f64 = all.iter().map(|passage| f64::from(passage.sentences)).sum();
        let cells = [&found, &content].map(|found| {
            let [loose, strict] = [0, 1].map(|n| found.difference(&by_spots[n]).count());
            format!("{} | {loose} | {strict}", found.len())
        });
        println!(
            "| {name} | {} | {} | {} | {min_sentences} | {} | {:.1} |",
            texts.len(),
            by_spots[0].len(),
            by_spots[1].len(),
            cells.join(" | "),
            sentences / all.len() as f64
        );
    }
}
