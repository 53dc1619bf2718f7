//! The corpora with labels, and the pairs of each that a method finds.

use std::collections::HashSet;
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
use neardup_core::text::html::html_text;
use neardup_core::verify::measure::Measure;

use crate::labels::{self, Labelled, Labels};
use crate::{corpora, sites, small};

/// The corpora that were looked at while the rules of `suggest` were made.
const LOOKED_AT: [&str; 8] = [
    "bib_dblp_acm_a",
    "en_plagiarism_a",
    "html_readability_a",
    "lic_scancode_a",
    "planted_en_a",
    "planted_zh_a",
    "rec_census_a",
    "zh_law_a",
];
/// The corpora of the small form.
const SMALL: [&str; 5] =
    ["bib_dblp_acm_a", "en_plagiarism_a", "html_readability_a", "planted_en_a", "rec_census_a"];

/// A corpus with its duplicates.
pub struct Input {
    pub name: String,
    pub looked_at: bool,
    pub texts: Vec<String>,
    pub labels: Labels,
}

/// All corpora that are there, those first that were looked at.
pub fn all(data: &Path) -> Vec<Input> {
    let there = corpora::names(data);
    let others = labels::CORPORA.into_iter().filter(|name| !LOOKED_AT.contains(name));
    let names = LOOKED_AT.into_iter().chain(others).filter(|name| there.iter().any(|found| found == name));
    let mut inputs: Vec<Input> = names
        .filter(|name| !small::small() || SMALL.contains(name))
        .map(|name| Input::read(data, name))
        .collect();
    if !small::small() {
        inputs.push(Input::of_pages(data));
    }
    inputs.retain(|input| !input.labels.right.is_empty());
    inputs
}

impl Input {
    fn read(data: &Path, name: &str) -> Self {
        let Labelled { corpus, labels, .. } = Labelled::read(data, name);
        Self { name: corpus.name, looked_at: LOOKED_AT.contains(&name), texts: corpus.texts, labels }
    }

    /// Articles in the templates of sites, of which is known who has which.
    fn of_pages(data: &Path) -> Self {
        const PAGES: usize = 1000;
        let made = sites::pages(data, PAGES);
        Self {
            name: format!("{PAGES} pages of sites"),
            looked_at: false,
            texts: made.iter().map(|page| html_text(&page.html, None)).collect(),
            labels: Labels::complete(sites::truth(&made).into_iter().collect()),
        }
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

    /// The pairs with runs in common, by what is counted and from which share on.
    pub fn runs(&self, method: Runs) -> Vec<Pair> {
        Corpus::of_texts(&self.texts).pairs(&method).expect("memory")
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
        let method = WholesAndParts::runs(profile, rows.len() as u64);
        let joined: Vec<&String> = rows.iter().map(|&row| &self.texts[row as usize]).collect();
        let mut seen = HashSet::new();
        for pair in Corpus::of_texts(&joined).pairs(&method).expect("memory") {
            let [a, b] = [pair.left, pair.right].map(|row| text[rows[row as usize] as usize]);
            if seen.insert([a.min(b), a.max(b)]) {
                both.add_with_runs([a, b], pair.similarity, 1);
            }
        }
        let texts = rows.iter().map(|&row| text[row as usize]).collect();
        both.finish(threshold, &texts, rows.len() as u64)
    }

    /// Whether a pair is a duplicate; none where nobody judged it.
    pub fn judge(&self, pair: &Pair) -> Option<bool> {
        self.labels.is_right(labels::in_order(pair.left, pair.right))
    }
}
