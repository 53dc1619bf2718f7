//! Passages without labels, judged by a sample, and their types: table 3 of Zhang et al. (SIGIR
//! 2010).
//!
//! The judge is a rule, and the same on every machine. A passage is *alike* if the letters and
//! digits of its two spans have a longest common subsequence with a resemblance of at least 0.8,
//! which equal signatures nearly imply; it is worth something if it is content, too.
//! Its type is, in this order: *other* if its longest sentence stands in more than ten documents
//! (the paper's banners, notices, navigation); *version* if passages of the two documents are at
//! least half of both; *part* if they are at least half of the shorter one; *quotation*.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use neardup_core::executor::Stop;
use neardup_core::hash::mix;
use neardup_core::passages::{Parameters, Passage};
use neardup_core::text::sentences::sentences;
use neardup_core::verify::lcs::{self, Lcs, LcsBounds, symbols};

use crate::framed::{Framed, Starts, share};
use crate::searching::{few_texts, passages};
use crate::sentences::letters;

/// Passages that are judged, at most; as many as in the paper.
const SAMPLE: usize = 200;
/// A sentence of more documents is no content.
pub const MOST_DOCUMENTS: usize = 10;
const NAMES: [&str; 4] = ["version", "part", "quotation", "other"];

/// The table of all corpora, of passages of three sentences and of one.
pub fn table(data: &Path, framed: &Framed) {
    println!(
        "### Passages without labels: a sample of {SAMPLE}, judged by a rule, and their types (Table 3)\n"
    );
    println!(
        "| corpus | of at least | passages | alike | {} | sentences of a passage | alike and content | of one article | other by the rule: of templates | not other: of templates |",
        NAMES.join(" | ")
    );
    println!("|---|{}", "---:|".repeat(NAMES.len() + 8));
    for name in ["en_reuters_a", "zh_news_a", "html_zh_a", "html_kafka_a"] {
        rows(name, &few_texts(data, name), None);
    }
    let starts = framed.starts();
    rows("pages of sites", &framed.texts, Some((framed, &starts)));
    println!();
}

fn rows(name: &str, texts: &[String], framed: Option<(&Framed, &Starts)>) {
    let mut documents: HashMap<String, HashSet<u32>> = HashMap::new();
    for (text, row) in texts.iter().zip(0..) {
        for sentence in sentences(text) {
            documents.entry(letters(sentence.slice(text))).or_default().insert(row);
        }
    }
    for min_sentences in [3, 1] {
        let parameters = Parameters { min_sentences, ..Parameters::default() };
        let all = passages(texts, &parameters);
        let some = sample(&all);
        let covered = covered(&all, &some);
        let alike = some.iter().filter(|passage| is_alike(texts, passage)).count();
        let types: Vec<usize> =
            some.iter().map(|passage| of_type(texts, passage, &documents, &covered)).collect();
        let counts = (0..NAMES.len()).map(|n| share(types.iter().filter(|&&of| of == n).count(), some.len()));
        let sentences =
            some.iter().map(|passage| f64::from(passage.sentences)).sum::<f64>() / some.len().max(1) as f64;
        let mut cells = vec![all.len().to_string(), share(alike, some.len())];
        cells.extend(counts);
        cells.push(format!("{sentences:.1}"));
        let content = some
            .iter()
            .zip(&types)
            .filter(|(passage, of)| **of != NAMES.len() - 1 && is_alike(texts, passage))
            .count();
        cells.push(share(content, some.len()));
        cells.push(framed.map_or("-".to_owned(), |(framed, starts)| {
            let is_right = |passage: &&&Passage| framed.is_of_one_article(passage, starts);
            share(some.iter().filter(is_right).count(), some.len())
        }));
        cells.extend([true, false].map(|other| match framed {
            None => "-".to_owned(),
            Some((framed, starts)) => {
                let own = || some.iter().zip(&types).filter(|(_, of)| (**of == NAMES.len() - 1) == other);
                share(
                    own().filter(|(passage, _)| !framed.is_of_articles(passage, starts)).count(),
                    own().count(),
                )
            }
        }));
        println!("| {name} | {min_sentences} | {} |", cells.join(" | "));
    }
}

/// Some of the passages, picked by the hash of their places.
fn sample(all: &[Passage]) -> Vec<&Passage> {
    let key = |passage: &&Passage| {
        let places = [passage.left_row, passage.right_row, passage.left_sentence, passage.right_sentence];
        places.into_iter().fold(0, |hash, place| mix(hash ^ u64::from(place)))
    };
    let mut some: Vec<&Passage> = all.iter().collect();
    some.sort_by_cached_key(key);
    some.truncate(SAMPLE);
    some
}

/// The pair of documents of a passage.
fn pair(passage: &Passage) -> (u32, u32) {
    (passage.left_row, passage.right_row)
}

/// Of the pairs of some passages, how many characters of both documents are in any passage that the
/// pair has.
fn covered(all: &[Passage], some: &[&Passage]) -> HashMap<(u32, u32), [usize; 2]> {
    let mut spans: HashMap<(u32, u32), [Vec<Range<usize>>; 2]> =
        some.iter().map(|passage| (pair(passage), Default::default())).collect();
    for passage in all {
        if let Some([left, right]) = spans.get_mut(&pair(passage)) {
            left.push(passage.left_span.clone());
            right.push(passage.right_span.clone());
        }
    }
    spans.into_iter().map(|(pair, spans)| (pair, spans.map(united))).collect()
}

/// How many characters are in any of the spans.
fn united(mut spans: Vec<Range<usize>>) -> usize {
    spans.sort_unstable_by_key(|span| span.start);
    let (mut count, mut end) = (0, 0);
    for span in spans {
        count += span.end.saturating_sub(end.max(span.start));
        end = end.max(span.end);
    }
    count
}

/// The two texts of a passage.
fn spans(texts: &[String], passage: &Passage) -> [String; 2] {
    [(passage.left_row, &passage.left_span), (passage.right_row, &passage.right_span)]
        .map(|(row, span)| texts[row as usize].chars().skip(span.start).take(span.len()).collect())
}

fn is_alike(texts: &[String], passage: &Passage) -> bool {
    const LEAST: f64 = 0.8;
    let [a, b] = spans(texts, passage).map(|span| symbols(&letters(&span)).expect("memory"));
    let shared = Lcs::default().length(&a, &b, LcsBounds::default(), &Stop::default()).expect("memory");
    lcs::resemblance(shared.unwrap_or(0), a.len(), b.len()) >= LEAST
}

fn of_type(
    texts: &[String],
    passage: &Passage,
    documents: &HashMap<String, HashSet<u32>>,
    covered: &HashMap<(u32, u32), [usize; 2]>,
) -> usize {
    let [left, _] = spans(texts, passage);
    let own = sentences(&left).into_iter().map(|span| letters(span.slice(&left)));
    let longest = own.filter(|letters| documents.contains_key(letters)).max_by_key(String::len);
    if longest.is_some_and(|letters| documents[&letters].len() > MOST_DOCUMENTS) {
        return 3;
    }
    let rows = [passage.left_row, passage.right_row];
    let lengths = rows.map(|row| texts[row as usize].chars().count());
    let covered = covered[&pair(passage)];
    let half = [0, 1].map(|side| 2 * covered[side] >= lengths[side]);
    match half {
        [true, true] => 0,
        [false, false] => 2,
        _ => 1,
    }
}
