//! The tables of Huang, Wang and Li (CIKM 2008) on corpora with labels: their section of docs/evaluation.md.
//!
//!     cargo run --release --no-default-features --example evaluate_tlcs -- FOLDER_OF_CORPORA FOLDER_FOR_PLOTS

#[path = "../../tests/common/corpora.rs"]
mod corpus;
mod methods;
#[path = "../../tests/common/pages.rs"]
mod pages;
mod pairs;
#[path = "../common/plot.rs"]
mod plot;
mod tables;

use std::path::PathBuf;

use corpus::Corpus;
use neardup::sketches::sentence::Parameters as Signing;
use pairs::Candidates;

const CORPORA: [&str; 6] =
    ["html_kafka_a", "html_readability_a", "en_bible_a", "zh_law_a", "planted_en_a", "planted_zh_a"];

fn main() {
    let mut arguments = std::env::args().skip(1).map(PathBuf::from);
    let (Some(data), Some(plots)) = (arguments.next(), arguments.next()) else {
        eprintln!("evaluate_tlcs FOLDER_OF_CORPORA FOLDER_FOR_PLOTS");
        std::process::exit(2);
    };
    let read = |name: &&str| {
        let corpus = Corpus::read(&data, name);
        let candidates = Candidates::of(&corpus, Signing::default()).judged(&corpus);
        eprintln!(
            "{name}: {} documents, {} labelled pairs, {} candidates",
            corpus.texts.len(),
            corpus.labelled.len(),
            candidates.kinds.len()
        );
        (corpus, candidates)
    };
    let corpora: Vec<(Corpus, Candidates)> = CORPORA.iter().map(read).collect();
    let save = |name: &str, svg: String| std::fs::write(plots.join(name), svg).expect("a plot");
    tables::corpora(&corpora);
    save("tlcs_signatures.svg", tables::signatures(&corpora));
    tables::fingerprints(&corpora);
    tables::dispersed(&corpora);
    save("tlcs_window.svg", tables::windows(&corpora));
    save("tlcs_slope.svg", tables::slopes(&corpora));
    tables::regions(&corpora);
    methods::compare(&corpora);
}
