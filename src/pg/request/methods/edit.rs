//! Method `edit`: texts by their Levenshtein distance.

use super::sets::CandidateOptions;
use crate::methods::Method;
use crate::methods::edit::Edit;
use crate::pg::request::arguments::Arguments;
use crate::pg::server::error::Result;
use crate::verify::edit::EditPredicate;

/// Reads the parameters.
pub(crate) fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let predicate = EditPredicate::new(arguments.threshold(super::sets::DEFAULT_THRESHOLD)?)?;
    let algorithm = arguments.options::<CandidateOptions>()?.algorithm();
    arguments.accept();
    arguments.whole_texts("compares texts character by character")?;
    Ok(Box::new(Edit { predicate, algorithm }))
}
