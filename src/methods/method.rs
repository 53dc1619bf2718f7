//! What a method is.

use std::fmt::Debug;

use super::explain::Explanation;
use super::pair::TwoTexts;
use super::reading::Reading;
use crate::clusters::leaders::Leaders;
use crate::clusters::perhaps_similar::of_sentences::SentenceSets;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::joins::pairs::Pairs;
use crate::joins::sketches::banding::Banding;
use crate::verify::predicate::Predicate;

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
    fn explain(&self, pair: &TwoTexts<'_>, stop: &Stop) -> Result<Explanation>;

    /// Makes perhaps-similar sets without looking for pairs before; none of a method that has no signatures
    /// for that.
    fn grouping(&self) -> Option<&dyn Grouping> {
        None
    }

    /// The bands of which two similar documents share one, where all that is compared besides is their sets; none of other methods.
    fn bands(&self) -> Option<Bands> {
        None
    }

    /// How the pairs of a table can be brought up to date when some of its rows have changed.
    fn update(&self) -> Update {
        Update::Whole
    }
}

/// Makes perhaps-similar sets of the rows of a table.
pub trait Grouping {
    /// The column that rows are weighed by, where one was given.
    fn weight(&self) -> Option<&str>;

    /// Reads the documents and makes their sets, to be compared with their representatives.
    fn sets(&self, reading: &mut Reading<'_>) -> Result<SentenceSets>;
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

/// Bands of minhash.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bands {
    /// What sets are made of.
    pub feature: FeatureSpec,
    /// How many there are, of how many values.
    pub plan: Banding,
    /// Draws the hash functions.
    pub seed: i64,
    /// The least similarity of sets.
    pub threshold: f64,
}
