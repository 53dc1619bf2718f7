//! One statement of SQL with its parameters.

use pgrx::pg_sys::{self, Datum};

/// What `$1` and so on stand for: a type, and a value of it or NULL.
pub(crate) type Parameter = (pg_sys::Oid, Option<Datum>);

/// One statement of SQL.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Query<'a> {
    /// Its text.
    pub sql: &'a str,
    /// What its parameters stand for.
    pub parameters: &'a [Parameter],
    /// Relations that it names and that the caller has locked. A name may lead to another one than before: the
    /// owner of a schema can rename it.
    pub relations: &'a [pg_sys::Oid],
    /// Whether it sees what the calling statement sees, and may change nothing.
    pub read_only: bool,
}

impl<'a> Query<'a> {
    /// A text that reads, without parameters.
    pub(crate) fn new(sql: &'a str) -> Self {
        Self { sql, parameters: &[], relations: &[], read_only: true }
    }
}
