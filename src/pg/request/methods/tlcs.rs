//! Methods `tlcs` and `lcs`: sentence signatures, filtered sketches, and the (trustable) longest common
//! subsequence.

use std::collections::HashSet;
use std::ops::Range;

use serde_json::{Value, json};

use super::options::Read;
use super::{Explanation, Grouping, Method, Pair, Weigh};
use crate::clusters::perhaps_similar::of_sentences::SentenceSets;
use crate::error::{Error, Result as CoreResult};
use crate::features::FeatureSpec;
use crate::features::texts::{Distinct, distinct};
use crate::joins::pairs::Pairs;
use crate::joins::sentences::sentence_pairs;
use crate::joins::sentences::signature_lists::{SignatureLists, Signing, StopRules};
use crate::memory;
use crate::pg::functions::lcs::centre;
use crate::pg::query::ids::Ids;
use crate::pg::read::documents::Reading;
use crate::pg::read::sites::Sites;
use crate::pg::request::{Arguments, such_as};
use crate::pg::server::error::{Result, SqlError};
use crate::sketches::sentence::{self, Signatures};
use crate::verify::lcs::containment;
use crate::verify::tlcs::{Comparer, Found, Parameters, Part, Thresholds};
use crate::workers::Stop;

/// The resemblance and the containment of near duplicates, by default.
const RESEMBLANCE: f64 = 0.28;
const CONTAINMENT: f64 = 0.7;

/// Which documents are candidates, how they are compared, and which pairs are in.
#[derive(Debug)]
struct Tlcs {
    signatures: sentence::Parameters,
    rules: StopRules,
    parameters: Parameters,
    thresholds: Thresholds,
    /// The column that documents are weighed by where sets are made of them.
    weight: Option<String>,
}

/// Options of both methods, and of `tlcs` alone.
const OPTIONS: &[&str] = &[
    "containment",
    "m",
    "n",
    "s",
    "min_width",
    "stop_documents",
    "stop_site_documents",
    "window",
    "first",
    "weight",
    "slope",
    "centre",
    "min_part",
];
const OF_BOTH: usize = 10;

/// Reads the parameters.
pub fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let trustable = arguments.method == "tlcs";
    let given = arguments.threshold;
    let resemblance = arguments.threshold(RESEMBLANCE)?;
    let mut options = arguments.options(if trustable { OPTIONS } else { &OPTIONS[..OF_BOTH] })?;
    let read = Read { options: &options, example: &arguments.example, good };
    let (signatures, rules) = (sentence::Parameters::default(), StopRules::default());
    let signatures = sentence::Parameters {
        parts: read.whole("m", signatures.parts)?,
        kinds: read.whole("n", signatures.kinds)?,
        smallest: read.whole("s", signatures.smallest)?,
        wider_than: read.whole("min_width", signatures.wider_than)?,
    };
    let rules = StopRules {
        most_documents: read.whole("stop_documents", rules.most_documents as u32)?.into(),
        most_of_a_site: read.whole("stop_site_documents", rules.most_of_a_site as u32)?.into(),
    };
    let parameters = Parameters::default();
    let parameters = Parameters {
        trustable,
        window: read.whole("window", parameters.window)?,
        first: read.whole("first", parameters.first as u32)?.into(),
        slope: read.number("slope")?.unwrap_or(parameters.slope),
        centre: centre_option(&read)?.unwrap_or(parameters.centre),
        least_part: read.whole("min_part", parameters.least_part)?,
        ..parameters
    };
    let containment = match options.0.get("containment") {
        Some(Value::Bool(false)) => None,
        // Whoever gives one of the two thresholds means no other.
        _ => read.number("containment")?.or(given.is_none().then_some(CONTAINMENT)),
    };
    if let Some(containment) = containment.filter(|share| !(*share > 0.0 && *share <= 1.0)) {
        return Err(read.wrong(
            "containment",
            containment.to_string(),
            "greater than 0 and at most 1, or false",
        ));
    }
    let weight = match options.value("weight") {
        None => None,
        Some(Value::String(column)) => Some(column.clone()),
        Some(value) => {
            return Err(SqlError::parameter(format!("weight must be the name of a column, not {value}"))
                .hint(such_as(&arguments.example)));
        }
    };
    let hint = |error: Error| SqlError::from(error).hint(such_as(&arguments.example));
    signatures.check().map_err(hint)?;
    parameters.check().map_err(hint)?;
    // Whether there is such a column is not known yet, and hints show calls that work.
    options.0.remove("weight");
    arguments.accept(options);
    arguments.whole_texts("compares sentences and characters")?;
    arguments.has_sites();
    let thresholds = Thresholds { resemblance, containment };
    Ok(Box::new(Tlcs { signatures, rules, parameters, thresholds, weight }))
}

/// The option of that name.
fn centre_option(read: &Read<'_>) -> Result<Option<[f64; 2]>> {
    match read.options.0.get("centre") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(values)) => {
            let values: Vec<_> = values.iter().map(Value::as_f64).collect();
            centre(&values).map(Some)
        }
        Some(value) => Err(read.wrong("centre", value.to_string(), "two ascending shares between 0 and 1")),
    }
}

