//! Tables that a call made, checked each time they are used.
//!
//! The owner of the schema can drop such a table and put another relation with its name in its
//! place, and a table whose owner changed keeps its triggers, defaults, domains and indexes. Work
//! on such a relation or table would run the functions of others as the caller. So each use looks
//! up the table again, locks it, and accepts it only if it belongs to the caller and is exactly as
//! it was made.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use crate::pg::into::place::TablePlace;
use crate::pg::procedure::definition::{Column, Types};
use crate::pg::procedure::form::{IndexForm, TableForm};
use crate::pg::procedure::table::{OpenedTable, Table};
use crate::pg::query::names::name_of;
use crate::pg::server::error::{Result, SqlError};

/// The forms of the tables of a call.
pub(crate) const TABLE: TableForm = TableForm::TABLE;
pub(crate) const PARTITIONED: TableForm = TableForm { kind: pg_sys::RELKIND_PARTITIONED_TABLE, ..TABLE };
pub(crate) const FOREIGN: TableForm =
    TableForm { kind: pg_sys::RELKIND_FOREIGN_TABLE, is_partition: true, ..TABLE };
/// A partition that is on this server.
pub(crate) const PARTITION: TableForm = TableForm { is_partition: true, ..TABLE };
/// The key of the sets.
pub(crate) const NUMBERED: &[IndexForm] = &[IndexForm::key(&["n"])];

/// The common properties of the tables of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Owned<'a> {
    /// The role that calls.
    pub caller: Oid,
    /// The types of columns.
    pub types: Types<'a>,
}

impl Owned<'_> {
    /// Opens the table of a place and locks it until the end of the transaction. Fails if the table
    /// is missing, belongs to another role, or is not as it was made.
    pub(crate) fn open(&self, place: &TablePlace, form: TableForm, columns: &[Column]) -> Result<Table> {
        let missing = || -> Result<Table> {
            let message = format!("{} is gone", place.qualified()?);
            Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message)
                .hint("Call it again: what is lost is made anew."))
        };
        let Some(oid) = place.relation()? else { return missing() };
        let Some(table) = open(oid, self.caller)? else { return missing() };
        match table.differs(&form, &self.types.oids(columns)) {
            None => Ok(table),
            Some(why) => Err(refused(&table.name, &format!("is not as near_duplicates_into made it: {why}"))),
        }
    }
}

/// Opens a relation that belongs to the caller, and locks it against new triggers until the end of
/// the transaction. Returns None if it was dropped meanwhile.
pub(crate) fn open(oid: Oid, caller: Oid) -> Result<Option<Table>> {
    match Table::open(oid, pg_sys::RowExclusiveLock, |owner| owner == caller)? {
        OpenedTable::Gone => Ok(None),
        OpenedTable::Table(table) => Ok(Some(table)),
        OpenedTable::Others(_) | OpenedTable::Busy => {
            Err(refused(&name_of(oid)?, "has the name of a working table, and is none of this role"))
        }
    }
}

/// Returns the error for a relation that cannot be used.
pub(crate) fn refused(name: &str, why: &str) -> SqlError {
    let code = PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    SqlError::new(code, format!("{name} {why}"))
        .hint(format!("Rename it: ALTER TABLE {name} RENAME TO other; then call it again."))
}
