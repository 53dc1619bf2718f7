//! What is looked at: corpora with labels, and pages of sites whose truth is known.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use neardup_core::hash::mix;
use neardup_core::sketches::sentence::SignatureParameters as Signing;
use neardup_core::text::html::html_text;

use crate::bootstrap::{connected, numbered};
use crate::candidates::{Pair, candidates};
use crate::corpora::Corpus;
use crate::labels::{Labelled, Labels};
use crate::plot;
use crate::{moved, sites, small};

const CORPORA: [&str; 6] =
    ["html_kafka_a", "html_readability_a", "en_bible_a", "zh_law_a", "planted_en_a", "planted_zh_a"];

/// Where a page of sites stands.
pub struct Place {
    pub site: u32,
    /// The site, or the one that it mirrors: what has the same template.
    pub template: u32,
    /// How much of the page is template, in hundredths.
    pub share: u32,
}

/// A corpus, its truth, and what the method compares of it.
pub struct Input {
    pub corpus: Corpus,
    /// Where each document stands, where there are sites.
    pub sites: Option<Vec<Place>>,
    pub labels: Labels,
    /// Pairs that have a signature in common, in order.
    pub candidates: Vec<Pair>,
    /// The documents that each document has a label with.
    pub labelled_with: BTreeMap<u32, Vec<u32>>,
}

impl Input {
    /// All of them; of pages of sites so many.
    pub fn all(data: &Path, pages: usize) -> Vec<Self> {
        let most = if small::small() { 100 } else { usize::MAX };
        let labelled =
            CORPORA.iter().map(|name| Self::of(cut(Labelled::read(data, name).corpus, most), None));
        labelled.chain([Self::of_pages(data, pages)]).collect()
    }

    /// Pages of sites; each size has as many pages a site.
    pub fn of_pages(data: &Path, count: usize) -> Self {
        let made = sites::pages(data, count);
        let corpus = Corpus {
            name: "pages of sites".to_owned(),
            texts: made.iter().map(|page| html_text(&page.html, None)).collect(),
            labelled: sites::truth(&made).into_iter().collect(),
        };
        let mut templates: HashMap<&str, u32> = HashMap::new();
        let mut places = Vec::new();
        for page in &made {
            let host = page.url.split('/').nth(2).unwrap_or_default();
            let next = templates.len() as u32;
            let template = *templates.entry(host.trim_start_matches("mirror.")).or_insert(next);
            places.push(Place { site: page.site, template, share: page.share });
        }
        Self::of(corpus, Some(places))
    }

    /// Framed pages whose articles have their thirds moved.
    pub fn of_moved(data: &Path) -> Self {
        let (corpus, sites) = moved::thirds(data);
        let place = |site| Place { site, template: site, share: 30 };
        Self::of(corpus, Some(sites.into_iter().map(place).collect()))
    }

    fn of(corpus: Corpus, sites: Option<Vec<Place>>) -> Self {
        let right = corpus.labelled.clone();
        let labels = match sites {
            // What the pages are made of is known.
            Some(_) => Labels::complete(right),
            None => Labels::partial(right, &corpus.texts),
        };
        let mut labelled_with: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut pairs: Vec<Pair> = corpus.labelled.iter().copied().collect();
        pairs.sort_unstable();
        for (a, b) in pairs {
            labelled_with.entry(a).or_default().push(b);
            labelled_with.entry(b).or_default().push(a);
        }
        let candidates = candidates(&corpus.texts, Signing::default());
        Self { corpus, sites, labels, candidates, labelled_with }
    }

    /// The same with some of the documents, those with a label first, where pairs of all would be
    /// more than memory is for.
    pub fn of_memory(&self) -> Option<Self> {
        const MOST: usize = 2000;
        const SOME: usize = 500;
        let Corpus { name, texts, labelled } = &self.corpus;
        (texts.len() > MOST && self.sites.is_none()).then(|| {
            let name = format!("{SOME} of {name}");
            let corpus = Corpus { name, texts: texts.clone(), labelled: labelled.clone() };
            Self::of(cut(corpus, SOME), None)
        })
    }

    /// Whether a pair is right; none where nobody judged it.
    pub fn is_right(&self, pair: Pair) -> Option<bool> {
        self.labels.is_right(pair)
    }

