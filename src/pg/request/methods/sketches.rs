//! The methods that compare signatures of documents by a single technique: `minhash`, `simhash`,
//! `shingling`, `exact_text`, `title`.

use super::techniques::{self, TechniqueArguments, TechniqueOptions, complete, flag, preset};
use crate::pg::request::arguments::Arguments;
use crate::pg::server::error::Result;
use neardup_core::features::FeatureSpec;
use neardup_core::joins::sketches::combination::{Combination, Safeguards, TechniqueSpec};
use neardup_core::joins::sketches::rule::Rule;
use neardup_core::methods::Method;
use neardup_core::methods::sketches::Sketches;

/// A bucket of a minhash band with more documents than this is expanded only in part.
const MOST_IN_A_BUCKET: u32 = 10_000;
/// The number of sampled documents whose pairs are found exactly.
const SAMPLE: usize = 1000;

/// Reads the parameters of a method that consists of a single technique.
pub(crate) fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let method = arguments.method;
    let general: &[&str] = match method {
        "minhash" => &["preset", "max_bucket", "sample", "hand_over"],
        "exact_text" => &[],
        _ => &["preset", "max_bucket"],
    };
    let mut options: TechniqueOptions =
        arguments.options_of(&[techniques::known(method), general].concat())?;
    if let Some(preset) = preset(&options, method, &arguments.example)? {
        complete(&mut options, preset);
        arguments.cut_by_default(preset.chars.then_some("chars"), preset.shingle);
        if let (Some((_, most)), None, None) = (preset.simhash, arguments.threshold, &options.distance) {
            options.distance = Some(most.into());
        }
    }
    // The value fits in 32 bits.
    let most = options.max_bucket.map(|most| most.0 as u32);
    let most = most.or((method == "minhash").then_some(MOST_IN_A_BUCKET));
    let safeguards = Safeguards {
        sample: options.sample.map_or(SAMPLE, |sample| sample.0 as usize),
        hand_over: flag(options.hand_over, true),
    };
    if method == "exact_text" {
        arguments.only_threshold_one("has equal texts only")?;
    }
    let feature = feature(arguments, method)?;
    let spec = TechniqueArguments {
        options: &options,
        threshold: arguments.threshold,
        feature,
        shingle: arguments.shingle,
        multiset: arguments.multiset,
        relations: arguments.relations,
        bits: if arguments.is_html() { 384 } else { 64 },
        example: &arguments.example,
    };
    let spec = spec.technique(method)?;
    arguments.threshold(threshold_of(&spec))?;
    arguments.accept();
    Ok(alone(spec, most, safeguards))
}

/// Reads the parameters of `title`, which finds texts that are exactly equal.
pub(crate) fn parse_title(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    arguments.options_of::<TechniqueOptions>(&[])?;
    arguments.only_threshold_one("has equal titles only")?;
    arguments.accept();
    arguments.whole_texts("compares titles as they are")?;
    let spec = TechniqueSpec::ExactText { clean: false, html: false };
    Ok(alone(spec, None, Safeguards::default()))
}

/// Returns the method that is one technique alone.
fn alone(spec: TechniqueSpec, most: Option<u32>, safeguards: Safeguards) -> Box<dyn Method> {
    let combination = Combination { techniques: vec![spec], rule: Rule::Technique(0), most };
    Box::new(Sketches { combination, sites: false, safeguards })
}

/// Returns the rules for cutting documents. By default a shingle is a single token or, for
/// `minhash`, five tokens.
fn feature(arguments: &mut Arguments<'_>, method: &str) -> Result<FeatureSpec> {
    if method == "exact_text" {
        if !arguments.is_html() {
            arguments.whole_texts("compares texts as they are, or as HTML pages")?;
            return Ok(FeatureSpec::WORDS);
        }
        return arguments.feature_spec(1);
    }
    arguments.feature_spec(if method == "minhash" { 5 } else { 1 })
}

fn threshold_of(spec: &TechniqueSpec) -> f64 {
    match *spec {
        TechniqueSpec::Simhash { threshold, .. }
        | TechniqueSpec::Shingling { threshold, .. }
        | TechniqueSpec::Minhash { threshold, .. } => threshold,
        TechniqueSpec::ExactText { .. } => 1.0,
        TechniqueSpec::Sets { predicate, .. } => predicate.threshold(),
    }
}
