//! The passages of documents by docs/design/algorithms.md section 6, word by word.

use std::collections::{BTreeSet, HashMap};

use crate::features::spotsigs::Antecedents;
use crate::features::units::signatures::Features;
use crate::passages::{Parameters, Passage};
use crate::text::characters::width;
use crate::text::sentences::sentences;
use crate::text::spans::Span;
use crate::text::words::words;
use crate::verify::measure::Measure;

/// The signatures of a sentence as strings.
fn signatures(sentence: &str, features: &Features, documents: &[BTreeSet<String>]) -> BTreeSet<String> {
    let words = words(sentence);
    let df = |word: &String| documents.iter().filter(|document| document.contains(word)).count();
    match features {
        Features::Shingles(k) if words.is_empty() => BTreeSet::new(),
        Features::Shingles(k) if words.len() < *k => [words.join(" ")].into(),
        Features::Shingles(k) => words.windows(*k).map(|window| window.join(" ")).collect(),
        Features::Imatch(range) => {
            let n = if documents.len() <= 2 { 1 } else { documents.len() };
            let mut terms: Vec<_> =
                words.iter().filter(|word| range.keeps(df(word) as u64, n as u64)).cloned().collect();
            if terms.is_empty() {
                terms = words;
            }
            terms.sort();
            terms.dedup();
            if terms.is_empty() { BTreeSet::new() } else { [terms.join(" ")].into() }
        }
        Features::Spotsigs(spec) => {
            let Antecedents::Listed(list) = &spec.antecedents else { panic!("a list") };
            let places = (0..words.len()).filter(|&n| list.contains(&words[n]));
            let chain = |n: usize| {
                let telling: Vec<&str> = words[n + 1..]
                    .iter()
                    .map(String::as_str)
                    .filter(|word| !list.contains(&(*word).to_owned()))
                    .collect();
                let links =
                    (1..=spec.chain).filter_map(|c| telling.get((c * spec.distance) as usize - 1).copied());
                let links: Vec<&str> = links.collect();
                (!links.is_empty()).then(|| format!("{}:{}", words[n], links.join(":")))
            };
            places.filter_map(chain).collect()
        }
    }
}

/// What is expected of a document: its sentences' places and signatures.
type Sentences = Vec<(Span, BTreeSet<String>)>;

/// All passages of all pairs of documents, those of `split` and of more rows apart where it is
/// given; and those within one document, if they are wanted.
pub(super) fn naive(texts: &[String], split: Option<usize>, parameters: &Parameters) -> Vec<Passage> {
    let bags: Vec<BTreeSet<String>> = texts.iter().map(|text| words(text).into_iter().collect()).collect();
    let documents: Vec<Sentences> = texts
        .iter()
        .map(|text| {
            let of = |span: Span| {
                let own = signatures(span.slice(text), &parameters.features, &bags);
                (span, own)
            };
            sentences(text).into_iter().map(of).collect()
        })
        .collect();
    let similarity = |x: &BTreeSet<String>, y: &BTreeSet<String>| {
        let shared = x.intersection(y).count() as u32;
        let similarity = Measure::Jaccard.similarity(shared, x.len() as u32, y.len() as u32);
        (shared > 0 && similarity >= parameters.threshold).then_some(similarity)
    };
    // How many sentences one is similar to, of all documents or of those of the other table.
    let degree = |document: usize, set: &BTreeSet<String>| {
        let others =
            (0..texts.len()).filter(|&other| split.is_none_or(|split| (other < split) != (document < split)));
        others.flat_map(|other| &documents[other]).filter(|(_, own)| similarity(set, own).is_some()).count()
    };
    let mut degrees: HashMap<(usize, usize), bool> = HashMap::new();
    for (document, all) in documents.iter().enumerate() {
        for (n, (_, set)) in all.iter().enumerate() {
            degrees.insert((document, n), degree(document, set) > parameters.most_similar as usize);
        }
    }
    let mut passages = Vec::new();
    for left in 0..texts.len() {
        for right in left..texts.len() {
            let is_one = left == right;
            if is_one && !parameters.within_documents {
                continue;
            }
            if split.is_some_and(|split| left >= split || right < split) {
                continue;
            }
            let (a, b) = (&documents[left], &documents[right]);
            let pair = |i: usize, j: usize| similarity(&a.get(i)?.1, &b.get(j)?.1);
            let mut own = Vec::new();
            for i in 0..a.len() {
                for j in if is_one { i + 1 } else { 0 }..b.len() {
                    if pair(i, j).is_none() || (i > 0 && j > 0 && pair(i - 1, j - 1).is_some()) {
                        continue;
                    }
                    let run: Vec<f64> = (0..).map_while(|n| pair(i + n, j + n)).collect();
                    if !(0..run.len()).any(|n| !degrees[&(left, i + n)] && !degrees[&(right, j + n)]) {
                        continue;
                    }
                    // Within one document no part has a sentence on both sides.
                    let longest = if is_one { j - i } else { run.len() };
                    for (n, run) in run.chunks(longest).enumerate() {
                        let (i, j) = (i + n * longest, j + n * longest);
                        let last = (i + run.len() - 1, j + run.len() - 1);
                        let is_wide = |text: &str, first: &Span, last: &Span| {
                            let cut = &text[first.bytes.start..last.bytes.end];
                            width(&cut.split_whitespace().collect::<String>())
                                >= parameters.min_width as usize
                        };
                        let wide = is_wide(&texts[left], &a[i].0, &a[last.0].0)
                            && is_wide(&texts[right], &b[j].0, &b[last.1].0);
                        if run.len() >= parameters.min_sentences as usize && wide {
                            own.push(Passage {
                                left_row: left as u32,
                                right_row: right as u32,
                                left_sentence: i as u32,
                                right_sentence: j as u32,
                                sentences: run.len() as u32,
                                left_span: a[i].0.chars.start..a[last.0].0.chars.end,
                                right_span: b[j].0.chars.start..b[last.1].0.chars.end,
                                similarity: run.iter().sum::<f64>() / run.len() as f64,
                            });
                        }
                    }
                }
            }
            own.sort_by_key(|passage| (passage.left_sentence, passage.right_sentence));
            passages.append(&mut own);
        }
    }
    passages
}
