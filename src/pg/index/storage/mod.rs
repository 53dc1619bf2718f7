//! The storage of an index: pending pages as rows come in, and segments that are merged.

pub(crate) mod choice;
pub(crate) mod cursor;
pub(crate) mod find;
pub(crate) mod list_reader;
mod lists;
pub(crate) mod merge;
pub(crate) mod order;
pub(crate) mod pending;
pub(crate) mod segment;
pub(crate) mod sort;
pub(crate) mod spool;
pub(crate) mod writer;
