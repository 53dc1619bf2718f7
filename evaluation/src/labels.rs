//! What labels say of the pairs of a corpus: one rule for all evaluations.
//!
//! A pair with a label is right. One without is wrong where the labels speak of it; it is *unjudged*
//! where they do not, and then in no precision, and counted. Labels speak of all pairs, of pairs of
//! two sources, of the pairs that they list, or, where pages and laws were put into clusters without
//! being compared, of all but those whose words have a Jaccard similarity of [`ALIKE`] or more.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use neardup_core::methods::corpus::Corpus as Rows;
use neardup_core::methods::sets::Sets;
use neardup_core::verify::measure::Measure;
use serde_json::Value;

use crate::corpora::{self, Corpus};

/// Two documents, the lesser number first.
pub type Pair = (u32, u32);

/// The Jaccard similarity of words from which a pair without a label may be a near duplicate that
/// nobody labelled.
pub const ALIKE: f64 = 0.8;

/// The cosine of words from which every pair is [`ALIKE`]: i / √(ab) = c means a similarity of at
/// least c². A precision there is 1 by the rule, and no finding.
pub const ALIKE_BY_COSINE: f64 = 0.8944271909999159;

/// The corpora with labels, each with more than the evaluations of single papers use.
pub const CORPORA: [&str; 13] = [
    "bib_cora_a",
    "bib_dblp_acm_a",
    "en_bible_a",
    "en_plagiarism_a",
    "html_kafka_a",
    "html_readability_a",
    "lic_scancode_a",
    "planted_en_a",
    "planted_zh_a",
    "rec_census_a",
    "zh_law_a",
    "zh_poetry_a",
    "zh_sts_a",
];

/// Of which pairs without a label is known that they are wrong.
#[derive(Clone)]
enum Scope {
    /// Of all.
    All,
    /// Of those of two sources; the source of each document.
    TwoSources(Vec<u8>),
    /// Of these, whose label says no.
    Listed(HashSet<Pair>),
    /// Of all but these, which are alike.
    NotAlike(HashSet<Pair>),
}

/// Which pairs are right, and which are not known to be wrong.
#[derive(Clone)]
pub struct Labels {
    pub right: HashSet<Pair>,
    scope: Scope,
}

impl Labels {
    /// Labels of pages that were made: of all pairs is known whether they are right.
    pub fn complete(right: HashSet<Pair>) -> Self {
        Self { right, scope: Scope::All }
    }

    /// Labels beside which texts may be alike that nobody compared.
    pub fn partial(right: HashSet<Pair>, texts: &[String]) -> Self {
        let mut alike = alike(texts, ALIKE);
        alike.retain(|pair| !right.contains(pair));
        Self { right, scope: Scope::NotAlike(alike) }
    }

    /// Whether a pair is right; none where nobody judged it.
    pub fn is_right(&self, pair: Pair) -> Option<bool> {
        let is_wrong = match &self.scope {
            _ if self.right.contains(&pair) => return Some(true),
            Scope::All => true,
            Scope::TwoSources(sources) => sources[pair.0 as usize] != sources[pair.1 as usize],
            Scope::Listed(wrong) => wrong.contains(&pair),
            Scope::NotAlike(alike) => !alike.contains(&pair),
        };
        is_wrong.then_some(false)
    }

    /// Whether pairs that are alike are unjudged, so that a precision of such pairs says nothing.
    pub fn leave_out_alike(&self) -> bool {
        matches!(self.scope, Scope::NotAlike(_))
    }

    /// Of what the labels speak, in words.
    pub fn scope(&self) -> &'static str {
        match self.scope {
            Scope::All => "all pairs",
            Scope::TwoSources(_) => "pairs of two sources",
            Scope::Listed(_) => "listed pairs",
            Scope::NotAlike(_) => "all but alike ones",
        }
    }
}

/// The pairs of texts whose words have a Jaccard similarity of at least this.
pub fn alike(texts: &[String], least: f64) -> HashSet<Pair> {
    let alike = Sets::of_words(Measure::Jaccard, least).expect("a threshold");
    let pairs = Rows::of_texts(texts).pairs(&alike).expect("memory");
    pairs.into_iter().map(|pair| in_order(pair.left, pair.right)).collect()
}

pub fn in_order(a: u32, b: u32) -> Pair {
    (a.min(b), a.max(b))
}

/// A corpus with its labels as they are corrected here.
pub struct Labelled {
    pub corpus: Corpus,
    /// The pages, where the documents are some.
    pub html: Vec<String>,
    pub ids: Vec<String>,
    /// Documents that are no part of it.
    pub left_out: usize,
    pub labels: Labels,
}

impl Labelled {
    pub fn read(data: &Path, name: &str) -> Self {
        let mut documents: Vec<Value> = corpora::documents(data, name).collect();
        let all = documents.len();
        if name == "html_readability_a" {
            let numbers = (0..).zip(&documents).map(|(n, document)| (corpora::id(document), n)).collect();
            let fixtures = fixtures(&documents, &corpora::labels(data, name, &numbers));
            let mut number = 0..;
            documents.retain(|_| !fixtures.contains(&number.next().expect("a number")));
        }
        let ids: Vec<String> = documents.iter().map(corpora::id).collect();
        let numbers = ids.iter().cloned().zip(0..).collect();
        let mut right = corpora::labels(data, name, &numbers);
        right.extend(of_one_host(&documents, &numbers));
        let unnamed = unnamed(data, name, &numbers);
        right.retain(|(a, b)| !(unnamed.contains(a) && unnamed.contains(b)));
        let wrong = judged_wrong(data, name, &numbers);
        right.retain(|pair| !wrong.contains(pair));
        let texts: Vec<String> = documents.iter().map(corpora::text).collect();
        let scope = match name {
            // Their descriptions say that all duplicates are listed.
            "bib_cora_a" | "rec_census_a" => Some(Scope::All),
            // The mapping is of records of DBLP to records of ACM: of two of one source it says nothing.
            "bib_dblp_acm_a" => Some(Scope::TwoSources(ids.iter().map(|id| id.as_bytes()[0]).collect())),
            // People were asked about these pairs, and about no other.
            "en_plagiarism_a" | "zh_sts_a" => Some(Scope::Listed(wrong)),
            _ => None,
        };
        let labels = match scope {
            Some(scope) => Labels { right, scope },
            None => Labels::partial(right, &texts),
        };
        let html =
            documents.iter().map(|page| page["html"].as_str().unwrap_or_default().to_owned()).collect();
        let left_out = all - documents.len();
        let corpus = Corpus { name: name.to_owned(), texts, labelled: labels.right.clone() };
        Self { corpus, html, ids, left_out, labels }
    }
}

