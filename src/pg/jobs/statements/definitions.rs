//! The objects that a job makes next to its relation: tables and triggers.

use crate::pg::jobs::tables::JobTable;
use crate::pg::procedure::definition::Types;
use crate::pg::procedure::statement::Statement;
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
