//! The methods of `near_duplicates` by name. Each method reads its parameters from the arguments.

mod alone;
pub(crate) mod codes;
pub(crate) mod combined;
mod rules;
pub(crate) mod runs;
pub(crate) mod sets;
pub(crate) mod signatures;
pub(crate) mod sketches;
pub(crate) mod stored;
pub(crate) mod techniques;
pub(crate) mod tlcs;

use super::arguments::Arguments;
use super::example::literal;
use crate::pg::server::error::Result;
pub(crate) use alone::COMBINED;
use alone::{METHODS, Parse};
use neardup_core::methods::Method;
use neardup_core::sketches::stored::SketchKind;

/// The method of a call that names none.
pub(crate) const DEFAULT: &str = "jaccard";

/// Returns the name of the method `name`, and the function that reads the method's parameters.
pub(crate) fn find(name: &str) -> Option<(&'static str, Parse)> {
    let found = METHODS.iter().find(|(known, _)| *known == name);
    found.map(|&(known, parse)| (known, parse.unwrap_or(combined::parse)))
}

/// Reads the parameters of a method on a column of stored sketches.
pub(crate) fn of_sketches(
    arguments: &mut Arguments<'_>,
    kind: SketchKind,
    column: &str,
) -> Result<Box<dyn Method>> {
    if arguments.method == COMBINED {
        arguments.example = arguments.example.with("method", literal(COMBINED));
        stored::refuse_cutting(arguments, kind, column)?;
        return combined::parse_of(arguments, Some((kind, column)));
    }
    stored::parse(arguments, kind, column)
}

/// Returns all methods with their default parameters, in the order in which hints list them.
pub(crate) fn with_defaults() -> Result<Vec<(&'static str, Box<dyn Method>)>> {
    let parsed = METHODS.iter().map(|&(name, parse)| {
        let parse = parse.unwrap_or(combined::parse);
        Ok((name, parse(&mut Arguments::of_defaults(name))?))
    });
    parsed.collect()
}

/// Returns the names of all methods.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    METHODS.iter().map(|(name, _)| *name)
}

/// Lists the names of all methods, for hints.
pub(crate) fn names() -> String {
    all().collect::<Vec<_>>().join(", ")
}