/// A host of planted passages and its planted versions, and these among themselves: documents that
/// differ in what was planted alone, which no label of the corpus says. `meta.host` names the host.
fn of_one_host(documents: &[Value], numbers: &HashMap<String, u32>) -> Vec<Pair> {
    let mut versions: HashMap<&str, Vec<u32>> = HashMap::new();
    for (document, number) in documents.iter().zip(0..) {
        let Some(host) = document["meta"]["host"].as_str() else { continue };
        let of_host = versions.entry(host).or_default();
        if of_host.is_empty() {
            of_host.extend(numbers.get(&format!("host_{host}")));
        }
        of_host.push(number);
    }
    let pairs = |of: &Vec<u32>| {
        let of_one = |(n, &a): (usize, &u32)| of[n + 1..].iter().map(|&b| in_order(a, b)).collect::<Vec<_>>();
        of.iter().enumerate().flat_map(of_one).collect::<Vec<_>>()
    };
    versions.values().flat_map(pairs).collect()
}

/// The documents of the cluster of those that have none, named `?`: rules of lic_scancode_a that stand
/// for no licence, and are no duplicates of each other for that.
fn unnamed(data: &Path, name: &str, numbers: &HashMap<String, u32>) -> HashSet<u32> {
    let file = std::fs::read_to_string(data.join(name).join("label_clusters.tsv")).unwrap_or_default();
    let ids = file.lines().filter_map(|line| line.strip_suffix("\t?"));
    ids.filter_map(|id| numbers.get(id).copied()).collect()
}

/// The pairs whose label says no.
fn judged_wrong(data: &Path, name: &str, numbers: &HashMap<String, u32>) -> HashSet<Pair> {
    let file = std::fs::read_to_string(data.join(name).join("label_pairs.tsv")).unwrap_or_default();
    let of = |line: &str| {
        let [a, b, label] = line.split('\t').collect::<Vec<_>>()[..] else { return None };
        is_no(name, label).then_some(in_order(*numbers.get(a)?, *numbers.get(b)?))
    };
    file.lines().skip(1).filter_map(of).collect()
}

/// Whether a label of a pair says that it is no near duplicate: an answer that does not come from
/// the original, sentences whose meaning was judged to be less than nearly the same.
fn is_no(name: &str, label: &str) -> bool {
    match name {
        "en_plagiarism_a" => label == "non",
        "zh_sts_a" => label.parse::<f64>().is_ok_and(|score| score < 4.0),
        _ => false,
    }
}

/// The numbers of documents that are fixtures of a test suite: pages with their readable parts, of
/// which either says *lorem ipsum*. They are made of one filler text, so that each is like all.
fn fixtures(documents: &[Value], labelled: &HashSet<Pair>) -> HashSet<u32> {
    let is_filler = |&number: &u32| {
        let words = corpora::text(&documents[number as usize]).to_lowercase();
        words.contains("lorem ipsum")
    };
    let of_pairs = labelled.iter().filter(|(a, b)| is_filler(a) || is_filler(b));
    of_pairs.flat_map(|&(a, b)| [a, b]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cosine_at_the_bound_is_alike_whatever_the_sizes() {
        for (a, b) in (1..200u32).flat_map(|a| (a..200).map(move |b| (a, b))) {
            for both in 1..=a {
                let both = f64::from(both);
                let cosine = both / (f64::from(a) * f64::from(b)).sqrt();
                let jaccard = both / (f64::from(a + b) - both);
                assert!(cosine < ALIKE_BY_COSINE || jaccard >= ALIKE - 1e-9, "{a} {b} {both}");
            }
        }
    }

    #[test]
    fn what_nobody_judged_is_neither_right_nor_wrong() {
        let right = HashSet::from([(0, 1)]);
        let is_right = |scope| {
            let labels = Labels { right: right.clone(), scope };
            [(0, 1), (0, 2), (1, 2)].map(|pair| labels.is_right(pair))
        };
        let [yes, no] = [Some(true), Some(false)];
        assert_eq!(is_right(Scope::All), [yes, no, no]);
        assert_eq!(is_right(Scope::TwoSources(b"dma".to_vec())), [yes, no, no]);
        assert_eq!(is_right(Scope::TwoSources(b"dmd".to_vec())), [yes, None, no]);
        assert_eq!(is_right(Scope::Listed(HashSet::from([(1, 2)]))), [yes, None, no]);
        let text = |words: &str| words.to_owned();
        let texts = [text("a b c d"), text("x y z"), text("a b c d")];
        let labels = Labels::partial(right, &texts);
        assert_eq!([labels.is_right((0, 2)), labels.is_right((1, 2))], [None, no]);
    }
}
