//! Exact search for the sets that are similar to a given one, by an index that is kept.

pub mod ball;
pub mod json;
pub mod rice;
