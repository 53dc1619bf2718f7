//! Method `edit`: texts by their Levenshtein distance.

use super::sets::algorithm;
use crate::methods::Method;
use crate::methods::edit::Edit;
use crate::pg::request::Arguments;
use crate::pg::server::error::Result;
use crate::verify::edit::EditPredicate;

/// Reads the parameters.
pub fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let predicate = EditPredicate::new(arguments.threshold(super::sets::DEFAULT_THRESHOLD)?)?;
    let options = arguments.options(&["algorithm", "max_depth"])?;
    let algorithm = algorithm(&options, &arguments.example)?;
    arguments.accept(options);
    arguments.whole_texts("compares texts character by character")?;
    Ok(Box::new(Edit { predicate, algorithm }))
}
