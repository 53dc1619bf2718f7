//! Statements on the log of a call: a table next to the result, which stays after the call.

use pgrx::pg_sys;

use crate::pg::procedure::statement::{Statement, int8, text};
use crate::pg::procedure::table::Table;
use crate::pg::query::Parameter;
use crate::pg::server::error::Result;
use crate::pg::server::values;

/// Returns all rows in order, as JSON; the first row has the arguments. `fresh` says that a step
/// began less than a day ago.
pub(crate) fn read(log: &Table) -> Statement {
    Statement::new(format!(
        "SELECT COALESCE(jsonb_agg(jsonb_build_object('step', l.step, 'name', l.name, 'rows', l.rows, 'about', l.about, \
             'started', l.started::text, 'fresh', l.started > clock_timestamp() - '1 day'::interval) ORDER BY l.step), '[]')::text \
         FROM {log} l"
    ))
    .about([log.oid])
}

/// Writes a row for work that began with the transaction.
pub(crate) fn write(log: &Table, step: i64, name: &str, rows: i64, about: Option<&str>) -> Result<Statement> {
    let about: Parameter = (pg_sys::TEXTOID, about.map(values::text).transpose()?);
    Ok(Statement::new(format!(
        "INSERT INTO {log} SELECT $1::int4, $2, $3, now(), clock_timestamp(), $4::jsonb"
    ))
    .with([int8(step), text(name)?, int8(rows), about])
    .about([log.oid]))
}

/// Notes in the first row what was kept of earlier calls, and that another one begins.
pub(crate) fn note_kept(log: &Table, kept: &str) -> Result<Statement> {
    Ok(Statement::new(format!(
        "UPDATE {log} l SET about = jsonb_set(l.about, '{{kept}}'::text[], $1::jsonb), started = now(), finished = clock_timestamp() WHERE l.step = 0"
    ))
    .with([text(kept)?])
    .about([log.oid]))
}

/// Deletes the rows after a step.
pub(crate) fn forget(log: &Table, step: i64) -> Statement {
    Statement::new(format!("DELETE FROM {log} l WHERE l.step > $1")).with([int8(step)]).about([log.oid])
}
