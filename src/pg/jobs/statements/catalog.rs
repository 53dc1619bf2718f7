//! Statements that read the server's catalog for watched relations.

use pgrx::pg_sys::Oid;

use crate::pg::jobs::settings::Columns;
use crate::pg::procedure::statement::{Statement, oid, text};
use crate::pg::server::error::Result;

/// Reports whether a relation has the trigger of a job for an event.
pub(crate) fn has_trigger(docs: Oid, event: &str) -> Result<Statement> {
    let sql = "SELECT EXISTS (SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid \
               WHERE t.tgrelid = $1 AND t.tgname = $2::name AND p.proname = 'neardup_changed')";
    Ok(Statement::new(sql).with([oid(docs), text(&format!("neardup_{event}"))?]))
}

/// Reports whether an index of a table keeps the values of a column distinct.
pub(crate) fn is_unique(docs: Oid, column: i16) -> Statement {
    let sql = format!(
        "SELECT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = $1 AND i.indisunique AND i.indisvalid AND i.indimmediate \
         AND i.indpred IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = {column})"
    );
    Statement::new(sql).with([oid(docs)])
}

/// Reads a row of a view as a refresh reads rows: fails if names in the view, or in a function that
/// it calls, are not found.
pub(in crate::pg::jobs) fn read_a_row(docs: Oid, name: &str, columns: &Columns<'_>) -> Result<Statement> {
    let mut read = Vec::new();
    for column in [Some(columns.id), Some(columns.text), columns.site].into_iter().flatten() {
        read.push(format!("d.{}::text", column.quoted()?));
    }
    Ok(Statement::new(format!("SELECT length(concat({})) FROM {name} d LIMIT 1", read.join(", ")))
        .about([docs]))
}

/// Finds an id that several rows of a table have, as text. The column is quoted for SQL text.
pub(crate) fn repeated_id(docs: Oid, name: &str, column: &str) -> Statement {
    let sql = format!(
        "SELECT d.id::text FROM (SELECT {column} AS id FROM {name} WHERE {column} IS NOT NULL) d GROUP BY d.id \
         HAVING count(*) > 1 LIMIT 1"
    );
    Statement::new(sql).about([docs])
}
