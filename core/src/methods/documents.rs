//! Sources of documents: the tables of a server, or a corpus in memory.

use super::sites::Sites;
use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::features::source_document::SourceDocument;
use crate::memory;

/// One of two tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The only table, or the left one.
    Left,
    /// The right table.
    Right,
}

/// The documents of one or two tables, read one table after the other. Rows are numbered in the
/// order in which they are read. Each row has an id, and ids have an order of their own.
///
/// A source may fail for reasons that are unknown to the core. It then keeps its error for the
/// caller and returns [`crate::error::Error::Source`].
pub trait Documents {
    /// Reports whether there are two tables.
    fn has_right(&self) -> bool;

    /// Forgets what was read, so that all tables are read once more.
    fn again(&mut self) {}

    /// Begins to read a table.
    fn begin(&mut self, side: Side) -> Result<()>;

    /// Reads a few more documents, each with the number of its row in this table, and returns their
    /// approximate size in bytes. Rows without a text are only counted.
    fn fetch(&mut self, documents: &mut Vec<(u32, SourceDocument)>) -> Result<usize>;

    /// Is called if the packed document of a row of a table cannot be read. Returns the error with
    /// which the call fails.
    fn unreadable(&mut self, _side: Side, _row: u32, why: Error) -> Error {
        why
    }

    /// Reports whether the table has no more rows.
    fn ended(&self) -> bool;

    /// Reports whether documents are available without delay now, so that they can be read while
    /// workers are busy.
    fn is_ready(&self) -> bool;

    /// Ends reading a table. Fails if two rows have the same id.
    fn end(&mut self, _side: Side, _executor: &dyn Executor) -> Result<()> {
        Ok(())
    }

    /// Returns the number of rows of a table that were read.
    fn rows(&self, side: Side) -> usize;

    /// Returns the number of bytes that the ids of all rows take.
    fn ids_bytes(&self) -> usize {
        0
    }

    /// Returns the rows of a table in the order of their ids, once the table has been read. Rows
    /// without ids are in this order.
    fn order(&mut self, side: Side, _executor: &dyn Executor) -> Result<Vec<u32>> {
        memory::collect(0..self.rows(side) as u32, "ordering rows")
    }

    /// Returns the sites of all rows if they are known. The sites of the right table follow those
    /// of the left table.
    fn sites(&self) -> Option<&Sites> {
        None
    }

    /// Returns the weights of the left table's rows in the order `order`, if there are weights.
    fn weights(&mut self, _order: &[u32]) -> Result<Option<Vec<i64>>> {
        Ok(None)
    }

    /// Reports whether the rows come in groups, so that only rows of one group are compared.
    ///
    /// Then all rows of a group come together, and within a group in the order of their ids.
    /// `begin`, `fetch`, `ended` and `rows` are about the current group, whose rows are numbered
    /// from 0 in each table; after the last group, `rows` is about all groups. There are no sites
    /// and no weights.
    fn is_grouped(&self) -> bool {
        false
    }

    /// Moves on to the next group that has rows in each table, after all rows of the current group
    /// were read. Returns the numbers that its first rows have in their tables, or `None` after the
    /// last group.
    fn next_group(&mut self) -> Result<Option<[u32; 2]>> {
        Ok(None)
    }

    /// Returns the number of each row's source once all rows have been read, if only rows of
    /// different sources are compared. The rows of the right table follow those of the left one. A
    /// row whose number is `u32::MAX` has no source and is compared with none. If the only table
    /// has groups, the rows that were read so far have numbers.
    fn across(&self) -> Option<&[u32]> {
        None
    }
}

/// A receiver of progress reports from a long call. It is never called while workers run.
pub trait Progress {
    /// Reports the progress of the call. `state` describes the progress in words, and is called
    /// only if these words are wanted.
    fn report(&mut self, state: &dyn Fn() -> String);
}

/// A receiver that ignores reports.
#[derive(Debug, Clone, Copy)]
pub struct Quiet;

impl Progress for Quiet {
    fn report(&mut self, _state: &dyn Fn() -> String) {}
}
