//! The methods of `near_duplicates` by name. Each method reads its parameters from the arguments.

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
use neardup_core::methods::Method;

/// A function that reads a method's parameters.
pub(crate) type Parse = fn(&mut Arguments<'_>) -> Result<Box<dyn Method>>;

/// All methods by name, in the order in which hints list them.
const METHODS: &[(&str, Parse)] = &[
    (DEFAULT, sets::parse),
    ("cosine", sets::parse),
    ("dice", sets::parse),
    ("overlap", sets::parse),
    ("containment", sets::parse),
    ("hamming", sets::parse),
    ("edit", sets::parse_edit),
    ("tlcs", tlcs::parse),
    ("lcs", tlcs::parse),
    ("runs", runs::parse),
    ("minhash", sketches::parse),
    ("simhash", sketches::parse),
    ("shingling", sketches::parse),
    ("combined", combined::parse),
    ("imatch", signatures::parse_imatch),
    ("spotsigs", signatures::parse_spotsigs),
    ("exact_text", sketches::parse),
    ("title", sketches::parse_title),
    ("repeatability", codes::parse),
    ("exact_code", codes::parse),
];

/// The method of a call that names none.
pub(crate) const DEFAULT: &str = "jaccard";

/// Returns the name of the method `name`, and the function that reads the method's parameters.
pub(crate) fn find(name: &str) -> Option<(&'static str, Parse)> {
    METHODS.iter().find(|(known, _)| *known == name).copied()
}

/// Returns all methods with their default parameters, in the order in which hints list them.
pub(crate) fn with_defaults() -> Result<Vec<(&'static str, Box<dyn Method>)>> {
    METHODS.iter().map(|&(name, parse)| Ok((name, parse(&mut Arguments::of_defaults(name))?))).collect()
}

/// Returns the names of all methods.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    METHODS.iter().map(|(name, _)| *name)
}

/// Lists the names of all methods, for hints.
pub(crate) fn names() -> String {
    all().collect::<Vec<_>>().join(", ")
}
