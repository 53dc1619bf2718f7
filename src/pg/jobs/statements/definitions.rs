//! The objects that a job makes next to its relation, tables and triggers, and what the server's
//! catalog says of the relation before.

use pgrx::pg_sys::Oid;

use crate::pg::jobs::settings::Columns;
use crate::pg::jobs::tables::JobTable;
use crate::pg::procedure::definition::Types;
use crate::pg::procedure::statement::{Statement, oid, text};
use crate::pg::query::as_user::INTERNAL;
use crate::pg::request::example::literal;
use crate::pg::server::error::Result;

/// Makes a table of a job; `shown` is the displayed name of the relation.
pub(crate) fn create(kind: JobTable, table: &str, types: &Types<'_>, shown: &str) -> Result<()> {
    kind.definition().make(table, types)?;
    if kind == JobTable::Lists {
        // A part of the lists is stored in its row and read with it.
        Statement::new(format!("ALTER TABLE {table} SET (toast_tuple_target = 8160)")).run()?;
    }
    let what = match kind {
        JobTable::Pairs => "near duplicates, kept by neardup_refresh, of",
        JobTable::Clusters => "clusters of near duplicates, kept by neardup_refresh, of",
        JobTable::State => "what neardup_refresh knows of the rows of",
        JobTable::Lists => "what neardup_refresh looks changed rows up in, of",
        JobTable::Hashes => "what neardup_refresh has seen, beside the rows, of",
    };
    let comment = literal(&format!("{what} {shown}"));
    Statement::new(format!("COMMENT ON TABLE {table} IS {comment}")).run().map(|_| ())
}

/// Drops the trigger of a job for an event.
pub(crate) fn drop_trigger(docs: &str, event: &str) -> Result<()> {
    Statement::new(format!("DROP TRIGGER neardup_{event} ON {docs}")).run().map(|_| ())
}

/// Makes the trigger of a job for an event. The trigger always fires; otherwise each refresh would
/// have to compare all rows.
pub(crate) fn create_trigger(docs: &str, event: &str) -> Result<()> {
    let [old, new] = [" OLD TABLE AS old_rows", " NEW TABLE AS new_rows"];
    let [old, new] = [if event == "insert" { "" } else { old }, if event == "delete" { "" } else { new }];
    let statements = [
        format!(
            "CREATE TRIGGER neardup_{event} AFTER {event} ON {docs} REFERENCING{old}{new} \
             FOR EACH STATEMENT EXECUTE FUNCTION {INTERNAL}.neardup_changed()"
        ),
        format!("ALTER TABLE {docs} ENABLE ALWAYS TRIGGER neardup_{event}"),
    ];
    statements.into_iter().try_for_each(|sql| Statement::new(sql).run().map(|_| ()))
}

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
    let read = [Some(columns.id), Some(columns.text)].into_iter().chain(columns.others).flatten();
    let read = read.map(|column| Ok(format!("d.{}::text", column.quoted()?))).collect::<Result<Vec<_>>>()?;
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
