//! The arguments of `nearest`.

use std::borrow::Cow;

use pgrx::{PgSqlErrorCode, pg_sys};
use serde::Deserialize;

use super::arguments::Arguments;
use super::example::{Example, literal, such_as};
use super::form::{Argument, Named};
use super::join::{made_tokens, refuse_normalization, refuse_sketches};
use super::limits::RowLimits;
use super::methods::{self, sets};
use super::options::{self, ColumnName, NormalizationForm, Options};
use super::tables::{Tables, Treatment};
use super::weights::{self, GivenWeight};
use crate::pg::read::source::DocumentSource;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::FeatureSpec;
use neardup_core::features::dictionary::weights::Weights;
use neardup_core::verify::measure::Measure;

/// A search for the nearest of each row.
#[derive(Debug)]
pub(crate) struct NearestRequest {
    /// The name of the function, for messages.
    pub name: &'static str,
    /// The documents.
    pub source: DocumentSource,
    /// The type of the ids.
    pub id_type: pg_sys::Oid,
    /// The rules that turn documents into sets.
    pub spec: FeatureSpec,
    /// The measure of similarity.
    pub measure: Measure,
    /// What the tokens weigh.
    pub weights: Weights,
    /// The number of rows to find for each row.
    pub k: usize,
}

/// The greatest number of rows to find for each row.
const MOST: i32 = 10_000;

impl NearestRequest {
    /// Reads the arguments of a call.
    pub(crate) fn new(given: Named<'_>) -> Result<Self> {
        let tables = Tables::open(given)?;
        let (columns, mut example, name) = (tables.columns()?, tables.example(), given.form.name);
        let k = given.need::<i32>(Argument::K).map_err(|error| error.hint(such_as(&example)))?;
        if !(1..=MOST).contains(&k) {
            let message = format!("k must be between 1 and {MOST}, not {k}");
            return Err(SqlError::parameter(message).hint(such_as(&example)));
        }
        example.threshold = Some(f64::from(k));
        let limits = RowLimits::new(given)?;
        example = limits.add_to(example);
        tables.tell_types(&columns);
        refuse_sketches(&columns, name)?;
        let asked = given.text(Argument::Method)?.unwrap_or(Cow::Borrowed(methods::DEFAULT));
        let Some(method) = sets::WITH_WEIGHTS.into_iter().find(|&method| method == asked) else {
            let message = format!("{name} has no method \"{asked}\": it compares sets");
            let hint = such_as(&example.with("method", literal("cosine")));
            return Err(SqlError::parameter(message)
                .hint(format!("Methods: {}. {hint}", sets::WITH_WEIGHTS.join(", "))));
        };
        if method != methods::DEFAULT {
            example = example.with("method", literal(method));
        }
        let mut arguments = Arguments {
            made: made_tokens(&columns),
            tokenizer: tables.tokenizer()?,
            shingle: given.get(Argument::Shingle),
            multiset: given.get(Argument::Multiset),
            example,
            ..Arguments::of_defaults(method)
        };
        let NearestOptions { normalize, url, weight } = options(given, &arguments.example)?;
        arguments.url = url;
        let spec = arguments.feature_spec(1)?;
        let normalize = normalize.map(|form| form.0);
        if normalize.is_some() {
            refuse_normalization(&columns, arguments.is_html())
                .map_err(|error| error.hint(such_as(&arguments.example)))?;
        }
        arguments.normalize = normalize;
        let weights = weights::weights(weight, spec, &arguments)?;
        let Arguments { tsearch, pages, .. } = arguments;
        let treatment = Treatment { tsearch, normalize, pages: pages.as_ref() };
        let (source, _) = tables.sources(columns, treatment, |table, n| limits.columns(table, n))?;
        if let Some(column) = source.source_of_several_forms().filter(|_| limits.has_groups()) {
            let message = format!(
                "nearest with within and across compares sources as texts, and equal values of column \"{column}\" may be different texts"
            );
            let mut alone = tables.example().with("across", literal(column));
            alone.threshold = Some(f64::from(k));
            let hint = format!("Compare {column}::text in a view, or give one of them. {}", such_as(&alone));
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(hint));
        }
        // The value is in its range.
        let (id_type, k) = (tables.id_type(), k as usize);
        Ok(Self { name, source, id_type, spec, measure: sets::measure(method, 1), weights, k })
    }
}

/// The options of the function.
#[derive(Debug, Default, Deserialize)]
struct NearestOptions {
    /// The normalization form of the texts.
    normalize: Option<NormalizationForm>,
    /// The column with the URLs of HTML pages.
    url: Option<ColumnName>,
    /// What words weigh.
    weight: Option<GivenWeight>,
}

impl Options for NearestOptions {
    fn good(key: &str) -> Option<String> {
        sets::CandidateOptions::good(key)
    }
}

/// Reads the options of a call.
fn options(given: Named<'_>, example: &Example) -> Result<NearestOptions> {
    let hint = || such_as(&options::with(example, "{\"normalize\": \"nfkc\"}"));
    let asked = options::given(given.json(Argument::Options), hint)?;
    options::only_known(&asked, options::names::<NearestOptions>(), example)?;
    options::read(&asked, example)
}
