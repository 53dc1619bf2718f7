//! Methods `repeatability` and `exact_code`: documents by their feature codes.

use serde_json::Value;

use super::options::Read;
use crate::error::Error;
use crate::features::codes::CodeSpec;
use crate::methods::Method;
use crate::methods::codes::ByCodes;
use crate::pg::request::{Arguments, such_as};
use crate::pg::server::error::{Result, SqlError};

/// The repeatability of near duplicates, by default.
const REPEATABILITY: f64 = 0.75;

const OPTIONS: &[&str] =
    &["anchors", "cut", "unit_length", "unit_share", "paragraphs", "ends", "min_length", "fallback"];

/// Reads the parameters.
pub fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let exact = arguments.method == "exact_code";
    let threshold = arguments.threshold(if exact { 1.0 } else { REPEATABILITY })?;
    let options = arguments.options(OPTIONS)?;
    let read = Read { options: &options, example: &arguments.example, good };
    let anchors = match options.0.get("anchors") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::String(anchors)) => anchors.chars().collect(),
        Some(value) => return Err(read.wrong("anchors", value.to_string(), "a string of characters")),
    };
    let spec = CodeSpec::default();
    let whole = |name, default| read.whole(name, default as u32).map(|number| number as usize);
    let spec = CodeSpec {
        anchors,
        cut: whole("cut", spec.cut)?,
        unit_length: whole("unit_length", spec.unit_length)?,
        unit_share: read.number("unit_share")?.unwrap_or(spec.unit_share),
        paragraphs: whole("paragraphs", spec.paragraphs)?,
        ends: whole("ends", spec.ends)?,
        min_length: whole("min_length", spec.min_length)?,
        fallback: whole("fallback", spec.fallback)?,
    };
    spec.check().map_err(|error| match error {
        Error::Parameter { name, value, allowed } => read.wrong(name, value, allowed),
        other => SqlError::from(other).hint(such_as(&arguments.example)),
    })?;
    arguments.accept(options);
    arguments.whole_texts("compares feature codes")?;
    Ok(Box::new(ByCodes { spec, threshold: (!exact).then_some(threshold) }))
}

/// A value of an option that is good.
fn good(name: &str) -> Value {
    let spec = CodeSpec::default();
    match name {
        "anchors" => Value::from("\u{7684}"),
        "unit_share" => Value::from(spec.unit_share),
        "cut" => Value::from(spec.cut),
        "unit_length" => Value::from(spec.unit_length),
        "min_length" => Value::from(spec.min_length),
        "fallback" => Value::from(spec.fallback),
        _ => Value::from(spec.ends),
    }
}
