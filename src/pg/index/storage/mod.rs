//! The lists of an index: pending ones as they come in, segments as they are merged.

pub mod choice;
pub mod cursor;
pub mod find;
pub mod merge;
pub mod pending;
pub mod segment;
pub mod sort;
pub mod spool;
pub mod writer;
