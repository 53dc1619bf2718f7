//! Statements on the table of the parts that are done, and those by which documents are read in
//! ranges of their ids.

use pgrx::pg_sys::Oid;

use crate::pg::procedure::statement::{Statement, int8, oid};
use crate::pg::procedure::table::Table;

/// The part number of the row that says that the tables of a stage are made.
pub(crate) const OPEN: i64 = -1;

/// Returns about how many pages a relation has.
pub(crate) fn pages(docs: Oid) -> Statement {
    Statement::new(
        "SELECT (COALESCE(sum(pg_relation_size(p.relid)), pg_relation_size($1)) / current_setting('block_size')::int8)::int8 \
         FROM (SELECT t.relid FROM pg_partition_tree($1::regclass) t WHERE t.isleaf) p",
    )
    .with([oid(docs)])
}

/// Reads the ids at which these shares of the rows begin, as an array, from a sample of the pages.
/// Runs with the search path of the caller, like all reading of documents, and so qualifies all
/// names with their schemas.
pub(crate) fn ranges(table: &str, key: &str, parts: i64, percent: f64) -> String {
    let shares: Vec<String> = (1..parts).map(|part| (part as f64 / parts as f64).to_string()).collect();
    format!(
        "SELECT pg_catalog.percentile_disc(ARRAY[{}]::pg_catalog.float8[]) WITHIN GROUP (ORDER BY {key}::pg_catalog.int8)::pg_catalog.text \
         FROM {table} AS d TABLESAMPLE pg_catalog.system({percent}) REPEATABLE (0)",
        shares.join(", ")
    )
}

/// Returns the numbers of the parts of a step that are done, as an array, and the number of their
/// rows.
pub(crate) fn parts_done(parts: &Table, step: i64) -> Statement {
    Statement::new(format!(
        "SELECT COALESCE(array_agg(p.part), '{{}}'::int8[])::text, COALESCE(sum(p.rows), 0)::int8 FROM {parts} p WHERE p.step = $1"
    ))
    .with([int8(step)])
    .about([parts.oid])
}

/// Notes that a part of a step is done.
pub(crate) fn note_part(parts: &Table, step: i64, part: i64, rows: i64) -> Statement {
    Statement::new(format!("INSERT INTO {parts} SELECT $1, $2, $3"))
        .with([int8(step), int8(part), int8(rows)])
        .about([parts.oid])
}

/// Deletes what is noted of the steps from `step` on.
pub(crate) fn forget_parts(parts: &Table, step: i64) -> Statement {
    Statement::new(format!("DELETE FROM {parts} p WHERE p.step >= $1")).with([int8(step)]).about([parts.oid])
}
