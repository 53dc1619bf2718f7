//! What a search demands of strings, by either of the measures that an index of grams serves.

use super::edit::EditDemand;
use super::{Demand, StoredSize};

/// The similarity that a search demands of strings.
#[derive(Debug, Clone)]
pub enum Sought {
    /// The Jaccard similarity of the multisets of grams.
    Grams(Demand),
    /// The similarity by edit distance.
    Edit(EditDemand),
}

impl Sought {
    /// Returns the demand by edit distance, if it is one.
    pub fn edit(&self) -> Option<&EditDemand> {
        match self {
            Self::Grams(_) => None,
            Self::Edit(edit) => Some(edit),
        }
    }

    /// Reports whether a string that shares `shared` elements, or perhaps fewer, can be similar
    /// enough.
    pub fn accepts(&self, string: StoredSize, shared: u32) -> bool {
        match self {
            Self::Grams(grams) => grams.accepts(string.size, shared),
            Self::Edit(edit) => edit.accepts(string, shared),
        }
    }

    /// Returns the greatest similarity that a string can have that shares `shared` elements, or
    /// perhaps fewer.
    pub fn similarity(&self, string: StoredSize, shared: u32) -> f64 {
        match self {
            Self::Grams(grams) => grams.similarity(string.size, shared),
            Self::Edit(edit) => edit.similarity(string, shared),
        }
    }

    /// Returns the greatest similarity of a string of a group that shares `shared` elements, or
    /// None if no string of the group is similar enough with so few. Strings of which white space
    /// is left out may be more similar by edit distance.
    pub fn greatest(&self, group: u32, shared: u32) -> Option<f64> {
        match self {
            Self::Grams(grams) => grams.greatest(group, shared),
            Self::Edit(edit) => edit.greatest(group, shared),
        }
    }

    /// Returns the groups in which strings can be similar enough, the most similar ones first.
    pub fn groups(&self) -> Vec<u32> {
        match self {
            Self::Grams(grams) => grams.groups(),
            Self::Edit(edit) => edit.groups(),
        }
    }

    /// Returns the least number of elements that a string of a group shares if it is similar enough
    /// and `is_wanted` holds for its similarity, or None if there is no such string.
    pub fn least_shared(&self, group: u32, is_wanted: impl Fn(f64) -> bool) -> Option<u32> {
        match self {
            Self::Grams(grams) => grams.least_shared(group, is_wanted),
            Self::Edit(edit) => edit.least_shared(group, is_wanted),
        }
    }
}
