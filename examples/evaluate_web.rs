//! How well shingling, simhash and their combination tell near duplicates among web pages, on pages with labels:
//! the table `web` of docs/evaluation.md, printed.
//!
//!     cargo run --release --no-default-features --example evaluate_web -- DATA
//!
//! DATA holds html_kafka_a, whose labels say which pages are versions of one, all of one site; and html_readability_a,
//! whose labels pair a page with its readable part, as another site would show it.

#[path = "../tests/common/corpora.rs"]
mod corpora;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use neardup::features::{FeatureSpec, Tokenizer};
use neardup::joins::sketches::combination::{Combination, Safeguards, TechniqueSpec};
use neardup::joins::sketches::rule::Rule;
use neardup::methods::corpus::Corpus;
use neardup::methods::sketches::Sketches;

/// Pages, their sites, and which pairs are near duplicates.
#[derive(Default)]
struct Pages {
    html: Vec<String>,
    sites: Vec<Option<&'static str>>,
    labelled: HashSet<(u32, u32)>,
}

impl Pages {
    /// Adds a corpus; `site` says of an id what its site is.
    fn add(&mut self, data: &Path, name: &str, site: impl Fn(&str) -> &'static str) {
        let from = self.html.len() as u32;
        let mut rows = HashMap::new();
        for page in corpora::documents(data, name) {
            let id = corpora::id(&page);
            let html = page["html"].as_str().or(page["text"].as_str()).expect("a page");
            self.sites.push(Some(site(&id)));
            rows.insert(id, self.html.len() as u32 - from);
            self.html.push(html.to_owned());
        }
        let labelled = corpora::labels(data, name, &rows);
        self.labelled.extend(labelled.into_iter().map(|(a, b)| (a + from, b + from)));
    }

    fn same_site(&self, (a, b): (u32, u32)) -> bool {
        self.sites[a as usize] == self.sites[b as usize]
    }

    /// The pairs that a combination finds.
    fn find(&self, combination: &Combination) -> Vec<(u32, u32)> {
        let method =
            Sketches { combination: combination.clone(), sites: true, safeguards: Safeguards::default() };
        let corpus = Corpus::of_texts(&self.html).with_sites(&self.sites);
        let pairs = corpus.and_then(|mut corpus| corpus.pairs(&method)).expect("memory");
        pairs.into_iter().map(|pair| (pair.left, pair.right)).collect()
    }

    /// Pairs, precision and recall among pairs of one site, of two, or all.
    fn figures(&self, found: &[(u32, u32)], same: Option<bool>) -> String {
        let counts = |pair: &&(u32, u32)| same.is_none_or(|same| self.same_site(**pair) == same);
        let labelled = self.labelled.iter().filter(counts).count();
        let found: Vec<_> = found.iter().filter(counts).collect();
        let right = found.iter().filter(|pair| self.labelled.contains(pair)).count();
        let precision = match found.len() {
            0 => "-".to_owned(),
            n => format!("{:.2}", right as f64 / n as f64),
        };
        format!("{} | {precision} | {:.2}", found.len(), right as f64 / labelled as f64)
    }
}

fn main() {
    let data = PathBuf::from(std::env::args().nth(1).expect("the folder of the corpora"));
    let mut pages = Pages::default();
    pages.add(&data, "html_kafka_a", |_| "kafka");
    // The page as it is, and its readable part elsewhere: pairs of two sites.
    pages.add(&data, "html_readability_a", |id| if id.starts_with('x') { "elsewhere" } else { "here" });

    let feature =
        |shingle| FeatureSpec { tokenizer: Tokenizer::Html, shingle, multiset: false, ..FeatureSpec::WORDS };
    let simhash =
        |threshold| TechniqueSpec::Simhash { feature: feature(1), bits: 384, frequency: true, threshold };
    let shingling = |threshold| TechniqueSpec::Shingling {
        feature: feature(8),
        values: 84,
        groups: 6,
        seed: 1,
        threshold,
        megashingles: false,
    };
    let techniques = vec![
        shingling(2.0 / 6.0),
        simhash(372.0 / 384.0),
        simhash(0.97),
        simhash(360.0 / 384.0),
        shingling(1.0 / 6.0),
    ];
    let t = Rule::Technique;
    let combined = || Rule::All(vec![t(0), t(1)]);
    let by_site = |same: Rule, different: Rule| Rule::BySite {
        at: 0,
        same: Some(Box::new(same)),
        different: Some(Box::new(different)),
    };
    let rows = [
        ("shingling, 2 of 6", t(0)),
        ("simhash, 372 of 384", t(1)),
        ("combined: shingling, then simhash", combined()),
        ("high recall: combined or simhash at 97 %", Rule::Any(vec![combined(), t(2)])),
        ("by site: combined within one, shingling between two", by_site(combined(), t(0))),
        (
            "by site: combined within one, either between two",
            by_site(combined(), Rule::Any(vec![t(0), t(1)])),
        ),
        ("simhash, 360 of 384", t(3)),
        ("shingling, 1 of 6", t(4)),
        ("looser chain: shingling 1 of 6, then simhash 360 of 384", Rule::All(vec![t(4), t(3)])),
    ];
    let [same, different] = [true, false]
        .map(|same| pages.labelled.iter().filter(|&&pair| pages.same_site(pair) == same).count());
    println!("{} pages, {same} labelled pairs of one site and {different} of two.\n", pages.html.len());
    println!(
        "| technique | one site: pairs | precision | recall | two sites: pairs | precision | recall | all: pairs | precision | recall |"
    );
    println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
    for (name, rule) in rows {
        let combination = Combination { techniques: techniques.clone(), rule, most: None };
        let found = pages.find(&combination);
        let [same, different, all] = [Some(true), Some(false), None].map(|same| pages.figures(&found, same));
        println!("| {name} | {same} | {different} | {all} |");
    }
}
