//! Method `edit`: compares texts by their Levenshtein distance.

use serde::Deserialize;

use super::sets::{AlgorithmName, CandidateOptions, DEFAULT_THRESHOLD, Depth};
use crate::pg::request::arguments::Arguments;
use crate::pg::request::options::{Number, Options};
use crate::pg::server::error::Result;
use neardup_core::methods::Method;
use neardup_core::methods::edit::Edit;
use neardup_core::verify::edit::EditPredicate;

/// Options of `edit`.
#[derive(Debug, Default, Deserialize)]
struct EditOptions {
    algorithm: Option<AlgorithmName>,
    max_depth: Option<Depth>,
    /// The maximum number of edits.
    distance: Option<Number>,
}

impl Options for EditOptions {}

/// Reads the parameters.
pub(crate) fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let given = arguments.threshold;
    let threshold = arguments.threshold(DEFAULT_THRESHOLD)?;
    let EditOptions { algorithm, max_depth, distance } = arguments.options()?;
    if distance.is_some() {
        arguments.example.threshold = given;
    }
    // If only one of the two limits is given, only this limit applies.
    let predicate = match (given, distance) {
        (None, Some(distance)) => EditPredicate::within(distance.0),
        (_, Some(distance)) => EditPredicate::new(threshold)?.and_within(distance.0),
        (_, None) => EditPredicate::new(threshold)?,
    };
    let algorithm = CandidateOptions { algorithm, max_depth }.algorithm();
    arguments.accept();
    arguments.whole_texts("compares texts character by character")?;
    Ok(Box::new(Edit { predicate, algorithm }))
}
