//! The functions that users call on an index: checks and statistics.

pub(crate) mod check;
mod compare;
mod filter;
pub(crate) mod fits;
mod marks;
mod shards;
pub(crate) mod stats;
