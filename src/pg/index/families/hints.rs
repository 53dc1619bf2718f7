//! What to do with a value that an index cannot contain.

use pgrx::PgSqlErrorCode;
use serde_json::{Map, Value};

use super::class::OperatorClass;
use super::class_options::LEAST;
use crate::pg::request::example::literal;
use crate::pg::request::features::spec_of;
use crate::pg::server::checks::ball_of_a_document;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::dictionary::weights::GREATEST;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;
use neardup_core::search::ball::{SetBall, SetParameters, measure_name};
use neardup_core::search::edit_ball::EditBall;
use neardup_core::search::weights::KeyWeights;
use neardup_core::verify::measure::Measure;

/// The hint for balls that no index can find.
const NO_OVERLAP: &str = "No index finds by measure overlap: near(body, 0.8, method => 'containment')";

/// Returns the operator class whose indexes can contain a ball, with the options that are not its
/// defaults, or `None` if there is none.
pub(crate) fn class_for(ball: &[u8]) -> Option<String> {
    let normalize = |form: Normalization| format!("normalize = {}", form.name());
    if EditBall::is(ball) {
        let form = EditBall::parse(ball).ok()?.normalization;
        return Some(with_options(OperatorClass::BallGrams, [form.map(normalize)]));
    }
    let SetBall { parameters, similarity, .. } = SetBall::parse(ball).ok()?;
    let SetParameters { measure, origin, features, normalization, weights } = parameters;
    let tokenizer = origin.tokenizer();
    let usual = spec_of(tokenizer, None, None, 1).ok()?;
    let repeats = spec_of(tokenizer, Some(features.shingle as i32), None, 1).ok()?.multiset;
    let options = [
        (measure != Measure::Jaccard).then(|| format!("measure = {}", measure_name(measure))),
        (features.shingle != usual.shingle).then(|| format!("shingle = {}", features.shingle)),
        (features.multiset != repeats).then(|| format!("multiset = {}", features.multiset)),
        (origin != Origin::Words).then(|| format!("tokenizer = {}", origin.name())),
        normalization.map(normalize),
        weights.as_deref().map(weight),
        (similarity < LEAST).then(|| format!("threshold = {similarity}")),
    ];
    (measure != Measure::Overlap).then(|| with_options(OperatorClass::BallSet, options))
}

/// Returns the option for these weights, as shares of the weight of another word.
fn weight(weights: &KeyWeights) -> String {
    let share = |weight| f64::from(weight) / f64::from(GREATEST);
    let list: Map<String, Value> =
        weights.list().map(|(word, weight)| (word.to_owned(), share(weight).into())).collect();
    format!("weight = {}", literal(&Value::Object(list).to_string()))
}

/// Returns the name of a class with those options that are given.
fn with_options(class: OperatorClass, options: impl IntoIterator<Item = Option<String>>) -> String {
    let options: Vec<String> = options.into_iter().flatten().collect();
    let name = class.name();
    if options.is_empty() { name.to_owned() } else { format!("{name} ({})", options.join(", ")) }
}

/// Returns the hint for a ball that an index cannot contain: to make one for it. `make` is how the
/// hint begins.
fn index_for(make: &str, ball: &[u8]) -> String {
    match class_for(ball) {
        Some(class) => format!("{make} an index for them: USING signature (… {class} WITH &&)"),
        None => NO_OVERLAP.to_owned(),
    }
}

/// Returns the error for a ball with other parameters than the index has.
pub(super) fn other_ball(index: &str, value: &str, ball: &[u8]) -> SqlError {
    SqlError::parameter(format!("the index is for balls of {index}, not of {value}"))
        .hint(index_for("Make", ball))
}

/// Parses a ball for an index of sets.
pub(super) fn ball_of_sets(bytes: &[u8]) -> Result<SetBall<'_>> {
    ball_of_a_document(bytes).map_err(|error| match EditBall::is(bytes) {
        true => error.hint(format!(
            "Make it by a measure of sets: near(body, 0.8, method => 'jaccard'); or make an index for such balls: USING signature (… {} WITH &&)",
            OperatorClass::BallGrams.name()
        )),
        false => error,
    })
}

/// Parses a ball for an index of grams of this class.
pub(super) fn ball_of_edits(class: OperatorClass, bytes: &[u8]) -> Result<EditBall<'_>> {
    if !EditBall::is(bytes) {
        let message = format!("{} is for balls by edit distance, not for balls of sets", class.name());
        let make = "Make them by edit distance: near(body, 0.8, method => 'edit'); or make";
        return Err(SqlError::parameter(message).hint(index_for(make, bytes)));
    }
    Ok(EditBall::parse(bytes)?)
}

/// Returns the error for a sketch with other settings than the index has; `options` are those of an
/// index for it.
pub(super) fn other_sketch(class: OperatorClass, index: &str, value: &str, options: &str) -> SqlError {
    SqlError::new(
        PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("the index is for sketches of {index}, not of {value}"),
    )
    .hint(format!("Make an index for them: CREATE INDEX … USING signature (… {} ({options}));", class.name()))
}

/// Says that an index is for balls with other parameters than this one has.
pub(super) fn unlike(ball: &str, index: &str) -> String {
    format!("the index is for {index}, the ball for {ball}")
}
