//! Pages with their sites and labels, and how much of what a technique finds is right.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use neardup_core::joins::sketches::combination::{Combination, Safeguards};
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::sketches::Sketches;

use crate::corpora;

/// Two pages, the lesser number first.
pub type Pair = (u32, u32);

/// Pages, their sites, and which pairs are near duplicates.
#[derive(Default)]
pub struct Pages {
    pub html: Vec<String>,
    pub sites: Vec<Option<String>>,
    pub labelled: HashSet<Pair>,
}

impl Pages {
    /// Adds a corpus; `site` says of an id what its site is.
    pub fn add(&mut self, data: &Path, name: &str, site: impl Fn(&str) -> &'static str) {
        let from = self.html.len() as u32;
        let mut rows = HashMap::new();
        for page in corpora::documents(data, name) {
            let id = corpora::id(&page);
            let html = page["html"].as_str().or(page["text"].as_str()).expect("a page");
            self.sites.push(Some(site(&id).to_owned()));
            rows.insert(id, self.html.len() as u32 - from);
            self.html.push(html.to_owned());
        }
        let labelled = corpora::labels(data, name, &rows);
        self.labelled.extend(labelled.into_iter().map(|(a, b)| (a + from, b + from)));
    }

    pub fn same_site(&self, (a, b): Pair) -> bool {
        self.sites[a as usize] == self.sites[b as usize]
    }

    /// The pairs that a combination finds.
    pub fn find(&self, combination: &Combination) -> Vec<Pair> {
        let method =
            Sketches { combination: combination.clone(), sites: true, safeguards: Safeguards::default() };
        let corpus = Corpus::of_texts(&self.html).with_sites(&self.sites);
        let pairs = corpus.and_then(|mut corpus| corpus.pairs(&method)).expect("memory");
        pairs.into_iter().map(|pair| (pair.left, pair.right)).collect()
    }

    /// How many pairs of some kind were found, which share of them is right, and which share of the
    /// labelled ones of that kind was found.
    pub fn figures(&self, found: &[Pair], kind: impl Fn(Pair) -> bool) -> [String; 3] {
        let labelled = self.labelled.iter().filter(|&&pair| kind(pair)).count();
        let found: Vec<_> = found.iter().filter(|&&pair| kind(pair)).collect();
        let right = found.iter().filter(|pair| self.labelled.contains(pair)).count();
        [found.len().to_string(), share(right, found.len()), share(right, labelled)]
    }

    /// The table of all techniques: pairs of one site, of two, and all.
    pub fn table(&self, found: &[(&'static str, Vec<Pair>)]) {
        let [same, different] = [true, false]
            .map(|same| self.labelled.iter().filter(|&&pair| self.same_site(pair) == same).count());
        println!("{} pages, {same} labelled pairs of one site and {different} of two.\n", self.html.len());
        println!(
            "| technique | one site: pairs | precision | recall | two sites: pairs | precision | recall | all: pairs | precision | recall |"
        );
        println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
        for (name, found) in found {
            let kinds = [Some(true), Some(false), None].map(|same| {
                self.figures(found, |pair| same.is_none_or(|same| self.same_site(pair) == same)).join(" | ")
            });
            println!("| {name} | {} |", kinds.join(" | "));
        }
        println!();
    }
}

/// A share with two digits; none of nothing.
pub fn share(part: usize, of: usize) -> String {
    match of {
        0 => "-".to_owned(),
        _ => format!("{:.2}", part as f64 / of as f64),
    }
}
