//! The methods of `near_duplicates` by name. Each method reads its parameters from the arguments.

mod alone;
pub(crate) mod codes;
pub(crate) mod combined;
pub(crate) mod runs;
pub(crate) mod sets;
pub(crate) mod signatures;
pub(crate) mod sketches;
pub(crate) mod stored;
pub(crate) mod techniques;
pub(crate) mod tlcs;

use super::arguments::Arguments;
use crate::pg::server::error::Result;
use alone::{METHODS, Parse};
use neardup_core::methods::Method;

/// The method of a call that names none.
pub(crate) const DEFAULT: &str = "jaccard";

/// Returns the name of the method `name`, and the function that reads the method's parameters.
pub(crate) fn find(name: &str) -> Option<(&'static str, Parse)> {
    let found = METHODS.iter().find(|(known, _)| *known == name);
    found.map(|&(known, parse)| (known, parse.unwrap_or(combined::parse)))
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
