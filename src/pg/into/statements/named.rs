//! Statements that name working tables: `format!("SELECT count(*) FROM {Edges} e")`.
//!
//! A name stands between two NUL characters, which are in no name and in no text of the server. It
//! is replaced by that of the table, which is opened and so checked and locked.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result as Formatted};

use super::definitions::size_of_row;
use crate::into::step::WorkingTable;
use crate::pg::into::work::{CallWork, not_here};
use crate::pg::procedure::statement::Statement;
use crate::pg::procedure::table::Table;
use crate::pg::server::error::Result;

impl Display for WorkingTable {
    fn fmt(&self, to: &mut Formatter<'_>) -> Formatted {
        write!(to, "\0{}\0", self.name())
    }
}

/// The part of a table that sessions share.
pub(super) struct PartOf(pub WorkingTable, pub u16);

impl Display for PartOf {
    fn fmt(&self, to: &mut Formatter<'_>) -> Formatted {
        write!(to, "\0{} {}\0", self.0.name(), self.1)
    }
}

impl CallWork {
    /// Opens the working tables that a text names, and returns the statement on them.
    pub(super) fn statement(&self, sql: &str) -> Result<Statement> {
        let spread = self.spread()?;
        let open = |name: &str| {
            let (name, part) = name.split_once(' ').map_or((name, None), |(name, part)| (name, Some(part)));
            let table = WorkingTable::ALL.iter().copied().find(|table| table.name() == name);
            let table = table.ok_or_else(|| not_here(name))?;
            part.map_or_else(|| spread.open(table), |part| spread.open_part(table, part.parse().unwrap_or(0)))
        };
        let (mut text, mut tables) = (String::new(), BTreeMap::<&str, Table>::new());
        for (n, piece) in sql.split('\0').enumerate() {
            if n % 2 == 0 {
                text.push_str(piece);
                continue;
            }
            if !tables.contains_key(piece) {
                tables.insert(piece, open(piece)?);
            }
            text.push_str(&tables[piece].name);
        }
        Ok(Statement::new(text).about(tables.values().map(|table| table.oid)))
    }

    /// Runs a statement, and returns the number of rows.
    pub(super) fn execute(&self, sql: &str) -> Result<i64> {
        self.statement(sql)?.run()
    }

    /// Returns the number that a statement selects.
    pub(super) fn number(&self, sql: &str) -> Result<i64> {
        Ok(self.statement(sql)?.number()?.unwrap_or_default())
    }

    /// Returns the number of bytes of the rows that were moved into a table.
    pub(super) fn bytes_in(&self, table: WorkingTable) -> Result<i64> {
        let bytes = size_of_row(self.spread()?.columns(table));
        self.number(&format!("SELECT COALESCE(sum({bytes}), 0)::int8 FROM {table} t"))
    }
}
