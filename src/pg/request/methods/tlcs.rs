//! Methods `tlcs` and `lcs`: sentence signatures, filtered sketches, and the (trustable) longest
//! common subsequence, or a measure of words in its place.

use serde::Deserialize;
use serde_json::{Value, json};

use super::sets;
use crate::pg::request::arguments::Arguments;
use crate::pg::request::example::such_as;
use crate::pg::request::options::{self, ColumnName, Number, Options, Real, read_by};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::error::Error;
use neardup_core::joins::sentences::lister::StopRules;
use neardup_core::methods::Method;
use neardup_core::methods::tlcs::Tlcs;
use neardup_core::sketches::sentence;
use neardup_core::verify::predicate::Predicate;
use neardup_core::verify::tlcs::{Parameters, Thresholds};

/// The default minimum resemblance and containment of near duplicates.
const RESEMBLANCE: f64 = 0.28;
const CONTAINMENT: f64 = 0.7;
/// The default minimum cosine of candidates (Huang et al., CIKM 2008, section 4.1).
const COSINE: f64 = 0.95;

/// The options of both methods, followed by the options of `tlcs` only.
#[derive(Debug, Default, Deserialize)]
struct TlcsOptions {
    containment: Option<LeastContainment>,
    m: Option<Number>,
    n: Option<Number>,
    s: Option<Number>,
    min_width: Option<Number>,
    stop_documents: Option<Number>,
    stop_site_documents: Option<Number>,
    window: Option<Number>,
    first: Option<Number>,
    weight: Option<ColumnName>,
    dispersed: Option<SentenceDistance>,
    compare: Option<ComparedMembers>,
    measure: Option<NamedMeasure>,
    slope: Option<Real>,
    centre: Option<LengthShares>,
    min_part: Option<Number>,
    blocks: Option<Number>,
}
const OF_BOTH: usize = 13;
/// Those that only a comparison of characters has.
const OF_CHARACTERS: [&str; 7] = ["containment", "window", "first", "slope", "centre", "min_part", "blocks"];

impl Options for TlcsOptions {
    fn good(key: &str) -> Option<String> {
        let value = match key {
            // It is not known here whether the relation has such a column.
            "weight" => return None,
            "containment" => json!(CONTAINMENT),
            "slope" => json!(0.1),
            "dispersed" => json!(0.2),
            "compare" => json!("all"),
            "measure" => json!("cosine"),
            "centre" => json!([0.4, 0.6]),
            "s" => json!(3),
            "m" => json!(7),
            "n" | "window" | "min_width" | "blocks" => json!(16),
            _ => json!(1000),
        };
        Some(json!({ key: value }).to_string())
    }
}

read_by! {
    /// The minimum containment, or `None` if the caller gave `false`.
    LeastContainment(Option<f64>): |value| {
        if *value == Value::Bool(false) {
            return Ok(None);
        }
        let share = value.as_f64().ok_or("a number")?;
        let good = Some(share).filter(|share| *share > 0.0 && *share <= 1.0);
        good.map(Some).ok_or("greater than 0 and at most 1, or false")
    };
}

read_by! {
    /// Whether all pairs of each perhaps-similar set are compared.
    ComparedMembers(bool): |value| match value.as_str() {
        Some("representative") => Ok(false),
        Some("all") => Ok(true),
        _ => Err("\"representative\" or \"all\""),
    };
}

read_by! {
    /// The name of the method, or of a measure of words.
    NamedMeasure(String): |value| match value.as_str() {
        Some(name @ ("tlcs" | "lcs" | "jaccard" | "cosine" | "dice" | "overlap")) => Ok(name.to_owned()),
        _ => Err("the name of the method, or jaccard, cosine, dice or overlap"),
    };
}

read_by! {
    /// The minimum distance between the sentences from which a signature is made. It is a share of
    /// the number of the document's sentences, in thousandths.
    SentenceDistance(u32): |value| {
        let share = value.as_f64().filter(|share| (0.0..=0.5).contains(share));
        share.map(|share| (1000.0 * share).round() as u32).ok_or("a number from 0 to 0.5")
    };
}

read_by! {
    /// Shares of a text's length.
    LengthShares(Vec<Option<f64>>): |value| {
        let shares = value.as_array().ok_or("two ascending shares between 0 and 1")?;
        Ok(shares.iter().map(Value::as_f64).collect())
    };
}

