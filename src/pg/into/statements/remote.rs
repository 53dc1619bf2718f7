//! What is run on a server itself, through dblink, whatever becomes of the transaction here.
//!
//! The texts name all with their schemas, as the search path there is that of the role there. Nothing of them waits for a lock
//! for long: a wait inside of dblink hears of no cancel.

use pgrx::pg_sys;

use crate::pg::jobs::statements::statement::{Statement, text};
use crate::pg::server::error::Result;

/// How long a statement waits for a lock before it is given up, to be tried again.
const PATIENCE: &str = "SET lock_timeout = '500ms'";

/// Runs statements that give no rows on a server, and tells what the last one was. `dblink` is the schema of that extension.
pub(crate) fn run(dblink: &str, server: &str, sql: &str) -> Result<Statement> {
    let call = format!("SELECT {dblink}.dblink_exec($1, $2)");
    Ok(Statement::new(call).with([text(server)?, text(&format!("{PATIENCE}; {sql}"))?]))
}

/// Asks a server for a text.
pub(crate) fn ask(dblink: &str, server: &str, sql: &str) -> Result<Statement> {
    let call = format!("SELECT a.answer FROM {dblink}.dblink($1, $2) AS a(answer text)");
    Ok(Statement::new(call).with([text(server)?, text(sql)?]))
}

/// The columns that [`run`] and [`ask`] give.
pub(crate) const ANSWER: [pg_sys::Oid; 1] = [pg_sys::TEXTOID];

/// Asks which version of the extension is there, and its schema.
pub(crate) const VERSION: &str = "SELECT pg_catalog.concat(e.extversion, ' ', pg_catalog.quote_ident(n.nspname::pg_catalog.text)) \
     FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace \
     WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name";

/// Asks whether a table is there that the role owns: `1` or `0`. Its name is a literal.
pub(crate) fn is_there(table: &str) -> String {
    format!(
        "SELECT pg_catalog.count(*)::pg_catalog.text FROM pg_catalog.pg_class c JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) c.relowner \
         WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass({table})::pg_catalog.oid AND r.rolname OPERATOR(pg_catalog.=) CURRENT_USER"
    )
}

/// Makes a table anew.
pub(crate) fn create(table: &str, columns: &str) -> String {
    format!("DROP TABLE IF EXISTS {table}; CREATE UNLOGGED TABLE {table} ({columns})")
}

/// Drops those of some tables that are there.
pub(crate) fn drop(tables: &[String]) -> String {
    format!("DROP TABLE IF EXISTS {}", tables.join(", "))
}
