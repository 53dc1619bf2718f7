//! A single SQL statement with its parameters.

use pgrx::pg_sys::{self, Datum};

/// A parameter, `$1` and so on: its type, and a value or NULL.
pub(crate) type Parameter = (pg_sys::Oid, Option<Datum>);

/// A single SQL statement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Query<'a> {
    /// The text.
    pub sql: &'a str,
    /// The types and values of the statement's parameters.
    pub parameters: &'a [Parameter],
    /// Relations that the statement names and that the caller has locked. Whether the names still
    /// refer to these relations is checked, because the owner of a schema can rename relations.
    pub relations: &'a [pg_sys::Oid],
    /// Set if the statement uses the snapshot of the calling statement and must not change
    /// anything.
    pub read_only: bool,
}

impl<'a> Query<'a> {
    /// Makes a statement that only reads, without parameters.
    pub(crate) fn new(sql: &'a str) -> Self {
        Self { sql, parameters: &[], relations: &[], read_only: true }
    }
}
