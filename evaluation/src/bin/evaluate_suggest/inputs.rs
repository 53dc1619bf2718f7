//! The corpora with labels, and the pairs of each that a method finds.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use neardup_core::executor::PlainThreads;
use neardup_core::features::FeatureSpec;
use neardup_core::hash::mix;
use neardup_core::joins::pairs::Pair;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::runs::Runs;
use neardup_core::methods::sets::Sets;
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::suggest::curve::PairCurve;
use neardup_core::suggest::profile::{ComparedBy, TextProfile};
use neardup_core::suggest::shares::{Shares, WholesAndParts};
use neardup_core::verify::measure::Measure;

use crate::{corpora, small};

/// The corpora that were looked at while `suggest` was made, and the others.
const LOOKED_AT: [&str; 7] = [
    "bib_dblp_acm_a",
    "en_plagiarism_a",
    "html_readability_a",
    "lic_scancode_a",
    "planted_en_a",
    "planted_zh_a",
    "rec_census_a",
];
const OTHERS: [&str; 6] = ["bib_cora_a", "en_bible_a", "html_kafka_a", "zh_law_a", "zh_poetry_a", "zh_sts_a"];
/// The corpora of the small form.
const SMALL: [&str; 3] = ["bib_dblp_acm_a", "planted_en_a", "rec_census_a"];

/// A corpus with its duplicates.
pub struct Input {
    pub name: String,
    pub looked_at: bool,
    pub texts: Vec<String>,
    /// The pairs that are duplicates, the lesser number first.
    pub duplicates: HashSet<(u32, u32)>,
}

/// All corpora that are there.
pub fn all(data: &Path) -> Vec<Input> {
    let there = corpora::names(data);
    let looked_at = LOOKED_AT.iter().map(|name| (*name, true));
    let mut inputs: Vec<Input> = looked_at
        .chain(OTHERS.iter().map(|name| (*name, false)))
        .filter(|(name, _)| there.iter().any(|found| found == name))
        .filter(|(name, _)| !small::small() || SMALL.contains(name))
        .map(|(name, looked_at)| Input::read(data, name, looked_at))
        .collect();
    inputs.retain(|input| !input.duplicates.is_empty());
    inputs
}

impl Input {
    fn read(data: &Path, name: &str, looked_at: bool) -> Self {
        let corpus = corpora::Corpus::read(data, name);
        let mut duplicates = corpus.labelled;
        let no = not_duplicates(data, name);
        duplicates.retain(|pair| !no.contains(pair));
        Self { name: corpus.name, looked_at, texts: corpus.texts, duplicates }
    }

    /// The kind of the texts.
    pub fn profile(&self) -> TextProfile {
        let mut corpus = Corpus::of_texts(&self.texts);
        let executor = PlainThreads(2);
        let resources = Resources { files: &MemoryFiles, budget: 1 << 30, executor: &executor };
        TextProfile::read(&mut Reading::new(&mut corpus, &mut Quiet, resources)).expect("memory")
    }

    /// The pairs of a measure from the floor of the curve on.
    pub fn pairs(&self, spec: FeatureSpec, measure: Measure) -> Vec<Pair> {
        let method = Sets { spec, ..Sets::of_words(measure, PairCurve::FLOOR).expect("a threshold") };
        Corpus::of_texts(&self.texts).pairs(&method).expect("memory")
    }

    /// The pairs with runs in common, with a share from `least` on, and in at most so many
    /// documents.
    pub fn runs(&self, least: f64, max_documents: Option<u64>) -> Vec<Pair> {
        let usual = WholesAndParts::runs(0);
        Corpus::of_texts(&self.texts)
            .pairs(&Runs { threshold: least, max_documents, ..usual })
            .expect("memory")
    }

    /// What long texts share, as `suggest` sees it. `pairs` are those by similarity.
    pub fn shares(&self, profile: &TextProfile, pairs: &[Pair], threshold: f64) -> Option<Shares> {
        if profile.parts() != ComparedBy::Runs {
            return None;
        }
        // Rows with equal sets are one text.
        let mut text: Vec<u64> = (0..self.texts.len() as u64).collect();
        for pair in pairs.iter().filter(|pair| pair.similarity >= 1.0) {
            let [left, right] = [pair.left, pair.right].map(|row| row as usize);
            text[left.max(right)] = text[left.max(right)].min(left.min(right) as u64);
        }
        let of = |pair: &Pair| [pair.left, pair.right].map(|row| text[row as usize]);
        let mut both = WholesAndParts::default();
        for pair in pairs.iter().filter(|pair| of(pair)[0] != of(pair)[1]) {
            both.add(of(pair), pair.similarity).expect("memory");
        }
        let mut rows: Vec<u32> = (0..self.texts.len() as u32).collect();
        rows.sort_by_key(|&row| mix(row.into()));
        rows.truncate(WholesAndParts::documents(profile) as usize);
        let method = WholesAndParts::runs(rows.len() as u64);
        let joined: Vec<&String> = rows.iter().map(|&row| &self.texts[row as usize]).collect();
        let mut seen = HashSet::new();
        for pair in Corpus::of_texts(&joined).pairs(&method).expect("memory") {
            let [a, b] = [pair.left, pair.right].map(|row| text[rows[row as usize] as usize]);
            if seen.insert([a.min(b), a.max(b)]) {
                both.add_with_runs([a, b], 1);
            }
        }
        let texts = rows.iter().map(|&row| text[row as usize]).collect();
        both.finish(threshold, &texts, rows.len() as u64)
    }

    /// Whether a pair is a duplicate.
    pub fn is_duplicate(&self, pair: &Pair) -> bool {
        self.duplicates.contains(&(pair.left.min(pair.right), pair.left.max(pair.right)))
    }
}

/// The pairs whose label says that they are no duplicates: answers that do not come from the
/// original, and sentences whose meaning was judged to be less than nearly the same.
fn not_duplicates(data: &Path, name: &str) -> HashSet<(u32, u32)> {
    let file = std::fs::read_to_string(data.join(name).join("label_pairs.tsv")).unwrap_or_default();
    let ids = corpora::documents(data, name).map(|document| corpora::id(&document));
    let numbers: HashMap<String, u32> = ids.zip(0..).collect();
    let of = |line: &str| {
        let mut cells = line.split('\t');
        let [a, b] = [cells.next()?, cells.next()?].map(|id| numbers.get(id).copied());
        let label = cells.next()?;
        let no = label == "non" || label.parse::<f64>().is_ok_and(|score| label.contains('.') && score < 4.0);
        let (a, b) = (a?, b?);
        no.then_some((a.min(b), a.max(b)))
    };
    file.lines().skip(1).filter_map(of).collect()
}
