//! The techniques that are compared, with the parameters of Henzinger's paper and looser ones.

use neardup_core::features::{FeatureSpec, Tokenizer};
use neardup_core::joins::sketches::combination::{Combination, TechniqueSpec};
use neardup_core::joins::sketches::rule::Rule;

/// A name, and what it stands for.
pub type Named = (&'static str, Combination);

/// How many of [`all`] are the parts and the chain of the paper: shingling, simhash, and both.
pub const MAIN: usize = 3;

/// All techniques, those of the paper first.
pub fn all() -> Vec<Named> {
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
    let techniques = [
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
    let rules = [
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
    rules
        .into_iter()
        .map(|(name, rule)| (name, Combination { techniques: techniques.to_vec(), rule, most: None }))
        .collect()
}
