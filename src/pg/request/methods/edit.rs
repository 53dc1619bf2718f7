//! Method `edit`: compares texts by their Levenshtein distance.

use super::sets::{CandidateOptions, DEFAULT_THRESHOLD};
use crate::pg::request::arguments::Arguments;
use crate::pg::server::error::Result;
use neardup_core::methods::Method;
use neardup_core::methods::edit::Edit;
use neardup_core::verify::edit::EditPredicate;

/// Reads the parameters.
pub(crate) fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let given = arguments.threshold;
    let threshold = arguments.threshold(DEFAULT_THRESHOLD)?;
    let options: CandidateOptions =
        arguments.options_of(&[CandidateOptions::OF_ALL, &["distance"]].concat())?;
    let distance = options.distance;
    if distance.is_some() {
        arguments.example.threshold = given;
    }
    // If only one of the two limits is given, only this limit applies.
    let predicate = match (given, distance) {
        (None, Some(distance)) => EditPredicate::within(distance.0),
        (_, Some(distance)) => EditPredicate::new(threshold)?.and_within(distance.0),
        (_, None) => EditPredicate::new(threshold)?,
    };
    let algorithm = options.algorithm();
    arguments.accept();
    arguments.whole_texts("compares texts character by character")?;
    Ok(Box::new(Edit { predicate, algorithm }))
}
