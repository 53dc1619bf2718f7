//! The functions that users call on an index: checks and statistics.

pub(crate) mod check;
mod compare;
pub(crate) mod stats;
