//! The storage of an index: the pending pages, to which inserts append rows, and the segments that
//! are made from pending pages and from other segments.

pub(crate) mod cursor;
pub(crate) mod flush;
mod group_order;
pub(crate) mod list_bytes;
pub(crate) mod list_reader;
mod lists;
pub(crate) mod maintenance;
mod merge;
pub(crate) mod order;
pub(crate) mod pending;
pub(crate) mod segment;
pub(crate) mod sort;
pub(crate) mod spool;
pub(crate) mod writer;
