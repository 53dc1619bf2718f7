//! Rates of the perhaps-similar sets of documents, as figure 6 of Huang et al. (CIKM 2008) has
//! them.

use std::collections::{BTreeMap, HashMap, HashSet};

use neardup_core::sketches::sentence::SignatureParameters as Signing;
use neardup_core::verify::tlcs::Parameters;

use crate::candidates::{Pair, candidates};
use crate::chart::{self, Chart};
use crate::inputs::Input;
use crate::measure::{Curves, compare, head, means, passes, row, share};
use crate::plot::table;

/// Documents whose sets are looked at, at most; as many as in the paper.
const DOCUMENTS: usize = 150;

/// The partners of each of some documents, by the pairs.
pub fn sets(documents: &[u32], pairs: impl IntoIterator<Item = Pair>) -> BTreeMap<u32, Vec<u32>> {
    let mut sets: BTreeMap<u32, Vec<u32>> =
        documents.iter().map(|&document| (document, Vec::new())).collect();
    for (a, b) in pairs {
        for (one, other) in [(a, b), (b, a)] {
            if let Some(set) = sets.get_mut(&one) {
                set.push(other);
            }
        }
    }
    sets
}

/// The pair of two documents.
pub fn pair(a: u32, b: u32) -> Pair {
    (a.min(b), a.max(b))
}

/// Which of the pairs of some documents are near duplicates.
fn near(input: &Input, sets: &BTreeMap<u32, Vec<u32>>) -> HashMap<Pair, bool> {
    let pairs: HashSet<Pair> = sets.iter().flat_map(|(&a, of)| of.iter().map(move |&b| pair(a, b))).collect();
    let pairs: Vec<Pair> = pairs.into_iter().collect();
    let found = compare(&input.corpus, &pairs, Parameters::default());
    pairs.into_iter().zip(found.iter().map(passes)).collect()
}

/// Coverage and trustable rate against the number of signatures; their plots.
pub fn signatures(inputs: &[Input]) -> [String; 2] {
    const KINDS: [u32; 9] = [1, 2, 3, 4, 6, 8, 10, 13, 16];
    let numbers: Vec<u32> = KINDS.iter().map(|kinds| 7 * kinds).collect();
    let (mut covered, mut trusted) = (Vec::new(), Vec::new());
    let mut curves: [Curves; 2] = Default::default();
    for input in inputs {
        let documents = input.some_with_labels(DOCUMENTS);
        let near_labelled = near(input, &sets(&documents, input.corpus.labelled.iter().copied()));
        let accepted = near(input, &sets(&documents, input.candidates.iter().copied()));
        let (mut coverage, mut trustable) = (Vec::new(), Vec::new());
        for kinds in KINDS {
            let signing = Signing { kinds, ..Signing::default() };
            let pairs: HashSet<Pair> = candidates(&input.corpus.texts, signing).into_iter().collect();
            // The document itself is in its set, as in the paper.
            let of_document = |&document: &u32| {
                let near = || {
                    let labelled = input.labelled_with[&document].iter();
                    labelled.map(|&other| pair(document, other)).filter(|pair| near_labelled[pair])
                };
                // Nothing of a document without a near duplicate can be covered.
                let covered = match near().count() {
                    0 => f64::NAN,
                    all => {
                        let found = near().filter(|pair| pairs.contains(pair)).count();
                        share(1.0 + found as f64, 1.0 + all as f64)
                    }
                };
                (document, covered)
            };
            coverage.push(documents.iter().map(of_document).collect::<Vec<_>>());
            let sets = sets(&documents, pairs.iter().copied());
            // A set of the document alone would be right whatever was compared.
            let with_others = sets.iter().filter(|(_, set)| !set.is_empty());
            let of_set = |(&document, set): (&u32, &Vec<u32>)| {
                let near = set.iter().filter(|&&other| accepted.get(&pair(document, other)) == Some(&true));
                (document, share(1.0 + near.count() as f64, 1.0 + set.len() as f64))
            };
            trustable.push(with_others.map(of_set).collect::<Vec<_>>());
        }
        let name = &input.corpus.name;
        curves[0].add(input, &numbers, &coverage);
        curves[1].add(input, &numbers, &trustable);
        covered.push(row(name, &means(&coverage)));
        trusted.push(row(name, &means(&trustable)));
    }
    println!("### Coverage of sets against the number of signatures (Figure 6)\n");
    table(&head("corpus", &numbers), &covered);
    println!("### Trustable rate of sets\n");
    table(&head("corpus", &numbers), &trusted);
    println!("![Coverage](tlcs_signatures.svg)\n\n![Trustable rate](tlcs_trustable.svg)\n");
    let plot = |n: usize, title: &str| {
        chart::svg(&Chart {
            title,
            x_title: "signatures of a document (the paper: 14 balance both, 112 are used)",
            factors: true,
            x_ticks: &[7.0, 14.0, 28.0, 56.0, 112.0],
            curves: &curves[n].0,
            paper: &[],
            paper_name: "",
        })
    };
    [plot(0, "Coverage of sets"), plot(1, "Trustable rate of sets")]
}
