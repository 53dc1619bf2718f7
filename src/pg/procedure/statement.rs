//! A statement of a job, or of another procedure that works in steps: its text, its parameters, and
//! the relations that it must refer to.
//!
//! A statement runs only inside [`as_user`](crate::pg::query::as_user::as_user), with `pg_catalog`
//! as the only schema in which functions, operators and types are found. So the modules that make
//! statements qualify only the names of relations and of our functions with a schema. Only
//! [`citus`](super::citus), [`definition`](super::definition) and the modules of
//! `src/pg/jobs/statements` and `src/pg/into/statements` make statements.

use std::borrow::Cow;
use std::ffi::CStr;

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{IntoDatum, PgSqlErrorCode};
use serde::de::DeserializeOwned;

use super::table::Table;
use crate::pg::query::as_user::PATH;
use crate::pg::query::{Done, Parameter, Query};
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::values;

/// Makes a statement on tables that are open, which its text names.
pub(crate) fn on<const N: usize>(tables: [&Table; N], sql: impl Into<String>) -> Statement {
    let relations = tables.map(|table| table.oid).into();
    Statement { sql: sql.into(), parameters: Vec::new(), relations }
}

/// A single statement.
#[derive(Debug)]
pub(crate) struct Statement {
    sql: String,
    parameters: Vec<Parameter>,
    relations: Vec<Oid>,
}

impl Statement {
    /// Makes a statement without parameters.
    pub(crate) fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), parameters: Vec::new(), relations: Vec::new() }
    }

    /// Sets the parameters.
    pub(crate) fn with(self, parameters: impl Into<Vec<Parameter>>) -> Self {
        Self { parameters: parameters.into(), ..self }
    }

    /// Adds relations that the statement must refer to, possibly among others. These relations are
    /// locked, but their names may refer to other relations by now.
    pub(crate) fn about(mut self, relations: impl IntoIterator<Item = Oid>) -> Self {
        self.relations.extend(relations);
        self
    }

    fn done<const N: usize>(&self, types: [Oid; N]) -> Result<Done<N>> {
        // SAFETY: a C string of the server, or null.
        let path = unsafe { pg_sys::namespace_search_path };
        // SAFETY: as above.
        if path.is_null() || unsafe { CStr::from_ptr(path) } != PATH {
            let message = "a statement of a job outside of the work of its owner";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, message));
        }
        let Self { sql, parameters, relations } = self;
        Query { sql, parameters, relations, read_only: false }.run(types).map_err(|error| {
            error.hint_for_names(
                c"Views and functions that a job reads find names in pg_catalog only: write names with their schemas, or give a function a search path of its own, as in ALTER FUNCTION my_function SET search_path = public;",
            )
        })
    }

    /// Runs the statement and returns the number of rows that it processed.
    pub(crate) fn run(&self) -> Result<i64> {
        Ok(self.done([])?.rows as i64)
    }

    /// Runs a statement that returns at most one row, with columns of these types.
    pub(crate) fn row<const N: usize>(&self, types: [Oid; N]) -> Result<Option<[Option<Datum>; N]>> {
        Ok(self.done(types)?.first)
    }

    /// Runs a statement that returns a single bool, and returns this bool.
    pub(crate) fn holds(&self) -> Result<bool> {
        let [value] = self.row([pg_sys::BOOLOID])?.unwrap_or_default();
        Ok(read_bool(value))
    }

    /// Runs a statement that returns one text or none.
    pub(crate) fn text(&self) -> Result<Option<String>> {
        let [value] = self.row([pg_sys::TEXTOID])?.unwrap_or_default();
        value.map(|value| Ok(read_text(value)?.into_owned())).transpose()
    }

    /// Runs a statement that returns JSON of the catalogues as text, and parses it.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_str(self.text()?.as_deref().unwrap_or("[]"))
            .map_err(|error| SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, error.to_string()))
    }

    /// Runs a statement that returns a row of bigints; a NULL is 0.
    pub(crate) fn numbers<const N: usize>(&self) -> Result<[i64; N]> {
        let row = self.row([pg_sys::INT8OID; N])?.unwrap_or([None; N]);
        Ok(row.map(|value| value.map_or(0, |value| value.value() as i64)))
    }

    /// Runs a statement that returns one bigint or none.
    pub(crate) fn number(&self) -> Result<Option<i64>> {
        let [value] = self.row([pg_sys::INT8OID])?.unwrap_or_default();
        Ok(value.map(|value| value.value() as i64))
    }
}

/// Makes a text parameter.
pub(crate) fn text(text: &str) -> Result<Parameter> {
    Ok((pg_sys::TEXTOID, Some(values::text(text)?)))
}

/// Makes a bigint parameter.
pub(crate) fn int8(number: i64) -> Parameter {
    (pg_sys::INT8OID, number.into_datum())
}

/// Makes an OID parameter.
pub(crate) fn oid(oid: Oid) -> Parameter {
    (pg_sys::OIDOID, oid.into_datum())
}

/// Formats OIDs as an array for SQL text.
pub(crate) fn oid_array(oids: &[Oid]) -> String {
    let numbers: Vec<String> = oids.iter().map(|oid| oid.to_u32().to_string()).collect();
    format!("'{{{}}}'::oid[]", numbers.join(","))
}

/// Reads a bool from the result of a statement; NULL is false.
pub(crate) fn read_bool(value: Option<Datum>) -> bool {
    value.is_some_and(|value| value.value() != 0)
}

/// Reads an OID from the result of a statement.
pub(crate) fn read_oid(value: Datum) -> Oid {
    Oid::from(value.value() as u32)
}

/// Reads a text from the result of a statement.
pub(crate) fn read_text<'a>(value: Datum) -> Result<Cow<'a, str>> {
    // SAFETY: a text, because the type of its column was checked; it lives in the current memory
    // context.
    encoding::to_utf8(unsafe { varlena_bytes(value) })?
        .ok_or_else(|| SqlError::new(PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE, "not valid UTF-8"))
}
