//! Statements of jobs: their parameters, and relations of which they must be about.
//!
//! They run inside [`crate::pg::query::as_user::as_user`] only, with `pg_catalog` as the only schema to find functions, operators
//! and types in: so names need no schema here, but for those of relations and of functions of ours.

use std::borrow::Cow;
use std::ffi::CStr;

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{IntoDatum, PgSqlErrorCode};
use serde_json::Value;

use crate::pg::query::as_user::PATH;
use crate::pg::query::{Parameter, Query};
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError};

/// A text as a parameter.
pub fn text(text: &str) -> Result<Parameter> {
    let text = encoding::to_server(text)?;
    // SAFETY: a C string, copied into a text of the current memory context.
    Ok((pg_sys::TEXTOID, Some(unsafe { pg_sys::cstring_to_text(text.as_ptr()) }.into())))
}

/// A number as a parameter.
pub fn int8(number: i64) -> Parameter {
    (pg_sys::INT8OID, number.into_datum())
}

/// The number of an object as a parameter.
pub fn oid(oid: Oid) -> Parameter {
    (pg_sys::OIDOID, oid.into_datum())
}

/// A statement, where names in it mean what they mean in `pg_catalog`.
fn query<'a>(sql: &'a str, parameters: &'a [Parameter], relations: &'a [Oid]) -> Result<Query<'a>> {
    // SAFETY: a C string, or null, of the server's.
    let path = unsafe { pg_sys::namespace_search_path };
    // SAFETY: as above.
    if path.is_null() || unsafe { CStr::from_ptr(path) } != PATH {
        let message = "a statement of a job outside of the work of its owner";
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, message));
    }
    Ok(Query { sql, parameters, relations, read_only: false })
}

/// Runs a statement that is about these relations, among others; how many rows it was about.
pub fn run(sql: &str, parameters: &[Parameter], relations: &[Oid]) -> Result<u64> {
    Ok(query(sql, parameters, relations)?.run([])?.rows)
}

/// Runs a statement that gives at most one row of columns of these types.
pub fn row<const N: usize>(
    sql: &str,
    parameters: &[Parameter],
    relations: &[Oid],
    types: [Oid; N],
) -> Result<Option<[Option<Datum>; N]>> {
    Ok(query(sql, parameters, relations)?.run(types)?.first)
}

/// Whether something is so: a statement that gives one bool.
pub fn holds(sql: &str, parameters: &[Parameter], relations: &[Oid]) -> Result<bool> {
    let row = row(sql, parameters, relations, [pg_sys::BOOLOID])?;
    Ok(row.and_then(|[value]| value).is_some_and(|value| value.value() != 0))
}

/// A number that a statement gives.
pub fn number(sql: &str, parameters: &[Parameter], relations: &[Oid]) -> Result<Option<i64>> {
    let row = row(sql, parameters, relations, [pg_sys::INT8OID])?;
    Ok(row.and_then(|[value]| value).map(|value| value.value() as i64))
}

/// A text that a statement gave.
pub fn read_text<'a>(value: Datum) -> Result<Cow<'a, str>> {
    // SAFETY: a text, as the type of its column was checked; it lives in the current memory context.
    encoding::to_utf8(unsafe { varlena_bytes(value) })?
        .ok_or_else(|| SqlError::new(PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE, "not valid UTF-8"))
}

/// JSON that a statement gave as text.
pub fn read_json(value: Datum) -> Result<Option<Value>> {
    Ok(serde_json::from_str(&read_text(value)?).ok())
}
