//! The choice of a method and a threshold: `suggest` (docs/reference/functions.md, *Pairs*), and
//! the pairs to label for it.

mod labels;
mod pairs;
mod survey;

use pgrx::pg_sys::{self, Datum};

use self::labels::{Labels, id_type};
use self::survey::Survey;
use crate::pg::request::example::{Example, literal};
use crate::pg::request::form::{Argument, Named, SUGGEST};
use crate::pg::request::{Request, such_as};
use crate::pg::server::call::sql_functions;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::own_schema::calls;
use crate::pg::server::set_returning::{self, Row, RowSource, Rows, float};
use crate::pg::server::values::text;
use neardup_core::suggest::advice::{Advice, advice, of_all};
use neardup_core::suggest::answers::{Interval, ThresholdEstimate};
use neardup_core::suggest::labelled::{labelled, weighed};

sql_functions! {
    /// `suggest(docs, id_column, text_column, sample, labels, min_precision)`
    neardup_suggest: |call| {
        set_returning::answer(call, || suggestions(SUGGEST.bind(call)))
    };
}

const COLUMNS: [&str; 12] = [
    "using_method",
    "fits",
    "threshold",
    "pairs",
    "reason",
    "call",
    "precision",
    "precision_low",
    "precision_high",
    "recall",
    "recall_low",
    "recall_high",
];

/// Returns the advice as rows.
fn suggestions(given: Named<'_>) -> Result<impl RowSource<{ COLUMNS.len() }> + use<>> {
    let request = Request::new(given)?;
    let labels: Option<pg_sys::Oid> = given.get(Argument::Labels);
    let labels = labels.map(|labels| Labels::open(labels, &request)).transpose()?;
    let wanted = wanted(given, &request, labels.is_some())?;
    let survey = Survey::new(&request, given, None)?;
    let Survey { profile, curve, shares, documents, .. } = &survey;
    let mut advice = advice(profile, curve, shares.as_ref(), *documents);
    let mut rows: Vec<(Advice, Option<ThresholdEstimate>)> = Vec::new();
    // The answers are about the similarity of whole texts.
    let of_wholes = advice.iter().position(|advice| advice.method == "jaccard");
    if let (Some(labels), Some(of_wholes)) = (labels, of_wholes) {
        let given = labels.answers(&request, profile)?;
        let answers = labels::counted(&given);
        let all = |pairs: u64| of_all(pairs, *documents);
        let of_wholes = advice.remove(of_wholes);
        let with_labels = labelled(&of_wholes, &answers, curve, wanted, all);
        rows.extend(with_labels.into_iter().map(|row| (row.advice, Some(row.estimate))));
        if let Some(gain) = labels.weighed(&request, &survey, &given)? {
            // A wanted precision comes first.
            let place = usize::from(wanted.is_some()).min(rows.len());
            rows.insert(place, (weighed(&of_wholes, &gain, *documents), None));
        }
    }
    rows.extend(advice.into_iter().map(|advice| (advice, None)));
    let example = request.example.for_function("near_duplicates", id_type(&request));
    Ok(Rows(COLUMNS, rows.into_iter().map(move |(advice, estimate)| row(&example, &advice, estimate))))
}

/// Returns the call that a piece of advice is about.
fn advised_call(example: &Example, advice: &Advice) -> String {
    let mut example = example.at(advice.threshold);
    if advice.method == "partial_duplicates" {
        example = example.for_function("partial_duplicates", example.id_type.clone());
    } else if advice.method != "jaccard" {
        example = example.with("method", literal(advice.method));
    }
    if advice.is_weighed {
        example = example.with("options", literal("{\"weight\": \"idf\"}"));
    }
    if let (Some(least), Some(most)) = (advice.min_run, advice.max_documents) {
        let options = format!("{{\"min_run\": {least}, \"max_documents\": {most}}}");
        example = example.with("options", literal(&options));
    }
    if let Some(tokenizer) = advice.tokenizer {
        example = example.with("tokenizer", literal(tokenizer));
    }
    if let Some(shingle) = advice.shingle {
        example = example.with("shingle", shingle);
    }
    calls(&format!("SELECT * FROM {example};")).into_owned()
}

/// Reads the wanted precision.
fn wanted(given: Named<'_>, request: &Request, has_labels: bool) -> Result<Option<f64>> {
    let name = Argument::MinPrecision.name();
    let Some(wanted) = given.get::<f64>(Argument::MinPrecision) else { return Ok(None) };
    let works = request.example.at(None).with("labels", literal("answers")).with(name, 0.95);
    if !(wanted > 0.0 && wanted <= 1.0) {
        let message = format!("{name} must be above 0 and at most 1, not {wanted}");
        return Err(SqlError::parameter(message).hint(such_as(&works)));
    }
    if !has_labels {
        return Err(SqlError::parameter(format!("{name} needs labels")).hint(such_as(&works)));
    }
    Ok(Some(wanted))
}

/// Returns a piece of advice as a row.
fn row(
    example: &Example,
    advice: &Advice,
    estimate: Option<ThresholdEstimate>,
) -> Result<Row<{ COLUMNS.len() }>> {
    let mut row = [None; COLUMNS.len()];
    row[..6].copy_from_slice(&[
        Some(text(advice.method)?),
        Some(Datum::from(advice.fits)),
        advice.threshold.and_then(float),
        advice.pairs.map(Datum::from),
        Some(text(&advice.reason)?),
        Some(text(&advised_call(example, advice))?),
    ]);
    let shares = estimate.map_or([None, None], |estimate| [estimate.precision, estimate.recall]);
    for (columns, share) in row[6..].chunks_mut(3).zip(shares) {
        if let Some(Interval { value, low, high }) = share {
            columns.copy_from_slice(&[value, low, high].map(float));
        }
    }
    Ok(row)
}
