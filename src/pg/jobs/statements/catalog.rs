//! Statements that read the server's catalog for watched relations and for tables of jobs.

use pgrx::pg_sys::Oid;

use crate::pg::jobs::settings::Columns;
use crate::pg::procedure::statement::{Statement, oid, oid_array, text};
use crate::pg::query::as_user::INTERNAL;
use crate::pg::server::error::Result;

/// Reports whether a relation has the trigger of a job for an event.
pub(crate) fn has_trigger(docs: Oid, event: &str) -> Result<Statement> {
    let sql = "SELECT EXISTS (SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid \
               WHERE t.tgrelid = $1 AND t.tgname = $2::name AND p.proname = 'neardup_changed')";
    Ok(Statement::new(sql).with([oid(docs), text(&format!("neardup_{event}"))?]))
}

/// The condition that Citus distributes the table `c`. Citus does not support triggers of others on
/// such a table.
const IS_SPREAD: &str = "EXISTS (SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE t.tgrelid = c.oid \
     AND p.proname = 'citus_truncate_trigger' AND p.pronamespace = 'pg_catalog'::regnamespace)";

/// Reads the definition of a relation: whether it is a plain table; whether it has all triggers of
/// a job, and all of them always fire; and a text that differs whenever the definition of the
/// table, of its columns or of these triggers changes.
pub(crate) fn definition(docs: Oid) -> Statement {
    let sql = format!(
        "SELECT c.relkind = 'r' AND c.relpersistence = 'p' AND NOT c.relispartition AND NOT {IS_SPREAD} \
                   AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid OR i.inhrelid = c.oid) \
                   AND NOT EXISTS (SELECT FROM pg_subscription_rel s WHERE s.srrelid = c.oid), \
               t.count = 3, \
               encode(sha256(concat_ws(' ', c.xmin::text, c.relfilenode, a.versions, t.versions)::bytea), 'hex') \
               FROM pg_class c, \
               LATERAL (SELECT string_agg(a.xmin::text, ',' ORDER BY a.attnum) AS versions \
                   FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0) a, \
               LATERAL (SELECT count(*), string_agg(t.xmin::text, ',' ORDER BY t.tgname) AS versions \
                   FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid \
                   WHERE t.tgrelid = c.oid AND p.proname = 'neardup_changed' AND p.pronamespace = '{INTERNAL}'::regnamespace AND p.pronargs = 0 \
                   AND t.tgname IN ('neardup_insert', 'neardup_update', 'neardup_delete') \
                   AND t.tgenabled = 'A') t \
               WHERE c.oid = $1"
    );
    Statement::new(sql).with([oid(docs)])
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

/// Reports whether a table depends on a relation in the way in which tables of a job depend on it.
pub(crate) fn depends(table: Oid, docs: Oid) -> Statement {
    let sql = "SELECT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = $1 \
               AND d.refclassid = 'pg_class'::regclass AND d.refobjid = $2 AND d.deptype = 'a')";
    Statement::new(sql).with([oid(table), oid(docs)])
}

/// Returns the first of some tables that does not depend on a relation.
pub(crate) fn independent(tables: &[Oid], docs: Oid) -> Statement {
    let tables = oid_array(tables);
    let sql = format!(
        "SELECT t.oid::int8 FROM unnest({tables}) t(oid) WHERE NOT EXISTS (SELECT FROM pg_depend d \
         WHERE d.classid = 'pg_class'::regclass AND d.objid = t.oid \
         AND d.refclassid = 'pg_class'::regclass AND d.refobjid = $1 AND d.deptype = 'a') LIMIT 1"
    );
    Statement::new(sql).with([oid(docs)])
}
