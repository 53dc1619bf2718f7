//! The contents of the pages of an index, byte by byte.

pub(crate) mod format;
pub(crate) mod group;
pub(crate) mod items;
pub(crate) mod meta;
