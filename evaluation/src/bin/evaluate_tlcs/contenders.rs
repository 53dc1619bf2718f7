//! Methods beside each other, each on all pairs, as table 1 of Huang et al. (CIKM 2008) has them;
//! at the published thresholds, and at those that find equally many.

use neardup_core::executor::PlainThreads;
use neardup_core::features::FeatureSpec;
use neardup_core::joins::Algorithm;
use neardup_core::joins::sketches::combination::TechniqueSpec;
use neardup_core::methods::Method;
use neardup_core::methods::corpus::Corpus as Rows;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::sketches::Sketches;
use neardup_core::methods::tlcs::Tlcs;
use neardup_core::sketches::sentence::SignatureParameters as Signing;
use neardup_core::storage::files::{MemoryFiles, Resources};
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;
use neardup_core::verify::tlcs::{Parameters, Thresholds};

use crate::candidates::{PUBLISHED, Pair, THRESHOLDS, found};
use crate::inputs::Input;
use crate::labels::ALIKE_BY_COSINE;
use crate::measure::all_with_all;
use crate::processor;

/// Documents of which all pairs are compared by the LCS, at most.
const ALL_WITH_ALL: usize = 1000;
/// No threshold below is tried.
const LEAST: f64 = 0.05;

/// Pairs with their similarity.
pub type Similar = Vec<(Pair, f64)>;

/// What a method finds.
pub struct Contender {
    pub name: &'static str,
    /// The published threshold, in words.
    pub at: &'static str,
    /// The pairs at that, and how long one thread took, where one did it.
    pub published: Vec<Pair>,
    pub seconds: Option<f64>,
    /// The similarity from which all pairs are alike by the rule of labels, where there is one.
    pub alike_from: Option<f64>,
    /// All pairs, from a low threshold on, the most similar ones first.
    pub all: Similar,
}

/// Gives `each` the contenders one after the other: all pairs of a corpus are many.
pub fn for_each(input: &Input, each: &mut dyn FnMut(Contender)) {
    let mut give = |mut contender: Contender| {
        contender.all.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        each(contender);
    };
    let method = |trustable, thresholds| Tlcs {
        signatures: Signing::default(),
        rules: PUBLISHED,
        parameters: Parameters { trustable, ..Parameters::default() },
        thresholds,
        weight: None,
        words: None,
        whole_sets: false,
    };
    let texts = &input.corpus.texts;
    for (name, trustable) in [("TLCS of candidates", true), ("LCS of candidates", false)] {
        let began = processor::seconds();
        let published =
            found(texts, &method(trustable, THRESHOLDS), 1).0.into_iter().map(|(pair, _)| pair).collect();
        let seconds = Some(processor::seconds() - began);
        let any = Thresholds { resemblance: LEAST, containment: None };
        let all_pairs = found(texts, &method(trustable, any), 2).0;
        give(Contender { name, at: "0.28 or 0.7", published, seconds, alike_from: None, all: all_pairs });
    }
    let by_cosine = |threshold| Tlcs {
        words: Some(Predicate::new(Measure::Cosine, threshold).expect("a threshold")),
        ..method(true, THRESHOLDS)
    };
    let of_candidates = of(input, "cosine of candidates", "0.95", &by_cosine(0.95), &by_cosine(LEAST));
    give(Contender { alike_from: Some(ALIKE_BY_COSINE), ..of_candidates });
    if input.corpus.texts.len() <= ALL_WITH_ALL {
        let of_all = all_with_all(&input.corpus, Parameters::default(), LEAST);
        let published =
            of_all.iter().filter(|pair| pair.1 >= THRESHOLDS.resemblance).map(|pair| pair.0).collect();
        // All with all are compared by all threads.
        give(Contender {
            name: "TLCS of all",
            at: "0.28",
            published,
            seconds: None,
            alike_from: None,
            all: of_all,
        });
    }

    let shingles = FeatureSpec { shingle: 5, multiset: false, ..FeatureSpec::WORDS };
    let sets = |spec, measure, threshold| Sets {
        spec,
        predicate: Predicate::new(measure, threshold).expect("a threshold"),
        algorithm: Algorithm::Auto,
        weights: Default::default(),
    };
    let simhash = |bits, threshold| {
        Sketches::by_technique(TechniqueSpec::Simhash {
            feature: FeatureSpec::WORDS,
            bits,
            frequency: true,
            threshold,
        })
    };
    for (name, at, bits, agree) in
        [("simhash", "59 of 64", 64, 59.0), ("simhash, 384 bits", "354 of 384", 384, 354.0)]
    {
        let published = agree / f64::from(bits);
        give(of(input, name, at, &simhash(bits, published), &simhash(bits, 0.5)));
    }
    for (name, at, spec, measure, threshold) in [
        ("cosine of words", "0.95", FeatureSpec::WORDS, Measure::Cosine, 0.95),
        ("5-shingles", "0.5", shingles, Measure::Jaccard, 0.5),
        ("containment of words", "0.7", FeatureSpec::WORDS, Measure::Overlap, 0.7),
        ("containment of 5-shingles", "0.7", shingles, Measure::Overlap, 0.7),
    ] {
        let (published, low) = (sets(spec, measure, threshold), sets(spec, measure, LEAST));
        let alike_from = (measure == Measure::Cosine).then_some(ALIKE_BY_COSINE);
        give(Contender { alike_from, ..of(input, name, at, &published, &low) });
    }
}

/// A contender by a method at its published threshold, and at a low one.
fn of(
    input: &Input,
    name: &'static str,
    at: &'static str,
    published: &dyn Method,
    low: &dyn Method,
) -> Contender {
    let resources = Resources { files: &MemoryFiles, budget: 1 << 30, executor: &PlainThreads(1) };
    let pairs = |method| Rows::of_texts(&input.corpus.texts).pairs_with(method, resources).expect("memory").0;
    let began = processor::seconds();
    let published = pairs(published).into_iter().map(|pair| (pair.left, pair.right)).collect();
    let seconds = Some(processor::seconds() - began);
    let all = pairs(low).into_iter().map(|pair| ((pair.left, pair.right), pair.similarity)).collect();
    Contender { name, at, published, seconds, alike_from: None, all }
}
