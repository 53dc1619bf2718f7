//! Where documents come from: the tables of a server, or a corpus in memory.

use super::sites::Sites;
use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::features::source_document::SourceDocument;

/// One of two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The only table, or the left one.
    Left,
    /// The right one.
    Right,
}

/// The documents of one table or of two, read one table after the other. Rows are numbered in the order in which
/// they come; each is known by an id, and ids have an order of their own.
///
/// A source may fail for reasons that the core knows nothing of: then it keeps its error for the caller, and gives
/// [`crate::error::Error::Source`].
pub trait Documents {
    /// Whether there are two tables.
    fn has_right(&self) -> bool;

    /// Begins to read a table.
    fn begin(&mut self, side: Side) -> Result<()>;

    /// Reads a few documents more, each with the number of its row in this table, and gives about how many bytes they
    /// are. Rows without a text are counted only.
    fn fetch(&mut self, documents: &mut Vec<(u32, SourceDocument)>) -> Result<usize>;

    /// Is told that the document of a row of this table was given packed and cannot be read: gives the error of the call.
    fn unreadable(&mut self, _row: u32, why: Error) -> Error {
        why
    }

    /// Whether the table has no more.
    fn ended(&self) -> bool;

    /// Whether documents come without delay now, so that they can be read while workers are busy.
    fn is_ready(&self) -> bool;

    /// Ends reading a table; an error if two rows have the same id.
    fn end(&mut self, side: Side, executor: &dyn Executor) -> Result<()>;

    /// How many rows of a table were read.
    fn rows(&self, side: Side) -> usize;

    /// The bytes of the ids of all rows.
    fn ids_bytes(&self) -> usize;

    /// The rows of a table in the order of their ids, once it is read.
    fn order(&mut self, side: Side, executor: &dyn Executor) -> Result<Vec<u32>>;

    /// The sites of all rows, those of the right table behind the left one's, where they are known.
    fn sites(&self) -> Option<&Sites>;

    /// The weights of the left table's rows in this order, where they have any.
    fn weights(&mut self, order: &[u32]) -> Result<Option<Vec<i64>>>;
}

/// Is told where a long call is. Never called while workers run.
pub trait Progress {
    /// Says where the call is; `state` puts that in words, which may not be wanted.
    fn report(&mut self, state: &dyn Fn() -> String);
}

/// Tells nobody.
#[derive(Debug, Clone, Copy)]
pub struct Quiet;

impl Progress for Quiet {
    fn report(&mut self, _state: &dyn Fn() -> String) {}
}
