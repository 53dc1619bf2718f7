//! The pairs in temporary files are those in memory.

use super::*;
use crate::joins::Counts;
use crate::joins::pairs::{Pair, Pairs};
use crate::methods::account::Account;
use crate::methods::explain::Explanation;
use crate::methods::overflow;
use crate::methods::pair::TwoTexts;
use crate::methods::reading::Reading;
use crate::methods::stored::{NearBits, StoredMinhash, StoredSimhash};
use crate::storage::files::Resources;

/// A method that has no room in memory.
#[derive(Debug)]
struct Overflowing<'m>(&'m dyn Method);

impl Method for Overflowing<'_> {
    fn pairs(&self, reading: &mut Reading<'_>) -> crate::error::Result<Pairs> {
        overflow::pairs(self.0, overflow::of_method(self.0).unwrap(), reading)
    }

    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> crate::error::Result<Explanation> {
        self.0.explain(pair, stop)
    }
}

/// Compares the pairs of one table, and of two.
pub(super) fn check(name: &str, method: &dyn Method, texts: &[String], sites: Option<&[Option<&str>]>) {
    check_documents(name, method, texts.len(), &|split| {
        let corpus = Corpus::of_texts(texts).split(split);
        match sites {
            Some(sites) => corpus.with_sites(sites).unwrap(),
            None => corpus,
        }
    });
}

/// Compares the pairs of one corpus of `count` documents, and of two.
fn check_documents<'c>(
    name: &str,
    method: &dyn Method,
    count: usize,
    corpus: &dyn Fn(Option<usize>) -> Corpus<'c>,
) {
    if overflow::of_method(method).is_none() {
        return;
    }
    for split in [None, Some(count / 3), Some(count)] {
        let of = |pairs: Vec<Pair>| -> BTreeMap<(u32, u32), u64> {
            let count = pairs.len();
            let all: BTreeMap<_, _> =
                pairs.iter().map(|pair| ((pair.left, pair.right), pair.similarity.to_bits())).collect();
            assert_eq!(all.len(), count, "{name}: a pair comes twice");
            all
        };
        let enough = Resources { files: &MemoryFiles, budget: 1 << 30, executor: &PlainThreads(2) };
        let (expected, Account { handed_over, counts, .. }) =
            corpus(split).pairs_with(method, enough).unwrap();
        let expected = of(expected);
        for (budget, threads) in [(0, 2), (1 << 24, 1)] {
            let resources = Resources { files: &MemoryFiles, budget, executor: &PlainThreads(threads) };
            let (found, account) = corpus(split).pairs_with(&Overflowing(method), resources).unwrap();
            let stopped = |counts: &Counts| {
                let stopped = [counts.stop_signatures, counts.stop_documents];
                (stopped, [counts.hot_buckets, counts.hot_documents])
            };
            assert_eq!(
                (account.handed_over, stopped(&account.counts)),
                (handed_over, stopped(&counts)),
                "{name}"
            );
            let found = of(found);
            let [missing, more] = [(&expected, &found), (&found, &expected)].map(|(a, b)| {
                a.iter().filter(|(pair, of)| b.get(pair) != Some(of)).take(3).collect::<Vec<_>>()
            });
            assert!(
                missing.is_empty() && more.is_empty(),
                "{name} {split:?} {budget}: {} {missing:?} {more:?}",
                found.len()
            );
            assert_eq!((account.documents, account.pairs), (count as u64, found.len() as u64));
        }
    }
}

/// Tests rules by sites, with equal documents and with sites that are not known.
#[test]
fn by_sites() {
    let texts = texts(200, 3);
    let sites: Vec<Option<&str>> =
        (0..texts.len() as u64).map(|n| [None, Some("a"), Some("b")][mix(n) as usize % 3]).collect();
    let equal = TechniqueSpec::ExactText { clean: true, html: false };
    let simhash = TechniqueSpec::Simhash { feature: words(1), bits: 64, frequency: true, threshold: 0.9 };
    let t = |n| Some(Box::new(Rule::Technique(n)));
    for (same, different) in [(t(0), t(1)), (None, t(0)), (t(1), None)] {
        let rule = Rule::BySite { at: 0, same, different };
        let method = Sketches { sites: true, ..sketches(vec![equal, simhash], rule.clone()) };
        check("sites", &method, &texts, Some(&sites));
        let of = |spec| Box::new(Sketches::by_technique(spec)) as Box<dyn Method>;
        let methods = vec![of(equal), Box::new(Edit::within(2)) as Box<dyn Method>];
        check("combined by sites", &Combined { methods, rule }, &texts, Some(&sites));
    }
}

