//! How signatures are made of sentences: how many vote on one, and how far they are apart.

use neardup_core::sketches::sentence::SignatureParameters as Signing;
use neardup_core::verify::tlcs::Parameters;

use crate::candidates::{Pair, candidates};
use crate::corpora::Corpus;
use crate::inputs::{Input, sample};
use crate::measure::{compare, head, number, passes, share};
use crate::pages;
use crate::plot::table;

/// Labelled pairs that are compared, at most.
const SAMPLE: usize = 2000;

/// Some of the labelled pairs that are near duplicates.
fn near(corpus: &Corpus) -> Vec<Pair> {
    let labelled: Vec<Pair> = sample(corpus.labelled.iter().copied().collect(), SAMPLE);
    let found = compare(corpus, &labelled, Parameters::default());
    labelled.into_iter().zip(&found).filter(|(_, found)| passes(found)).map(|(pair, _)| pair).collect()
}

/// The share of the pairs that are candidates, and how many candidates there are.
fn coverage(corpus: &Corpus, near: &[Pair], signing: Signing) -> (f64, usize) {
    let found = candidates(&corpus.texts, signing);
    let covered = near.iter().filter(|pair| found.binary_search(pair).is_ok()).count();
    (share(covered as f64, near.len() as f64), found.len())
}

/// The number of fingerprints that vote on a signature.
pub fn fingerprints(inputs: &[Input]) {
    const SMALLEST: [u32; 5] = [1, 3, 4, 5, 8];
    println!(
        "### Fingerprints to a signature: coverage with 14 and 112 signatures, and candidates with 112\n"
    );
    let mut rows = Vec::new();
    for Input { corpus, .. } in inputs {
        let near = near(corpus);
        let mut cells = vec![corpus.name.clone()];
        for smallest in SMALLEST {
            let of = |kinds| coverage(corpus, &near, Signing { kinds, smallest, ..Signing::default() });
            let ((few, _), (many, candidates)) = (of(2), of(16));
            cells.push(format!("{} / {} / {candidates}", number(few), number(many)));
        }
        rows.push(cells);
    }
    table(&head("corpus", &SMALLEST.map(|s| format!("s = {s}"))), &rows);
}

/// Sentences dispersed over the document, also on made pages of a site of which every fifth is
/// nearly the one before.
pub fn dispersed(inputs: &[Input]) {
    const SHARES: [u32; 4] = [0, 100, 200, 300];
    println!("### Sentences dispersed over the document: coverage and candidates, by the least distance\n");
    let made = [(400, 30), (400, 60), (1000, 30)].map(|(words, frame)| Corpus {
        name: format!("300 pages of {words} words, template {frame} %"),
        texts: pages::pages(300, words, frame),
        labelled: (1..=60).map(|n| (5 * n - 2, 5 * n - 1)).collect(),
    });
    let mut rows = Vec::new();
    for corpus in inputs.iter().map(|input| &input.corpus).chain(&made) {
        let near = near(corpus);
        let mut cells = vec![corpus.name.clone()];
        for dispersed in SHARES {
            let (covered, candidates) = coverage(corpus, &near, Signing { dispersed, ..Signing::default() });
            cells.push(format!("{} / {candidates}", number(covered)));
        }
        rows.push(cells);
    }
    let distances = SHARES.map(|share| format!("{}", f64::from(share) / 1000.0));
    table(&head("corpus", &distances), &rows);
}
