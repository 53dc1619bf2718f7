//! What stands on the pages of an index, byte by byte.

pub mod format;
pub mod items;
pub mod meta;
