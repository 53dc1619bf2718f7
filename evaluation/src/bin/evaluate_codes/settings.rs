//! The numbers of codes that the paper does not give, and the length of the code of last resort:
//! what repeatability eliminates with each choice.

use std::path::Path;

use neardup_core::features::codes::CodeSpec;

use crate::corpora::{on_all, texts};
use crate::elimination::{repeated_by, share};
use crate::other_texts::jaccard;
use crate::plot;

/// The threshold of experiment V.
const THRESHOLD: f64 = 0.75;

/// Paragraphs from which on their ends are the code, the number of those, and the characters of the
/// last resort; the paper has four times the second for the third.
const CHOICES: [[usize; 3]; 6] =
    [[5, 5, 20], [10, 10, 20], [10, 10, 40], [10, 5, 20], [20, 10, 40], [20, 20, 80]];

/// A row for each corpus.
pub fn table(data: &Path, corpora: &[&str]) {
    println!("### Paragraphs, their ends and the last resort: eliminated at 0.75 / precision\n");
    let rows: Vec<Vec<String>> = corpora
        .iter()
        .map(|name| {
            let texts = texts(data, name);
            let cells = CHOICES.map(|[paragraphs, ends, fallback]| {
                let spec = CodeSpec { paragraphs, ends, fallback, ..CodeSpec::default() };
                let gone = repeated_by(&texts, THRESHOLD, spec);
                let text = |number: u32| texts[number as usize].as_str();
                let alike = on_all(&gone, || (), |(), &(a, b)| jaccard(text(a), text(b)) >= 0.5);
                let alike = alike.into_iter().filter(|&alike| alike).count();
                format!("{} / {}", gone.len(), share(alike, gone.len()))
            });
            std::iter::once((*name).to_owned()).chain(cells).collect()
        })
        .collect();
    let names = CHOICES.map(|choice| choice.map(|number| number.to_string()).join(", "));
    let head: Vec<String> = std::iter::once("corpus".to_owned()).chain(names).collect();
    plot::table(&head, &rows);
}
