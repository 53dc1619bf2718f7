//! Methods `repeatability` and `exact_code`: compare documents by their feature codes.

use serde::Deserialize;
use serde_json::json;

use crate::pg::request::arguments::Arguments;
use crate::pg::request::example::such_as;
use crate::pg::request::options::{self, Number, Options, Real, read_by};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::error::Error;
use neardup_core::features::codes::CodeSpec;
use neardup_core::methods::Method;
use neardup_core::methods::codes::ByCodes;

/// The default minimum repeatability of near duplicates.
const REPEATABILITY: f64 = 0.75;

/// Options of both methods.
#[derive(Debug, Default, Deserialize)]
struct CodeOptions {
    anchors: Option<AnchorCharacters>,
    cut: Option<Number>,
    unit_length: Option<Number>,
    unit_share: Option<Real>,
    paragraphs: Option<Number>,
    ends: Option<Number>,
    min_length: Option<Number>,
    fallback: Option<Number>,
}

impl Options for CodeOptions {
    fn good(key: &str) -> Option<String> {
        let spec = CodeSpec::default();
        let value = match key {
            "anchors" => json!("\u{7684}"),
            "unit_share" => json!(spec.unit_share),
            "cut" => json!(spec.cut),
            "unit_length" => json!(spec.unit_length),
            "min_length" => json!(spec.min_length),
            "fallback" => json!(spec.fallback),
            _ => json!(spec.ends),
        };
        Some(json!({ key: value }).to_string())
    }
}

read_by! {
    /// Characters that are anchors in addition to punctuation.
    AnchorCharacters(Vec<char>): |value| {
        value.as_str().map(|anchors| anchors.chars().collect()).ok_or("a string of characters")
    };
}

/// Reads the parameters.
pub(crate) fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let exact = arguments.method == "exact_code";
    let threshold = arguments.threshold(if exact { 1.0 } else { REPEATABILITY })?;
    let options: CodeOptions = arguments.options()?;
    let number = |given: Option<Number>, default: usize| given.map_or(default, |number| number.0 as usize);
    let spec = CodeSpec::default();
    let spec = CodeSpec {
        anchors: options.anchors.map(|anchors| anchors.0).unwrap_or_default(),
        cut: number(options.cut, spec.cut),
        unit_length: number(options.unit_length, spec.unit_length),
        unit_share: options.unit_share.map_or(spec.unit_share, |share| share.0),
        paragraphs: number(options.paragraphs, spec.paragraphs),
        ends: number(options.ends, spec.ends),
        min_length: number(options.min_length, spec.min_length),
        fallback: number(options.fallback, spec.fallback),
    };
    spec.check().map_err(|error| {
        let hint = match &error {
            Error::Parameter { name, .. } => options::hint::<CodeOptions>(name, &arguments.example),
            _ => such_as(&arguments.example),
        };
        SqlError::from(error).hint(hint)
    })?;
    arguments.accept();
    arguments.whole_texts("compares feature codes")?;
    Ok(Box::new(ByCodes { spec, threshold: (!exact).then_some(threshold) }))
}
