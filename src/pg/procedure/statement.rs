//! A statement of a job, or of another procedure of steps: its text, its parameters, and the relations of which it must be about.
//!
//! It runs inside [`as_user`](crate::pg::query::as_user::as_user) only, with `pg_catalog` as the only schema to find functions,
//! operators and types in. So names need no schema in the modules beside this one, but for those of relations and of functions
//! of ours; and only these modules and those of `src/pg/into/statements` make statements.

use std::borrow::Cow;
use std::ffi::CStr;

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{IntoDatum, PgSqlErrorCode};

use crate::pg::query::as_user::PATH;
use crate::pg::query::{Done, Parameter, Query};
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::values;

/// One statement.
#[derive(Debug)]
pub(crate) struct Statement {
    sql: String,
    parameters: Vec<Parameter>,
    relations: Vec<Oid>,
}

impl Statement {
    /// A text without parameters.
    pub(crate) fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), parameters: Vec::new(), relations: Vec::new() }
    }

    /// With these parameters.
    pub(crate) fn with(self, parameters: impl Into<Vec<Parameter>>) -> Self {
        Self { parameters: parameters.into(), ..self }
    }

    /// About these relations, among others: locked ones, whose names may lead elsewhere by now.
    pub(crate) fn about(self, relations: impl Into<Vec<Oid>>) -> Self {
        Self { relations: relations.into(), ..self }
    }

    fn done<const N: usize>(&self, types: [Oid; N]) -> Result<Done<N>> {
        // SAFETY: a C string, or null, of the server's.
        let path = unsafe { pg_sys::namespace_search_path };
        // SAFETY: as above.
        if path.is_null() || unsafe { CStr::from_ptr(path) } != PATH {
            let message = "a statement of a job outside of the work of its owner";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, message));
        }
        let Self { sql, parameters, relations } = self;
        Query { sql, parameters, relations, read_only: false }.run(types)
    }

    /// Runs it; how many rows it was about.
    pub(crate) fn run(&self) -> Result<i64> {
        Ok(self.done([])?.rows as i64)
    }

    /// Runs one that gives at most one row of columns of these types.
    pub(crate) fn row<const N: usize>(&self, types: [Oid; N]) -> Result<Option<[Option<Datum>; N]>> {
        Ok(self.done(types)?.first)
    }

    /// Whether something is so: runs one that gives one bool.
    pub(crate) fn holds(&self) -> Result<bool> {
        let [value] = self.row([pg_sys::BOOLOID])?.unwrap_or_default();
        Ok(read_bool(value))
    }

    /// A text: runs one that gives one, or none.
    pub(crate) fn text(&self) -> Result<Option<String>> {
        let [value] = self.row([pg_sys::TEXTOID])?.unwrap_or_default();
        value.map(|value| Ok(read_text(value)?.into_owned())).transpose()
    }

    /// A number: runs one that gives one bigint, or none.
    pub(crate) fn number(&self) -> Result<Option<i64>> {
        let [value] = self.row([pg_sys::INT8OID])?.unwrap_or_default();
        Ok(value.map(|value| value.value() as i64))
    }
}

/// A text as a parameter.
pub(crate) fn text(text: &str) -> Result<Parameter> {
    Ok((pg_sys::TEXTOID, Some(values::text(text)?)))
}

/// A number as a parameter.
pub(crate) fn int8(number: i64) -> Parameter {
    (pg_sys::INT8OID, number.into_datum())
}

/// The number of an object as a parameter.
pub(crate) fn oid(oid: Oid) -> Parameter {
    (pg_sys::OIDOID, oid.into_datum())
}

/// OIDs as an array, as SQL text needs it.
pub(crate) fn oid_array(oids: &[Oid]) -> String {
    let numbers: Vec<String> = oids.iter().map(|oid| oid.to_u32().to_string()).collect();
    format!("'{{{}}}'::oid[]", numbers.join(","))
}

/// A bool that a statement gave; NULL is false.
pub(crate) fn read_bool(value: Option<Datum>) -> bool {
    value.is_some_and(|value| value.value() != 0)
}

/// The number of an object that a statement gave.
pub(crate) fn read_oid(value: Datum) -> Oid {
    Oid::from(value.value() as u32)
}

/// A text that a statement gave.
pub(crate) fn read_text<'a>(value: Datum) -> Result<Cow<'a, str>> {
    // SAFETY: a text, as the type of its column was checked; it lives in the current memory context.
    encoding::to_utf8(unsafe { varlena_bytes(value) })?
        .ok_or_else(|| SqlError::new(PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE, "not valid UTF-8"))
}
