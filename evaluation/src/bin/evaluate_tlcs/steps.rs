//! What each step leaves, as in table 2 of Huang et al. (CIKM 2008).

use std::collections::BTreeMap;

use neardup_core::executor::Stop;
use neardup_core::verify::tlcs::{Comparer, Parameters};

use crate::candidates::Pair;
use crate::inputs::{Input, sample, table_of};
use crate::measure::{compare, mean, number, passes, share};
use crate::processor;

/// Candidates that are compared, at most.
const PAIRS: usize = 300;

/// The table of the steps.
pub fn table(inputs: &[Input]) {
    println!("### What each step leaves (Table 2)\n");
    let mut rows: Vec<Vec<String>> = inputs.iter().map(of_steps).collect();
    let paper = ["the paper's pages", "-", "-", "-", "-", "0.67", "-", "-", "-", "-", "-", "0.95"];
    rows.push(paper.map(str::to_owned).to_vec());
    let head = [
        "corpus",
        "all pairs",
        "1: candidates",
        "unjudged",
        "right",
        "right of a set",
        "2: characters in sketches",
        "µs a pair",
        "without 2: µs",
        "3: near duplicates",
        "unjudged",
        "right",
    ];
    table_of(&head, &rows);
}

fn of_steps(input: &Input) -> Vec<String> {
    let documents = input.corpus.texts.len();
    let precision = |pairs: &[Pair]| {
        let judged: Vec<bool> = pairs.iter().filter_map(|&pair| input.is_right(pair)).collect();
        share(judged.iter().filter(|&&right| right).count() as f64, judged.len() as f64)
    };
    let unjudged = |pairs: &[Pair]| pairs.iter().filter(|&&pair| input.is_right(pair).is_none()).count();
    let accepted: Vec<Pair> = input
        .candidates
        .iter()
        .zip(compare(&input.corpus, &input.candidates, Parameters::default()))
        .filter_map(|(&pair, found)| passes(&found).then_some(pair))
        .collect();
    let some = sample(input.candidates.clone(), PAIRS);
    let (kept, with) = work(input, &some, Parameters::default());
    let (_, without) = work(input, &some, Parameters { window: 0, ..Parameters::default() });
    vec![
        input.corpus.name.clone(),
        (documents * (documents - 1) / 2).to_string(),
        input.candidates.len().to_string(),
        unjudged(&input.candidates).to_string(),
        number(precision(&input.candidates)),
        number(right_of_sets(input)),
        number(kept),
        format!("{with:.0}"),
        format!("{without:.0}"),
        accepted.len().to_string(),
        unjudged(&accepted).to_string(),
        number(precision(&accepted)),
    ]
}

/// The share of the characters of the pairs that is in their sketches, and the microseconds that a
/// pair takes.
fn work(input: &Input, pairs: &[Pair], parameters: Parameters) -> (f64, f64) {
    let mut comparer = Comparer::new(parameters).expect("good parameters");
    let began = processor::seconds();
    for &(a, b) in pairs {
        let (a, b) = (&input.corpus.texts[a as usize], &input.corpus.texts[b as usize]);
        comparer.compare(a, b, None, &Stop::default()).expect("memory");
    }
    let seconds = processor::seconds() - began;
    let steps = comparer.steps();
    (share(steps.kept as f64, steps.characters as f64), 1e6 * seconds / pairs.len().max(1) as f64)
}

/// The mean share of a perhaps-similar set that is right, over the documents with one; the document
/// itself counts, as in the paper.
fn right_of_sets(input: &Input) -> f64 {
    let mut sets: BTreeMap<u32, [f64; 2]> = BTreeMap::new();
    for &(a, b) in &input.candidates {
        let Some(right) = input.is_right((a, b)) else { continue };
        for document in [a, b] {
            let [of_right, all] = sets.entry(document).or_insert([1.0, 1.0]);
            *of_right += f64::from(u8::from(right));
            *all += 1.0;
        }
    }
    mean(sets.values().map(|[right, all]| right / all))
}
