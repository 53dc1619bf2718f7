//! The methods of `near_duplicates`, one file each or a family of them: which arguments they know, and
//! how they find the pairs.

mod codes;
mod edit;
mod imatch;
mod options;
mod sets;
mod sketches;
mod spotsigs;
mod techniques;
mod tlcs;
mod token_sets;

use std::fmt::Debug;

use super::error::Result;
use super::reading::Reading;
use super::request::Arguments;
use crate::candidates::pairs::Pairs;
use crate::features::FeatureSpec;
use crate::verify::measure::Predicate;

/// A method with its parameters.
pub trait Method: Debug {
    /// Reads the documents and makes ready to find their pairs, as rows of the one table or of the two.
    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs>;

    /// How the pairs of a table can be brought up to date when some of its rows have changed.
    fn update(&self) -> Update {
        Update::Whole
    }
}

/// What the pairs of a table depend on.
#[derive(Debug, Clone, Copy)]
pub enum Update {
    /// On all its rows: a change makes all pairs anew.
    Whole,
    /// Each pair on its two documents alone.
    Pairs,
    /// Each pair on the token sets of its two documents, as this predicate says, the same in both directions.
    Sets(FeatureSpec, Predicate),
}

/// Reads a method's parameters.
pub type Parse = fn(&mut Arguments<'_>) -> Result<Box<dyn Method>>;

/// All methods by name, in the order in which hints list them.
const METHODS: &[(&str, Parse)] = &[
    (DEFAULT, sets::parse),
    ("cosine", sets::parse),
    ("dice", sets::parse),
    ("overlap", sets::parse),
    ("containment", sets::parse),
    ("edit", edit::parse),
    ("tlcs", tlcs::parse),
    ("lcs", tlcs::parse),
    ("minhash", sketches::parse),
    ("simhash", sketches::parse),
    ("shingling", sketches::parse),
    ("combined", sketches::parse_combined),
    ("imatch", imatch::parse),
    ("spotsigs", spotsigs::parse),
    ("exact_text", sketches::parse),
    ("title", sketches::parse_title),
    ("repeatability", codes::parse),
    ("exact_code", codes::parse),
];

/// The method of a call that names none.
pub const DEFAULT: &str = "jaccard";

/// The method of this name.
pub fn find(name: &str) -> Option<(&'static str, Parse)> {
    METHODS.iter().find(|(known, _)| *known == name).copied()
}

/// The names of all methods, for hints.
pub fn names() -> String {
    METHODS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}
