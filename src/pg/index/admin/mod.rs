//! What users ask of an index by name: whether it is sound, and how it is doing.

pub mod check;
pub mod stats;