/// Reads the parameters.
pub(crate) fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let trustable = arguments.method == "tlcs";
    let given = arguments.threshold;
    let resemblance = arguments.threshold(usual_threshold(arguments))?;
    let known = options::names::<TlcsOptions>();
    let options: TlcsOptions = arguments.options_of(if trustable { known } else { &known[..OF_BOTH] })?;
    let words = words(arguments, options.measure.as_ref(), resemblance)?;
    let whole_sets = options.compare.is_some_and(|compared| compared.0);
    if whole_sets && options.weight.is_some() {
        let message = "weight chooses the representative, and compare \"all\" compares all members";
        return Err(SqlError::parameter(message).hint(such_as(&arguments.example)));
    }
    let number = |given: Option<Number>, default: u32| given.map_or(default, |number| number.0);
    let count = |given: Option<Number>, default: u64| given.map_or(default, |number| number.0.into());
    let (signatures, rules) = (sentence::SignatureParameters::default(), StopRules::default());
    let signatures = sentence::SignatureParameters {
        parts: number(options.m, signatures.parts),
        kinds: number(options.n, signatures.kinds),
        smallest: number(options.s, signatures.smallest),
        wider_than: number(options.min_width, signatures.wider_than),
        dispersed: options.dispersed.map_or(signatures.dispersed, |distance| distance.0),
    };
    let rules = StopRules {
        most_documents: count(options.stop_documents, rules.most_documents),
        most_of_a_site: count(options.stop_site_documents, rules.most_of_a_site),
        // If the caller says how many documents are too many for a signature, a signature with
        // fewer documents is used without a trial.
        tried_beyond: rules.tried_beyond.filter(|_| options.stop_documents.is_none()),
    };
    let parameters = Parameters::default();
    let parameters = Parameters {
        trustable,
        window: number(options.window, parameters.window),
        first: count(options.first, parameters.first),
        slope: options.slope.map_or(parameters.slope, |slope| slope.0),
        centre: options.centre.map_or(Ok(parameters.centre), |shares| centre(&shares.0))?,
        least_part: number(options.min_part, parameters.least_part),
        blocks: number(options.blocks, parameters.blocks),
    };
    // If the caller gives only one of the two thresholds, only this threshold applies.
    let containment = match options.containment {
        Some(LeastContainment(containment)) => containment,
        None => given.is_none().then_some(CONTAINMENT),
    };
    let hint = |error: Error| SqlError::from(error).hint(such_as(&arguments.example));
    signatures.check().map_err(hint)?;
    parameters.check().map_err(hint)?;
    // It is not known yet whether the relation has such a column, and hints must show calls that
    // work.
    arguments.accept_without(&["weight"]);
    arguments.whole_texts("compares sentences and characters")?;
    arguments.has_sites();
    let thresholds = Thresholds { resemblance, containment };
    let weight = options.weight.map(|column| column.0);
    Ok(Box::new(Tlcs { signatures, rules, parameters, thresholds, weight, words, whole_sets }))
}

/// Returns the default threshold. It depends on the measure, which is read later.
fn usual_threshold(arguments: &Arguments<'_>) -> f64 {
    let Ok(Some(given)) = &arguments.options else { return RESEMBLANCE };
    match given.get("measure").and_then(Value::as_str) {
        Some("cosine") => COSINE,
        Some("jaccard" | "dice" | "overlap") => sets::DEFAULT_THRESHOLD,
        _ => RESEMBLANCE,
    }
}

/// Returns the condition on the words of candidates, if their measure is one of words. Refuses
/// options of a comparison of characters then.
fn words(
    arguments: &Arguments<'_>,
    measure: Option<&NamedMeasure>,
    threshold: f64,
) -> Result<Option<Predicate>> {
    let (method, hint) = (arguments.method, such_as(&arguments.example));
    let Some(NamedMeasure(name)) = measure.filter(|measure| measure.0 != method) else { return Ok(None) };
    if matches!(name.as_str(), "tlcs" | "lcs") {
        let message = format!("{name} is no measure of method \"{method}\", but a method");
        return Err(SqlError::parameter(message).hint(hint));
    }
    if let Some(of_characters) = OF_CHARACTERS.iter().find(|option| arguments.given.contains_key(**option)) {
        let message = format!("measure \"{name}\" compares words: {of_characters} is not used");
        return Err(SqlError::parameter(message).hint(hint));
    }
    Ok(Some(Predicate::new(sets::measure(name, arguments.relations), threshold)?))
}

/// Reads the bounds of this part: two shares of the text's length.
pub(crate) fn centre(values: &[Option<f64>]) -> Result<[f64; 2]> {
    if let [Some(from), Some(to)] = *values {
        return Ok([from, to]);
    }
    Err(SqlError::parameter(format!(
        "centre must be two shares of a text's length, not {} values",
        values.len()
    ))
    .hint("For example: centre => '{0.4,0.6}', or '{0,1}' for any part of the text."))
}
