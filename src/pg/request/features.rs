//! The signatures of sentences, or of documents, and their options.

use std::ops::RangeInclusive;

use serde_json::{Value, json};

use super::example::{Example, literal, such_as};
use super::options::Options;
use crate::error::Error;
use crate::features::FeatureSpec;
use crate::features::imatch::IdfRange;
use crate::features::spotsigs::{Antecedents, SpotSpec};
use crate::features::units::signatures::Features;
use crate::pg::server::error::{Result, SqlError};

/// Options of SpotSigs.
pub const SPOTSIGS: &[&str] = &["antecedents", "chain", "distance"];
/// Options of I-Match.
const IMATCH: &[&str] = &["lo", "hi"];

/// The kind of signatures of this name, and the options it knows.
pub fn known(name: &str, example: &Example) -> Result<&'static [&'static str]> {
    match name {
        "shingles" => Ok(&[]),
        "imatch" => Ok(IMATCH),
        "spotsigs" => Ok(SPOTSIGS),
        _ => Err(SqlError::parameter(format!("unknown features \"{name}\"")).hint(format!(
            "Features: shingles, imatch, spotsigs. {}",
            such_as(&example.with("features", literal("shingles")))
        ))),
    }
}

/// The signatures of this name, with their options.
pub fn unit_features(
    name: &str,
    shingle: Option<i32>,
    options: &Options,
    example: &Example,
) -> Result<Features> {
    const SHINGLE: i64 = 4;
    if name != "shingles" && shingle.is_some() {
        return Err(SqlError::parameter(format!("features \"{name}\" makes no use of shingle"))
            .hint(such_as(&example.with("features", literal("shingles")).with("shingle", SHINGLE))));
    }
    Ok(match name {
        "shingles" => Features::Shingles(
            FeatureSpec::check_shingle("shingle", shingle.map_or(SHINGLE, i64::from))
                .map_err(|error| SqlError::from(error).hint(such_as(&example.with("shingle", SHINGLE))))?,
        ),
        "spotsigs" => Features::Spotsigs(spotsigs(options, example)?),
        _ => {
            let bound = |key: &str, default: f64| match options.value(key) {
                None => Ok(default),
                Some(value) => value.as_f64().ok_or_else(|| {
                    SqlError::parameter(format!("{key} must be a number from 0 to 1, not {value}"))
                        .hint(with(example, json!({ key: default })))
                }),
            };
            let range = IdfRange::new(bound("lo", 0.1)?, bound("hi", 1.0)?).map_err(|error| {
                SqlError::from(error).hint(with(example, json!({ "lo": 0.1, "hi": 1.0 })))
            })?;
            Features::Imatch(range)
        }
    })
}

/// How SpotSigs are made.
pub fn spotsigs(options: &Options, example: &Example) -> Result<SpotSpec> {
    const LENGTHS: RangeInclusive<i64> = 1..=100;
    let hint = || with(example, json!({ "antecedents": ["the", "a", "is"] }));
    let antecedents = match options.value("antecedents") {
        None => Antecedents::Common,
        Some(Value::Array(words)) => {
            let words: Option<Vec<String>> =
                words.iter().map(|word| word.as_str().map(str::to_owned)).collect();
            Antecedents::Listed(words.ok_or_else(|| {
                SqlError::parameter(
                    "antecedents must be a number of words of at least 1, or a list of single words",
                )
                .hint(hint())
            })?)
        }
        Some(_) => {
            let count = options.whole("antecedents", 1..=i64::from(u32::MAX), example)?.unwrap_or(1);
            Antecedents::Counted(u32::try_from(count).unwrap_or(u32::MAX))
        }
    };
    let default = SpotSpec::default();
    let length = |key: &'static str, default: u32| -> Result<u32> {
        let given = options.whole(key, LENGTHS, example)?;
        Ok(given.and_then(|length| u32::try_from(length).ok()).unwrap_or(default))
    };
    let spec = SpotSpec {
        antecedents,
        chain: length("chain", default.chain)?,
        distance: length("distance", default.distance)?,
    };
    spec.check().map_err(|error: Error| SqlError::from(error).hint(hint()))?;
    Ok(spec)
}

/// The hint that shows a call with some options.
fn with(example: &Example, options: Value) -> String {
    such_as(&example.with("options", literal(&options.to_string())))
}
