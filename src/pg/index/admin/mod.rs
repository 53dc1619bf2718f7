//! What users ask of an index by name: whether it is sound, and how it is doing.

pub(crate) mod check;
mod compare;
mod filter;
pub(crate) mod fits;
mod marks;
mod shards;
pub(crate) mod stats;
