//! Production methods with parameters that find something.
#![allow(dead_code, reason = "each test uses some of it")]

use neardup_core::features::codes::CodeSpec;
use neardup_core::features::dictionary::weights::Weights;
use neardup_core::features::imatch::IdfRange;
use neardup_core::features::spotsigs::{Antecedents, SpotSpec};
use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::joins::sentences::lister::StopRules;
use neardup_core::joins::sketches::banding::Banding;
use neardup_core::joins::sketches::combination::TechniqueSpec;
use neardup_core::joins::sketches::rule::Rule;
use neardup_core::methods::Method;
use neardup_core::methods::codes::ByCodes;
use neardup_core::methods::combined::Combined;
use neardup_core::methods::edit::Edit;
use neardup_core::methods::imatch::Imatch;
use neardup_core::methods::near_words::NearWords;
use neardup_core::methods::sets::Sets;
use neardup_core::methods::sketches::Sketches;
use neardup_core::methods::spotsigs::SpotSigs;
use neardup_core::methods::tlcs::Tlcs;
use neardup_core::sketches::sentence;
use neardup_core::verify::edit::EditPredicate;
use neardup_core::verify::measure::Measure;
use neardup_core::verify::predicate::Predicate;
use neardup_core::verify::tlcs::{Parameters, Thresholds};

/// One of each kind.
pub fn methods() -> Vec<(&'static str, Box<dyn Method>)> {
    let words = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
    let shingles = FeatureSpec { shingle: 3, ..words };
    let plan = Banding { bands: 20, rows: 2 };
    let predicate = Predicate::new(Measure::Jaccard, 0.6).unwrap();
    vec![
        ("words", Box::new(Sets::of_words(Measure::Jaccard, 0.6).unwrap())),
        ("shingles", Box::new(Sets { spec: shingles, ..Sets::of_words(Measure::Cosine, 0.6).unwrap() })),
        (
            "words that weigh",
            Box::new(Sets { weights: Weights::Idf, ..Sets::of_words(Measure::Cosine, 0.6).unwrap() }),
        ),
        (
            "characters",
            Box::new(Sets {
                spec: FeatureSpec { tokenizer: Tokenizer::Chars, shingle: 3, ..FeatureSpec::WORDS },
                ..Sets::of_words(Measure::Dice, 0.8).unwrap()
            }),
        ),
        ("edit", Box::new(Edit::new(0.7).unwrap())),
        ("tlcs", Box::new(tlcs())),
        (
            "simhash",
            Box::new(Sketches::by_technique(TechniqueSpec::Simhash {
                feature: words,
                bits: 64,
                frequency: true,
                threshold: 0.9,
            })),
        ),
        (
            "minhash",
            Box::new(Sketches::by_technique(TechniqueSpec::Minhash {
                feature: shingles,
                plan,
                seed: 1,
                threshold: 0.5,
                verify: true,
            })),
        ),
        ("imatch", Box::new(Imatch { spec: words, range: IdfRange::default() })),
        ("spotsigs", Box::new(SpotSigs { spec: SpotSpec::default(), predicate })),
        (
            "spotsigs, counted",
            Box::new(SpotSigs {
                spec: SpotSpec { antecedents: Antecedents::Counted(5), ..SpotSpec::default() },
                predicate,
            }),
        ),
        ("repeatability", Box::new(ByCodes { spec: CodeSpec::default(), threshold: Some(0.5) })),
        ("exact_code", Box::new(ByCodes { spec: CodeSpec::default(), threshold: None })),
        ("combined", Box::new(combined(words))),
    ]
}

/// Methods that find pairs, and one that looks at them.
fn combined(words: FeatureSpec) -> Combined {
    let simhash = TechniqueSpec::Simhash { feature: words, bits: 64, frequency: true, threshold: 0.8 };
    let methods: Vec<Box<dyn Method>> = vec![
        Box::new(Sketches::by_technique(simhash)),
        Box::new(Edit::new(0.6).unwrap()),
        Box::new(Imatch { spec: words, range: IdfRange::default() }),
    ];
    let chain = Rule::All(vec![Rule::Technique(0), Rule::Technique(1)]);
    Combined { methods, rule: Rule::Any(vec![chain, Rule::Technique(2)]) }
}

/// The method of sentences, whose signatures a single fingerprint may make.
pub fn tlcs() -> Tlcs {
    Tlcs {
        signatures: sentence::SignatureParameters { smallest: 1, ..sentence::SignatureParameters::default() },
        rules: StopRules::default(),
        parameters: Parameters::default(),
        thresholds: Thresholds { resemblance: 0.28, containment: Some(0.7) },
        weight: None,
        words: None,
        whole_sets: false,
    }
}

/// Those, and what of the others compares in a way of its own.
pub fn all_methods() -> Vec<(&'static str, Box<dyn Method>)> {
    let words = FeatureSpec { multiset: false, ..FeatureSpec::WORDS };
    let of = |technique| Box::new(Sketches::by_technique(technique));
    let shingling = TechniqueSpec::Shingling {
        feature: FeatureSpec { shingle: 8, ..words },
        values: 84,
        groups: 6,
        seed: 1,
        threshold: 1.0 / 3.0,
        megashingles: false,
    };
    let estimated = TechniqueSpec::Minhash {
        feature: words,
        plan: Banding { bands: 20, rows: 2 },
        seed: 1,
        threshold: 0.5,
        verify: false,
    };
    let mut all = methods();
    all.push(("dice", Box::new(Sets::of_words(Measure::Dice, 1.0).unwrap())));
    all.push((
        "near words",
        Box::new(NearWords {
            spec: FeatureSpec::WORDS,
            predicate: Predicate::new(Measure::Jaccard, 0.6).unwrap(),
            words: EditPredicate::new(0.7).unwrap().with_swaps(true),
        }),
    ));
    all.push(("overlap", Box::new(Sets::of_words(Measure::Overlap, 0.9).unwrap())));
    all.push(("containment", Box::new(Sets::of_words(Measure::Containment, 0.9).unwrap())));
    let cosine = Some(Predicate::new(Measure::Cosine, 0.6).unwrap());
    all.push(("tlcs, words of whole sets", Box::new(Tlcs { words: cosine, whole_sets: true, ..tlcs() })));
    all.push(("shingling", of(shingling)));
    all.push(("minhash, estimated", of(estimated)));
    all.push(("exact_text", of(TechniqueSpec::ExactText { clean: true, html: false })));
    all
}