/// A value of an option that is good.
fn good(name: &str) -> Value {
    match name {
        "containment" => Value::from(CONTAINMENT),
        "slope" => Value::from(0.1),
        "centre" => Value::from(vec![0.4, 0.6]),
        "s" => Value::from(3),
        "m" => Value::from(7),
        "n" | "window" | "min_width" => Value::from(16),
        _ => Value::from(1000),
    }
}

impl Tlcs {
    /// Reads the documents, and lists those that have signatures in common.
    fn lists(&self, reading: &mut Reading<'_>) -> Result<(Distinct, SignatureLists)> {
        let collectors = reading.read_texts(FeatureSpec::WHOLE)?;
        let distinct = distinct(collectors, reading.right_from(), &reading.workers)?;
        let budget = reading.left_after(distinct.texts.bytes());
        let files = reading.files;
        let sites = reading.sites.as_ref().map(Sites::numbers);
        let mut signing = Signing::new(&distinct, self.signatures, self.rules, sites, &files, budget)?;
        while signing.step(&reading.workers)? {
            reading.progress.report(|| format!("making signatures, {:.0} %", 100.0 * signing.progress()));
        }
        let (lists, peak_bytes) = signing.finish(&reading.workers)?;
        reading.stats.tokens = lists.signatures;
        reading.stats.distinct_tokens = lists.distinct;
        reading.stats.distinct_sets = distinct.texts.len() as u64;
        reading.held(distinct.texts.bytes() + peak_bytes.max(lists.bytes()));
        Ok((distinct, lists))
    }
}

impl Method for Tlcs {
    fn explain(&self, pair: &Pair<'_>, stop: &Stop) -> CoreResult<Explanation> {
        let [a, b] = pair.texts;
        let mut signatures = Signatures::new(self.signatures)?;
        let of_left: HashSet<u128> = signatures.of(a, stop)?.iter().copied().collect();
        let of_right: HashSet<u128> = signatures.of(b, stop)?.iter().copied().collect();
        let shared = of_left.intersection(&of_right).count();
        let candidates = shared > 0 || a.split_whitespace().eq(b.split_whitespace());
        let mut explained = match Comparer::new(self.parameters)?.compare(a, b, None, stop)? {
            None => Explanation::new(0.0, false),
            Some(found) => {
                let Found { shared, left, right, .. } = found;
                let passes = candidates && self.thresholds.pass(shared, left, right);
                let mut explained = Explanation::new(found.resemblance(), passes)
                    .with("containment", containment(shared, left.min(right)).into())
                    .with("shared", shared.into())
                    .with("left", left.into())
                    .with("right", right.into());
                if self.parameters.trustable {
                    // Spans as SQL has them: half open, from 1.
                    let span = |range: &Range<usize>| json!([range.start + 1, range.end + 1]);
                    let region = |part: &Part| {
                        let (left, right) = (span(&part.left), span(&part.right));
                        json!({ "left_span": left, "right_span": right, "length": part.length })
                    };
                    let regions = found.parts.iter().map(region).collect::<Vec<_>>();
                    explained = explained.with("regions", regions.into());
                }
                explained
            }
        };
        explained = explained.with("shared_signatures", shared.into());
        Ok(explained.with("signatures", json!([of_left.len(), of_right.len()])))
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let (distinct, lists) = self.lists(reading)?;
        let ranks = if reading.right.is_some() { Vec::new() } else { ranks(&distinct, reading)? };
        Ok(sentence_pairs(distinct, lists, ranks, self.parameters, self.thresholds)?)
    }

    fn grouping(&self) -> Option<&dyn Grouping> {
        Some(self)
    }
}

impl Grouping for Tlcs {
    fn weight(&self) -> Option<&str> {
        self.weight.as_deref()
    }

    fn sets(&self, reading: &mut Reading<'_>, weigh: Weigh<'_>) -> Result<SentenceSets> {
        let (distinct, lists) = self.lists(reading)?;
        let order = reading.left.in_order(&reading.workers)?;
        let weights = weigh(&reading.left, &order)?;
        let vertices = Ids::places(&order)?;
        let (parameters, thresholds) = (self.parameters, self.thresholds);
        let weights = weights.as_deref();
        Ok(SentenceSets::new(distinct, lists, vertices, weights, parameters, thresholds, &reading.workers)?)
    }
}

/// Where each text comes in the order of the ids: the first of its rows.
fn ranks(distinct: &Distinct, reading: &Reading<'_>) -> Result<Vec<u32>> {
    let of_row = Ids::places(&reading.left.in_order(&reading.workers)?)?;
    let first = |text| distinct.left.rows(text).iter().map(|&row| of_row[row as usize]).min().unwrap_or(0);
    let mut ranks = Vec::new();
    memory::reserve(&mut ranks, distinct.left.len(), "ordering texts")?;
    ranks.extend((0..distinct.left.len()).map(first));
    Ok(ranks)
}
