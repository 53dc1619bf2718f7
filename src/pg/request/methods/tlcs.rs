//! Methods `tlcs` and `lcs`: sentence signatures, filtered sketches, and the (trustable) longest common
//! subsequence.

use serde_json::Value;

use super::options::Read;
use crate::error::Error;
use crate::joins::sentences::signature_lists::StopRules;
use crate::methods::Method;
use crate::methods::tlcs::Tlcs;
use crate::pg::request::centre::centre;
use crate::pg::request::{Arguments, such_as};
use crate::pg::server::error::{Result, SqlError};
use crate::sketches::sentence;
use crate::verify::tlcs::{Parameters, Thresholds};

/// The resemblance and the containment of near duplicates, by default.
const RESEMBLANCE: f64 = 0.28;
const CONTAINMENT: f64 = 0.7;

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
