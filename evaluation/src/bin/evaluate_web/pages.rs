//! Pages with their sites and labels, and how much of what a technique finds is right.

use std::collections::HashSet;
use std::path::Path;

use neardup_core::joins::sketches::combination::{Combination, Safeguards};
use neardup_core::methods::corpus::Corpus;
use neardup_core::methods::sketches::Sketches;

use crate::bootstrap::{self, Part, connected, parts};
use crate::labels::{Labelled, Labels};

pub use crate::labels::Pair;

/// Pages, their sites, and which pairs are near duplicates.
pub struct Pages {
    pub html: Vec<String>,
    pub sites: Vec<Option<String>>,
    pub labels: Labels,
    /// What is drawn for intervals: the group of each page, and how many there are.
    pub groups: (Vec<u32>, usize),
}

impl Pages {
    /// The pages of a corpus; `site` says of an id what its site is.
    pub fn read(data: &Path, name: &str, site: impl Fn(&str) -> &'static str) -> Self {
        let Labelled { html, ids, labels, .. } = Labelled::read(data, name);
        let groups = connected(html.len(), labels.right.iter().copied());
        Self { html, sites: ids.iter().map(|id| Some(site(id).to_owned())).collect(), labels, groups }
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

    /// How many known pairs of some kind were found, which share of them is right, and which share of
    /// the labelled ones of that kind was found.
    pub fn figures(&self, found: &[Pair], kind: impl Fn(Pair) -> bool) -> [String; 3] {
        let labelled = self.labels.right.iter().filter(|&&pair| kind(pair)).count();
        let known = found.iter().filter(|&&pair| kind(pair)).filter_map(|&pair| self.labels.is_right(pair));
        let known: Vec<bool> = known.collect();
        let right = known.iter().filter(|&&right| right).count();
        [known.len().to_string(), share(right, known.len()), share(right, labelled)]
    }

    /// How many pairs nobody judged.
    fn unjudged(&self, found: &[Pair]) -> usize {
        found.iter().filter(|&&pair| self.labels.is_right(pair).is_none()).count()
    }

    /// The table of all techniques: pairs of one site, of two, and all.
    pub fn table(&self, found: &[(&'static str, Vec<Pair>)]) {
        let [same, different] = [true, false]
            .map(|same| self.labels.right.iter().filter(|&&pair| self.same_site(pair) == same).count());
        println!("{} pages, {same} labelled pairs of one site and {different} of two.\n", self.html.len());
        println!(
            "| technique | one site: pairs | precision | recall | two sites: pairs | precision | recall | all: pairs | precision | recall | unjudged |"
        );
        println!("|---|{}", "---:|".repeat(10));
        for (name, found) in found {
            let kinds = [Some(true), Some(false), None].map(|same| {
                self.figures(found, |pair| same.is_none_or(|same| self.same_site(pair) == same)).join(" | ")
            });
            println!("| {name} | {} | {} |", kinds.join(" | "), self.unjudged(found));
        }
        println!();
    }

    /// What each group adds to the precision of the pairs of some kind, and to their recall.
    pub fn parts(&self, found: &[Pair], kind: impl Fn(Pair) -> bool) -> [Vec<Part>; 2] {
        let group = |pair: Pair| self.groups.0[pair.0 as usize];
        let found: HashSet<Pair> = found.iter().copied().filter(|&pair| kind(pair)).collect();
        let known = found.iter().filter_map(|&pair| Some((group(pair), self.labels.is_right(pair)?)));
        let labelled = self.labels.right.iter().copied().filter(|&pair| kind(pair));
        let recalled = labelled.map(|pair| (group(pair), found.contains(&pair)));
        [parts(self.groups.1, known), parts(self.groups.1, recalled)]
    }

    /// The table of intervals of the precision and the recall of all pairs.
    pub fn intervals(&self, found: &[(&'static str, Vec<Pair>)]) {
        let columns = [bootstrap::heads("precision"), bootstrap::heads("recall")].concat();
        println!("Intervals of all pairs, {} groups drawn: ", self.groups.1);
        println!(
            "| technique | unjudged | {} |\n|---|---:|{}",
            columns.join(" | "),
            "---:|".repeat(columns.len())
        );
        let mut first: Option<[Vec<Part>; 2]> = None;
        for (name, found) in found {
            let both = self.parts(found, |_| true);
            let cells = |n: usize| bootstrap::cells(&both[n], first.as_ref().map(|first| &first[n][..]));
            println!("| {name} | {} | {} |", self.unjudged(found), [cells(0), cells(1)].concat().join(" | "));
            first.get_or_insert(both);
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
