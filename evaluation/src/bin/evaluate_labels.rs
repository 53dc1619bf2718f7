//! What the labels of each corpus leave open: pairs that are equal or nearly so, and that nobody
//! judged. The table `labels` of evaluation/pages/labels.md, printed. evaluation/bounds.tsv has how
//! many there may be: more mean that labels lack a kind of duplicate, and that every precision on
//! that corpus is wrong.
//!
//!     cargo run --release -p neardup-evaluation --bin evaluate_labels -- DATA FOLDER

use std::path::PathBuf;

use neardup_evaluation::corpora;
use neardup_evaluation::labels::{ALIKE, CORPORA, Labelled, alike};
use neardup_evaluation::plot::table;

/// The Jaccard similarity of words from which pairs are nearly equal.
const NEARLY_EQUAL: f64 = 0.95;

fn main() {
    let data = PathBuf::from(std::env::args().nth(1).expect("the folder of the corpora"));
    let there = corpora::names(&data);
    println!("### What labels leave open\n");
    let head = [
        "corpus",
        "documents",
        "left out",
        "labelled pairs",
        "labels speak of",
        "unjudged from 0.8",
        "from 0.95",
        "equal",
        "from 0.95 / labelled",
    ];
    let rows: Vec<Vec<String>> = CORPORA
        .iter()
        .filter(|name| there.iter().any(|found| found == *name))
        .map(|name| row(&Labelled::read(&data, name)))
        .collect();
    table(&head.map(str::to_owned), &rows);
}

fn row(labelled: &Labelled) -> Vec<String> {
    let Labelled { corpus, left_out, labels, .. } = labelled;
    let open = [ALIKE, NEARLY_EQUAL, 1.0].map(|least| {
        let pairs = alike(&corpus.texts, least);
        pairs.into_iter().filter(|&pair| labels.is_right(pair).is_none()).count()
    });
    let mut cells = vec![corpus.name.clone()];
    cells.extend([corpus.texts.len(), *left_out, labels.right.len()].map(|count| count.to_string()));
    cells.push(labels.scope().to_owned());
    cells.extend(open.map(|count| count.to_string()));
    cells.push(format!("{:.3}", open[1] as f64 / labels.right.len().max(1) as f64));
    cells
}
