//! Statements on the tables of the extension, run as the owner of these tables.

use pgrx::IntoDatum;
use pgrx::pg_sys::{self, Datum, Oid};

use crate::pg::procedure::statement::{Statement, int8, oid, text};
use crate::pg::query::Parameter;
use crate::pg::query::names::name_of;
use crate::pg::server::error::Result;

/// Makes a statement on one of the tables; `{}` represents the name of the table.
fn on(table: Oid, sql: &str, parameters: impl Into<Vec<Parameter>>) -> Result<Statement> {
    Ok(Statement::new(sql.replace("{}", &name_of(table)?)).with(parameters).about([table]))
}

/// Locks the row of a job, and returns a number if there is such a row. With `skip`, returns no
/// number if another session has locked the row.
pub(crate) fn lock(jobs: Oid, docs: Oid, skip: bool) -> Result<Statement> {
    let skip = if skip { " SKIP LOCKED" } else { "" };
    let sql = format!("SELECT 1::int8 FROM {{}} WHERE docs = $1::regclass FOR UPDATE{skip}");
    on(jobs, &sql, [oid(docs)])
}

/// The row of a job.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RegistryValues<'a> {
    /// The watched relation.
    pub docs: Oid,
    /// The table of pairs.
    pub pairs: Oid,
    /// The table of clusters.
    pub clusters: Oid,
    /// The table of states.
    pub state: Oid,
    /// The table of lists, if there is one.
    pub lists: Option<Oid>,
    /// The table of rows as they were seen, if this is a separate table.
    pub hashes: Option<Oid>,
    /// The settings, as JSON.
    pub settings: &'a str,
    /// The definition of the relation when all rows were last compared.
    pub seen: Option<&'a str>,
}

/// Writes the row of a job. If the job already has a row, changes only its settings, the definition
/// last seen and the table of hashes.
pub(crate) fn put(jobs: Oid, values: RegistryValues<'_>) -> Result<Statement> {
    let RegistryValues { docs, pairs, clusters, state, lists, hashes, settings, seen } = values;
    let [lists, hashes] =
        [lists, hashes].map(|table| (pg_sys::OIDOID, table.and_then(IntoDatum::into_datum)));
    let seen = seen.map_or(Ok((pg_sys::TEXTOID, None)), text)?;
    let sql = "INSERT INTO {} (docs, pairs, clusters, state, lists, settings, seen, hashes) \
               VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8) ON CONFLICT (docs) DO UPDATE \
               SET settings = excluded.settings, seen = excluded.seen, hashes = excluded.hashes";
    on(jobs, sql, [oid(docs), oid(pairs), oid(clusters), oid(state), lists, text(settings)?, seen, hashes])
}

/// Reports whether a table belongs to the job of another relation; `has_hashes` says whether the
/// registry has the column for hashes.
pub(crate) fn uses(jobs: Oid, has_hashes: bool, table: Oid, docs: Oid) -> Result<Statement> {
    let hashes = if has_hashes { ", hashes" } else { "" };
    let sql = format!(
        "SELECT EXISTS (SELECT FROM {{}} WHERE $1::regclass IN (pairs, clusters, state, lists{hashes}) \
         AND docs <> $2::regclass)"
    );
    on(jobs, &sql, [oid(table), oid(docs)])
}

/// Deletes the row of a job.
pub(crate) fn remove(jobs: Oid, docs: Oid) -> Result<Statement> {
    on(jobs, "DELETE FROM {} WHERE docs = $1::regclass", [oid(docs)])
}

/// Deletes the rows of relations that no longer exist, except rows that another session has locked;
/// `docs` is the SQL expression for the OID of the relation in a row.
pub(crate) fn clean(table: Oid, docs: &str) -> Result<Statement> {
    let sql = format!(
        "DELETE FROM {{}} WHERE ctid = ANY (ARRAY(SELECT b.ctid FROM {{}} b \
         WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = b.{docs}) FOR UPDATE SKIP LOCKED))"
    );
    on(table, &sql, [])
}

/// Reports whether there are marks of unnoted changes of a relation.
pub(crate) fn is_unnoted(unnoted: Oid, docs: Oid) -> Result<Statement> {
    on(unnoted, "SELECT EXISTS (SELECT FROM {} WHERE docs = $1)", [oid(docs)])
}

/// Deletes the marks of unnoted changes of a relation.
pub(crate) fn take_unnoted(unnoted: Oid, docs: Oid) -> Result<Statement> {
    on(unnoted, "DELETE FROM {} WHERE docs = $1", [oid(docs)])
}

/// Marks as interrupted the running runs of a relation that began at other times.
pub(crate) fn interrupt(runs: Oid, docs: Oid, started: Datum) -> Result<Statement> {
    let sql = "UPDATE {} SET status = 'interrupted' \
               WHERE docs = $1::regclass AND status = 'running' AND started <> $2";
    on(runs, sql, [oid(docs), (pg_sys::TIMESTAMPTZOID, Some(started))])
}

/// Adds a batch to a run: the numbers of changed rows, of removed and added pairs, and of waiting
/// rows.
pub(crate) fn log(runs: Oid, docs: Oid, started: Datum, more: bool, counts: [i64; 4]) -> Result<Statement> {
    let sql = "INSERT INTO {} AS r (docs, started, finished, status, batches, rows, pairs_removed, pairs_added, total) \
         VALUES ($1, $2, CASE WHEN NOT $3 THEN clock_timestamp() END, \
         CASE WHEN $3 THEN 'running' ELSE 'done' END, ($4 > 0)::int, $4, $5, $6, $4 + $7) \
         ON CONFLICT (docs, started) DO UPDATE SET finished = excluded.finished, status = excluded.status, \
         batches = r.batches + excluded.batches, rows = r.rows + excluded.rows, \
         pairs_removed = r.pairs_removed + excluded.pairs_removed, \
         pairs_added = r.pairs_added + excluded.pairs_added, total = GREATEST(r.total, r.rows + excluded.rows)";
    let [rows, removed, added, waiting] = counts.map(int8);
    let started = (pg_sys::TIMESTAMPTZOID, Some(started));
    let more = (pg_sys::BOOLOID, more.into_datum());
    on(runs, sql, [oid(docs), started, more, rows, removed, added, waiting])
}

/// Deletes all runs of a relation except the last `keep` runs.
pub(crate) fn forget_runs(runs: Oid, docs: Oid, keep: i64) -> Result<Statement> {
    let sql = "DELETE FROM {} WHERE docs = $1::regclass AND started < \
               (SELECT started FROM {} WHERE docs = $1::regclass ORDER BY started DESC OFFSET $2 - 1 LIMIT 1)";
    on(runs, sql, [oid(docs), int8(keep)])
}
