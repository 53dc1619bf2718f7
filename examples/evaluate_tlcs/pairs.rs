//! Candidates by sentence signatures, and comparisons of pairs.

use std::collections::{BTreeSet, HashMap, HashSet};

use neardup::features::FeatureSpec;
use neardup::features::dictionary::Dictionary;
use neardup::features::sets::collect::Collector;
use neardup::features::tokens::Document;
use neardup::hash::mix;
use neardup::sketches::sentence::{Parameters as Signing, SentenceSigner};
use neardup::verify::measure::Measure;
use neardup::verify::overlap::shared_at_least;
use neardup::verify::tlcs::{Comparer, Found, Parameters, Thresholds};
use neardup::workers::Stop;

use crate::corpus::{Corpus, on_all};

/// A pair of documents, the lesser number first.
pub type Pair = (u32, u32);

/// Near duplicates by the thresholds of Huang et al. (CIKM 2008).
pub const THRESHOLDS: Thresholds = Thresholds { resemblance: 0.28, containment: Some(0.7) };

/// Pairs that have a signature in common, with the fewest kinds of derivatives (7 signatures each) by which
/// they do.
pub struct Candidates {
    pub kinds: HashMap<Pair, u32>,
    /// Pairs without a label that are near duplicates all the same, as their words say: they are neither
    /// right nor wrong.
    pub unknown: HashSet<Pair>,
}

impl Candidates {
    /// The candidates of a corpus, by signatures that are made so.
    pub fn of(corpus: &Corpus, parameters: Signing) -> Self {
        const MOST_DOCUMENTS: usize = 10_000;
        let signatures = on_all(
            &corpus.texts,
            || SentenceSigner::new(parameters).expect("good parameters"),
            |signatures, text| signatures.of(text, &Stop::default()).expect("memory").to_vec(),
        );
        let mut documents: HashMap<u128, Vec<u32>> = HashMap::new();
        for (document, signatures) in signatures.iter().enumerate() {
            for &signature in signatures {
                documents.entry(signature).or_default().push(document as u32);
            }
        }
        let mut kinds: HashMap<Pair, u32> = HashMap::new();
        for (signature, mut documents) in documents {
            documents.dedup();
            if documents.len() > MOST_DOCUMENTS {
                continue;
            }
            let kind = (signature & 0xf) as u32 + 1;
            for (n, &a) in documents.iter().enumerate() {
                for &b in &documents[n + 1..] {
                    kinds.entry((a, b)).and_modify(|least| *least = kind.min(*least)).or_insert(kind);
                }
            }
        }
        Self { kinds, unknown: HashSet::new() }
    }

    /// Says which pairs are unknown: those whose words have a Jaccard similarity of 0.8 or more.
    #[must_use]
    pub fn judged(mut self, corpus: &Corpus) -> Self {
        let pairs: Vec<Pair> =
            self.pairs().into_iter().filter(|pair| !corpus.labelled.contains(pair)).collect();
        let sets = sets(corpus, &pairs);
        let similar = |&(a, b): &Pair| measure(Measure::Jaccard, &sets[&a], &sets[&b]) >= 0.8;
        self.unknown = pairs.into_iter().filter(similar).collect();
        self
    }

    /// The candidates in a fixed order.
    pub fn pairs(&self) -> Vec<Pair> {
        let mut pairs: Vec<Pair> = self.kinds.keys().copied().collect();
        pairs.sort_unstable();
        pairs
    }
}

/// At most so many of the pairs, picked by their hash, in order.
pub fn sample(mut pairs: Vec<Pair>, most: usize) -> Vec<Pair> {
    pairs.sort_unstable_by_key(|&(a, b)| mix(u64::from(a) << 32 | u64::from(b)));
    pairs.truncate(most);
    pairs.sort_unstable();
    pairs
}

/// The words of each text of the pairs as sorted numbers, repeats told apart.
pub fn sets(corpus: &Corpus, pairs: &[Pair]) -> HashMap<u32, Vec<u32>> {
    let (mut collector, mut dictionary) = (Collector::new(FeatureSpec::WORDS), Dictionary::default());
    let stop = Stop::default();
    for text in documents(pairs) {
        let document = Document::Text(corpus.texts[text as usize].clone());
        collector.add_at_once(text, &document, &mut dictionary, &stop).expect("memory");
    }
    assert!(pairs.is_empty() || !collector.sets.rows.is_empty(), "documents have words");
    let mut sets: HashMap<u32, Vec<u32>> =
        documents(pairs).into_iter().map(|text| (text, Vec::new())).collect();
    for (n, &row) in collector.sets.rows.iter().enumerate() {
        let mut tokens = collector.sets.tokens[collector.sets.range(n)].to_vec();
        tokens.sort_unstable();
        sets.insert(row, tokens);
    }
    sets
}

/// How similar two sets are.
pub fn measure(measure: Measure, a: &[u32], b: &[u32]) -> f64 {
    let shared = shared_at_least(a, b, 0).unwrap_or(0);
    measure.similarity(shared as u32, a.len() as u32, b.len() as u32)
}

/// The documents of pairs, each once.
pub fn documents(pairs: &[Pair]) -> BTreeSet<u32> {
    pairs.iter().flat_map(|&(a, b)| [a, b]).collect()
}

/// What each of the pairs has in common.
pub fn compare(corpus: &Corpus, pairs: &[Pair], parameters: Parameters) -> Vec<Found> {
    on_all(
        pairs,
        || Comparer::new(parameters).expect("good parameters"),
        |comparer, &(a, b)| {
            let (a, b) = (&corpus.texts[a as usize], &corpus.texts[b as usize]);
            comparer.compare(a, b, None, &Stop::default()).expect("memory").expect("no threshold")
        },
    )
}

/// Whether a comparison says near duplicate.
pub fn passes(found: &Found) -> bool {
    THRESHOLDS.pass(found.shared, found.left, found.right)
}