/// Tests that the exact join takes over where it does so in memory, and only there.
#[test]
fn of_a_template() {
    let text = |n: u64| {
        let word = |w: u64| match w {
            0..36 => format!("t{w}"),
            _ => format!("w{}", mix((n / 4) << 8 | w) % 100_000),
        };
        (0..40 + n % 2).map(word).collect::<Vec<_>>().join(" ")
    };
    let template: Vec<String> = (0..1200).map(text).collect();
    let others = super::texts(400, 1);
    for (texts, hand_over, most) in [
        (&template, true, None),
        (&template, true, Some(300)),
        (&template, false, None),
        (&template, false, Some(20)),
        (&others, true, Some(10_000)),
    ] {
        let minhash = TechniqueSpec::Minhash {
            feature: words(1),
            plan: Banding::for_recall(0.8, 0.95).unwrap(),
            seed: 3,
            threshold: 0.8,
            verify: true,
        };
        let safeguards = Safeguards { sample: 100, hand_over };
        let mut method = Sketches { safeguards, ..Sketches::by_technique(minhash) };
        method.combination.most = most;
        check("minhash", &method, texts, None);
    }
}

/// Tests that equal codes meet that are carried with other texts.
#[test]
fn equal_codes() {
    let texts: Vec<String> =
        (0..40).map(|n| format!("甲乙，丙丁，戊己，庚辛。{}", "x".repeat(n % 7))).collect();
    let code = || {
        let spec = CodeSpec { min_length: 1, ..CodeSpec::default() };
        Box::new(ByCodes { spec, threshold: None }) as Box<dyn Method>
    };
    let edit = || Box::new(Edit::new(0.5).unwrap()) as Box<dyn Method>;
    let both = Rule::All(vec![Rule::Technique(0), Rule::Technique(1)]);
    check("codes and edits", &Combined { methods: vec![code(), edit()], rule: both }, &texts, None);
}

/// Tests that the same signatures are dropped as in memory, some of them after trials.
#[test]
fn stop_rules() {
    let sites: Vec<Option<&str>> =
        (0..306).map(|n| [None, Some("a"), Some("a")][mix(n) as usize % 3]).collect();
    // Frames of a hundred texts each, of which those of the last one are copies of each other, too.
    let sentence = |n: u64| {
        let words: Vec<String> = (0..12).map(|w| format!("w{}", mix(n << 8 | w) % 10_000)).collect();
        format!("The {}. ", words.join(" "))
    };
    let text = |n: u64| {
        let frame = n / 100;
        let story = n / if frame == 2 { 25 } else { 2 };
        [1_000 + frame, 2_000 + story, 3_000 + story, 4_000 + n].map(sentence).concat()
    };
    let texts: Vec<String> = (0..306).map(text).collect();
    let mut dropped = 0;
    for (most_documents, most_of_a_site, tried_beyond) in
        [(30, 10, Some(2)), (1000, 1000, Some(2)), (1000, 1000, Some(8)), (20, 400, None), (1000, 8, Some(4))]
    {
        let rules = StopRules { most_documents, most_of_a_site, tried_beyond };
        for trustable in [true, false] {
            let method = Tlcs {
                signatures: SentenceParameters { smallest: 1, ..SentenceParameters::default() },
                rules,
                parameters: TlcsParameters { trustable, ..TlcsParameters::default() },
                thresholds: TlcsThresholds { resemblance: 0.6, containment: Some(0.8) },
                weight: None,
                words: None,
                whole_sets: false,
            };
            check("stop rules", &method, &texts, None);
            check("stop rules of sites", &method, &texts, Some(&sites));
            let resources = Resources { files: &MemoryFiles, budget: 0, executor: &PlainThreads(1) };
            dropped += Corpus::of_texts(&texts)
                .pairs_with(&Overflowing(&method), resources)
                .unwrap()
                .1
                .counts
                .stop_signatures;
        }
    }
    assert!(dropped > 10, "{dropped}");
}

/// Tests distances at which texts do not meet in parts.
#[test]
fn great_distances() {
    check("edit within", &Edit::within(12), &texts(200, 2), None);
}

/// Tests stored sketches, some of them of empty documents, at thresholds at which many agree.
#[test]
fn stored_sketches() {
    let values = |n: u64| {
        let value = move |place| mix((n / 3) << 16 | place) >> 32 | u64::from(n % 3 * 4 > place) << 20;
        (0..9u64).map(move |two| (value(2 * two) << 32 | value(2 * two + 1)).cast_signed())
    };
    let sketches = |size: u64, words: usize| {
        let sketch = move |n: u64| match n % 17 {
            5 => Document::Numbers(Vec::new()),
            _ => Document::Numbers(std::iter::once(size as i64).chain(values(n).take(words)).collect()),
        };
        (0..300).map(sketch).collect::<Vec<_>>()
    };
    let corpus = |documents: &[Document], split| {
        let documents = documents.to_vec();
        Corpus::new(documents.len(), move |row| Some(documents[row].clone())).split(split)
    };
    let minhash = sketches(18, 9);
    for threshold in [1.0, 17.0 / 18.0, 0.5, 0.05] {
        let method = StoredMinhash { threshold };
        check_documents("minhash", &method, 300, &|split| corpus(&minhash, split));
    }
    let simhash = sketches(128, 2);
    for near in [NearBits::Usual, NearBits::Share(0.6), NearBits::Distance(60)] {
        check_documents("simhash", &StoredSimhash { near }, 300, &|split| corpus(&simhash, split));
    }
}