    /// What is drawn for intervals: the group of each document, and how many there are; a site with
    /// its mirror, or the documents that labels connect.
    pub fn groups(&self) -> (Vec<u32>, usize) {
        match &self.sites {
            Some(places) => numbered(&places.iter().map(|place| place.template).collect::<Vec<_>>()),
            None => connected(self.corpus.texts.len(), self.corpus.labelled.iter().copied()),
        }
    }

    /// Candidates with a label and without, at most so many of each; unjudged ones are in neither.
    pub fn split(&self, most: usize) -> (Vec<Pair>, Vec<Pair>) {
        let of =
            |right| self.candidates.iter().copied().filter(move |&pair| self.is_right(pair) == Some(right));
        (sample(of(true).collect(), most), sample(of(false).collect(), most))
    }

    /// Documents with a label, at most so many, picked by their hash.
    pub fn some_with_labels(&self, most: usize) -> Vec<u32> {
        let mut documents: Vec<u32> = self.labelled_with.keys().copied().collect();
        documents.sort_unstable_by_key(|&document| mix(u64::from(document)));
        documents.truncate(if small::small() { most / 10 } else { most });
        documents
    }
}

/// At most so many of the pairs, picked by their hash, in order; a tenth of that in the small form.
pub fn sample(mut pairs: Vec<Pair>, most: usize) -> Vec<Pair> {
    pairs.sort_unstable_by_key(|&(a, b)| mix(u64::from(a) << 32 | u64::from(b)));
    pairs.truncate(if small::small() { most.div_ceil(10) } else { most });
    pairs.sort_unstable();
    pairs
}

/// The same corpus with at most so many documents: half of them with labels, each with all that it
/// has a label with, as far as there are such, and others.
fn cut(corpus: Corpus, most: usize) -> Corpus {
    if corpus.texts.len() <= most {
        return corpus;
    }
    let mut pairs: Vec<Pair> = corpus.labelled.iter().copied().collect();
    pairs.sort_unstable_by_key(|&(a, b)| (mix(u64::from(a)), a, b));
    let mut place: HashMap<u32, u32> = HashMap::new();
    let mut texts = Vec::new();
    let mut take = |document: u32, place: &mut HashMap<u32, u32>| {
        place.entry(document).or_insert_with(|| {
            texts.push(corpus.texts[document as usize].clone());
            texts.len() as u32 - 1
        });
    };
    for of_one in pairs.chunk_by(|a, b| a.0 == b.0) {
        if place.len() + of_one.len() < most / 2 {
            of_one.iter().flat_map(|&(a, b)| [a, b]).for_each(|document| take(document, &mut place));
        }
    }
    let mut others: Vec<u32> = (0..corpus.texts.len() as u32).collect();
    others.sort_unstable_by_key(|&document| mix(u64::from(document)));
    for document in others {
        if place.len() < most {
            take(document, &mut place);
        }
    }
    let labelled = corpus.labelled.iter().filter_map(|(a, b)| {
        let (a, b) = (*place.get(a)?, *place.get(b)?);
        Some((a.min(b), a.max(b)))
    });
    Corpus { labelled: labelled.collect(), name: corpus.name, texts }
}

/// What there is.
pub fn table(inputs: &[Input]) {
    println!("### Corpora\n");
    let rows: Vec<Vec<String>> = inputs
        .iter()
        .map(|input| {
            let of = |right: Option<bool>| {
                input.candidates.iter().filter(|&&pair| input.is_right(pair) == right).count()
            };
            let (labelled, all) = (input.corpus.labelled.len(), input.candidates.len());
            let numbers = [input.corpus.texts.len(), labelled, all, of(Some(true)), of(None)];
            std::iter::once(input.corpus.name.clone()).chain(numbers.iter().map(usize::to_string)).collect()
        })
        .collect();
    let head = ["corpus", "documents", "labelled pairs", "candidates", "labelled", "unjudged"];
    table_of(&head, &rows);
}

/// A table with a head that is known beforehand.
pub fn table_of(head: &[&str], rows: &[Vec<String>]) {
    let head: Vec<String> = head.iter().map(|&name| name.to_owned()).collect();
    plot::table(&head, rows);
}
