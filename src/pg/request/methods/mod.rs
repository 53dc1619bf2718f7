//! The methods of `near_duplicates`, one file each or a family of them: which arguments they know, and
//! how they find the pairs.

pub mod codes;
pub mod edit;
pub mod imatch;
pub mod options;
pub mod pair;
pub mod sets;
pub mod sketches;
pub mod spotsigs;
pub mod techniques;
pub mod tlcs;
pub mod token_sets;

use std::fmt::Debug;

use super::Arguments;
use crate::clusters::leaders::Leaders;
use crate::clusters::perhaps_similar::of_sentences::SentenceSets;
use crate::error::Result as CoreResult;
use crate::features::FeatureSpec;
use crate::joins::pairs::Pairs;
use crate::pg::query::ids::Ids;
use crate::pg::read::documents::Reading;
use crate::pg::server::error::Result;
use crate::verify::predicate::Predicate;
use crate::workers::Stop;
pub use pair::{Explanation, Pair};

/// A method with its parameters.
pub trait Method: Debug + Sync {
    /// Reads the documents and makes ready to find their pairs, as rows of the one table or of the two.
    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs>;

    /// Reads the documents and finds those that go where the longest are to stay, for a method that needs no pairs
    /// for that: the rows in the order of their ids, and what becomes of each. Other methods read nothing.
    fn eliminate(&self, _reading: &mut Reading<'_>) -> Result<Option<(Vec<u32>, Leaders)>> {
        Ok(None)
    }

    /// What the method says of one pair: its similarity, whether it is in or not, and what that is made of.
    fn explain(&self, pair: &Pair<'_>, stop: &Stop) -> CoreResult<Explanation>;

    /// Makes perhaps-similar sets without looking for pairs before; none of a method that has no signatures
    /// for that.
    fn grouping(&self) -> Option<&dyn Grouping> {
        None
    }

    /// How the pairs of a table can be brought up to date when some of its rows have changed.
    fn update(&self) -> Update {
        Update::Whole
    }
}

/// Gives the weights of rows, in the order of their ids, once these are read and ordered.
pub type Weigh<'a> = &'a mut dyn FnMut(&Ids, &[u32]) -> Result<Option<Vec<i64>>>;

/// Makes perhaps-similar sets of the rows of a table.
pub trait Grouping {
    /// The column that rows are weighed by, where one was given.
    fn weight(&self) -> Option<&str>;

    /// Reads the documents and makes their sets, to be compared with their representatives.
    fn sets(&self, reading: &mut Reading<'_>, weigh: Weigh<'_>) -> Result<SentenceSets>;
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

/// All methods as they are where nothing but the name is given, in the order of hints.
pub fn with_defaults() -> Result<Vec<(&'static str, Box<dyn Method>)>> {
    METHODS.iter().map(|&(name, parse)| Ok((name, parse(&mut Arguments::of_defaults(name))?))).collect()
}

/// The names of all methods, for hints.
pub fn names() -> String {
    METHODS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}
