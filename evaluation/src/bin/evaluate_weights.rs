//! What words that weigh change, and words with errors: the best F1 of all thresholds on corpora
//! with labels, by the measures without weights, with those by frequency, and of near words. The table `weights` of
//! evaluation/pages/suggest.md, printed.
//!
//!     cargo run --release -p neardup-evaluation --bin evaluate_weights -- DATA FOLDER

use std::path::{Path, PathBuf};

use neardup_core::features::FeatureSpec;
use neardup_core::joins::pairs::Pair;
use neardup_core::methods::Method;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::near_words::NearWords;
use neardup_core::methods::sets::Sets;
use neardup_core::parameters::{EditPredicate, Weights};
use neardup_core::text::html::html_text;
use neardup_core::verify::measure::Measure;
use neardup_evaluation::bootstrap::{self, Part};
use neardup_evaluation::labels::{Labelled, Labels, in_order};
use neardup_evaluation::plot::table;
use neardup_evaluation::{corpora, sites, small};

/// The corpora, and the number of words of a shingle.
const INPUTS: [(&str, usize); 7] = [
    ("bib_cora_a", 1),
    ("bib_dblp_acm_a", 1),
    ("rec_census_a", 1),
    ("html_readability_a", 1),
    ("html_kafka_a", 1),
    (PAGES, 1),
    (PAGES, 5),
];
/// Articles in the templates of sites, of which is known who has which.
const PAGES: &str = "1000 pages of sites";
/// The corpora of the small form, unless others are made in their place.
const SMALL: [&str; 2] = ["bib_dblp_acm_a", "rec_census_a"];
/// The least similarity of a pair that is found: of words, and of shingles, of which similar pages
/// share fewer.
const FLOORS: [f64; 2] = [0.2, 0.02];
/// The corpora of records, and the least similarities of words that count as shared.
const RECORDS: [&str; 2] = ["bib_cora_a", "rec_census_a"];
const NEAR: [f64; 3] = [0.8, 0.6, 0.5];

fn main() {
    let data = PathBuf::from(std::env::args().nth(1).expect("the folder of the corpora"));
    let there = corpora::names(&data);
    println!("### Words that weigh\n");
    let mut head: Vec<String> = ["corpus", "sets of", "method", "threshold"].map(str::to_owned).into();
    head.extend(bootstrap::heads("best F1"));
    let is_there = |name: &str| there.iter().any(|found| found == name);
    let are_few = small::small() && SMALL.into_iter().all(is_there);
    let is_wanted = |name: &str| match name == PAGES {
        true => !small::small(),
        false => is_there(name) && (!are_few || SMALL.contains(&name)),
    };
    let rows: Vec<Vec<String>> = INPUTS
        .iter()
        .filter(|(name, _)| is_wanted(name))
        .flat_map(|&(name, shingle)| rows(&data, name, shingle))
        .collect();
    table(&head, &rows);
}

fn rows(data: &Path, name: &str, shingle: usize) -> Vec<Vec<String>> {
    let (texts, labels) = if name == PAGES {
        let made = sites::pages(data, 1000);
        let texts: Vec<String> = made.iter().map(|page| html_text(&page.html, None)).collect();
        (texts, Labels::complete(sites::truth(&made).into_iter().collect()))
    } else {
        let Labelled { corpus, labels, .. } = Labelled::read(data, name);
        (corpus.texts, labels)
    };
    let (of, count) = bootstrap::connected(texts.len(), labels.right.iter().copied());
    let spec = FeatureSpec { shingle, multiset: shingle == 1, ..FeatureSpec::WORDS };
    let mut first: Option<Vec<Part>> = None;
    let of_words = |measure| Sets {
        spec,
        ..Sets::of_words(measure, FLOORS[usize::from(shingle > 1)]).expect("a threshold")
    };
    let measures = [
        ("jaccard", Measure::Jaccard, Weights::Equal),
        ("cosine", Measure::Cosine, Weights::Equal),
        ("jaccard, idf", Measure::Jaccard, Weights::Idf),
        ("cosine, idf", Measure::Cosine, Weights::Idf),
    ];
    let mut methods: Vec<(String, Box<dyn Method>)> = Vec::new();
    for (method, measure, weights) in measures {
        methods.push((method.to_owned(), Box::new(Sets { weights, ..of_words(measure) })));
    }
    for least in NEAR.into_iter().filter(|_| RECORDS.contains(&name)) {
        let words = EditPredicate::new(least).expect("a threshold").with_swaps(true);
        let near = NearWords { spec, predicate: of_words(Measure::Jaccard).predicate, words };
        methods.push((format!("jaccard, words from {least}"), Box::new(near)));
    }
    let rows = methods.iter().map(|(method, of_sets)| {
        let pairs = Corpus::of_texts(&texts).pairs(&**of_sets).expect("memory");
        let (threshold, parts) = best(&pairs, &labels, &of, count);
        let sets = if shingle == 1 { "words".to_owned() } else { format!("{shingle}-shingles") };
        let mut cells = vec![name.to_owned(), sets, method.clone(), format!("{threshold:.3}")];
        cells.extend(bootstrap::cells(&parts, first.as_deref()));
        first.get_or_insert(parts);
        cells
    });
    rows.collect()
}

/// The threshold with the best F1, and this as a share: twice the pairs that are right of those
/// that are found and those that there are, for each group of documents.
fn best(pairs: &[Pair], labels: &Labels, of: &[u32], count: usize) -> (f64, Vec<Part>) {
    let judge =
        |pair: &Pair| Some((pair.similarity, labels.is_right(in_order(pair.left, pair.right))?, pair.left));
    let mut judged: Vec<(f64, bool, u32)> = pairs.iter().filter_map(judge).collect();
    judged.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let (mut right, mut best, mut enough) = (0, 0.0, 0);
    for (n, pair) in judged.iter().enumerate() {
        right += usize::from(pair.1);
        let is_last = judged.get(n + 1).is_none_or(|next| next.0 < pair.0);
        let f1 = 2.0 * right as f64 / (n + 1 + labels.right.len()) as f64;
        if is_last && f1 > best {
            (best, enough) = (f1, n + 1);
        }
    }
    let mut parts = vec![[0.0; 2]; count];
    for &(_, is_right, left) in &judged[..enough] {
        let part = &mut parts[of[left as usize] as usize];
        part[0] += if is_right { 2.0 } else { 0.0 };
        part[1] += 1.0;
    }
    labels.right.iter().for_each(|pair| parts[of[pair.0 as usize] as usize][1] += 1.0);
    (enough.checked_sub(1).map_or(1.0, |last| judged[last].0), parts)
}
