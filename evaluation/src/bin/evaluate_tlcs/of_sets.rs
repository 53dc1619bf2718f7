//! Rates of the perhaps-similar sets of documents, as figure 6 of Huang et al. (CIKM 2008) has
//! them.

use std::collections::{BTreeMap, HashMap, HashSet};

use neardup_core::sketches::sentence::SignatureParameters as Signing;
use neardup_core::verify::tlcs::Parameters;

use crate::candidates::{Pair, candidates};
use crate::inputs::Input;
use crate::measure::{compare, head, line, mean, passes, row, share};
use crate::plot::{svg, table};

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

/// Coverage and trustable rate against the number of signatures.
pub fn signatures(inputs: &[Input]) -> String {
    const KINDS: [u32; 9] = [1, 2, 3, 4, 6, 8, 10, 13, 16];
    let numbers: Vec<u32> = KINDS.iter().map(|kinds| 7 * kinds).collect();
    let (mut covered, mut trusted, mut sizes, mut lines) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for input in inputs {
        let documents = input.some_with_labels(DOCUMENTS);
        let near_labelled = near(input, &sets(&documents, input.corpus.labelled.iter().copied()));
        let accepted = near(input, &sets(&documents, input.candidates.iter().copied()));
        let (mut coverage, mut trustable, mut size) = (Vec::new(), Vec::new(), Vec::new());
        for kinds in KINDS {
            let signing = Signing { kinds, ..Signing::default() };
            let pairs: HashSet<Pair> = candidates(&input.corpus.texts, signing).into_iter().collect();
            // The document itself is in its set, as in the paper.
            coverage.push(mean(documents.iter().map(|&document| {
                let near = || {
                    let labelled = input.labelled_with[&document].iter();
                    labelled.map(|&other| pair(document, other)).filter(|pair| near_labelled[pair])
                };
                // Nothing of a document without a near duplicate can be covered.
                match near().count() {
                    0 => f64::NAN,
                    all => {
                        let found = near().filter(|pair| pairs.contains(pair)).count();
                        share(1.0 + found as f64, 1.0 + all as f64)
                    }
                }
            })));
            let sets = sets(&documents, pairs.iter().copied());
            // A set of the document alone would be right whatever was compared.
            let with_others = sets.iter().filter(|(_, set)| !set.is_empty());
            trustable.push(mean(with_others.map(|(&document, set)| {
                let near = set.iter().filter(|&&other| accepted.get(&pair(document, other)) == Some(&true));
                share(1.0 + near.count() as f64, 1.0 + set.len() as f64)
            })));
            size.push(mean(sets.values().map(|set| 1.0 + set.len() as f64)));
        }
        let name = &input.corpus.name;
        lines.push(line(name, false, &numbers, &coverage));
        lines.push(line(name, true, &numbers, &trustable));
        covered.push(row(name, &coverage));
        trusted.push(row(name, &trustable));
        sizes.push(
            std::iter::once(name.clone())
                .chain(size.iter().map(|size| format!("{size:.1}")))
                .collect::<Vec<_>>(),
        );
    }
    println!("### Coverage of sets against the number of signatures (Figure 6)\n");
    table(&head("corpus", &numbers), &covered);
    println!("### Trustable rate of sets\n");
    table(&head("corpus", &numbers), &trusted);
    println!("### Documents of a set\n");
    table(&head("corpus", &numbers), &sizes);
    println!("![Coverage and trustable rate](tlcs_signatures.svg)\n");
    svg("Sets: coverage (solid) and trustable rate (dashed)", "signatures of a document", &lines)
}
