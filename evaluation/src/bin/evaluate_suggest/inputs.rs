//! The corpora with labels, and the pairs of each that a method finds.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use neardup_core::executor::PlainThreads;
use neardup_core::features::FeatureSpec;
use neardup_core::files::MemoryFiles;
use neardup_core::joins::pairs::Pair;
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::documents::Quiet;
use neardup_core::methods::reading::Reading;
use neardup_core::methods::sets::Sets;
use neardup_core::resources::Resources;
use neardup_core::suggest::curve::Curve;
use neardup_core::suggest::profile::TextProfile;
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
        TextProfile::of(&mut Reading::new(&mut corpus, &mut Quiet, resources)).expect("memory")
    }

    /// The pairs of a measure from the floor of the curve on.
    pub fn pairs(&self, spec: FeatureSpec, measure: Measure) -> Vec<Pair> {
        let method = Sets { spec, ..Sets::of_words(measure, Curve::FLOOR).expect("a threshold") };
        Corpus::of_texts(&self.texts).pairs(&method).expect("memory")
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
