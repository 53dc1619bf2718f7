//! The documents that are there, those that have changed since the result was made, and what is
//! known of them.

use pgrx::pg_sys;

use super::{members, sets};
use crate::into::step::WorkingTable;
use crate::pg::into::statements::join::DocumentColumns;
use crate::pg::into::work::CallWork;
use crate::pg::procedure::statement::on;
use crate::pg::procedure::table::Table;
use crate::pg::query::Query;
use crate::pg::query::as_user::as_user;
use crate::pg::query::names::equality;
use crate::pg::server::error::Result;

/// The number of documents whose texts are asked for at a time.
const BATCH: i64 = 10_000;

/// Reads the ids of all documents with the hashes of what is compared of them, which are computed
/// where the documents are. Runs with the search path of the caller, like all reading of documents.
pub(crate) fn see(work: &CallWork) -> Result<i64> {
    let [seen] = as_user(work.call.caller, || work.open([WorkingTable::Seen]))?;
    let DocumentColumns { table, id, hash, .. } = &work.in_parts()?.documents;
    if work.nodes()?.servers().is_empty() {
        let sql = format!("INSERT INTO {seen} SELECT {id}, {hash}, 1::pg_catalog.int8 FROM {table} AS d");
        return sets::query(work, &sql, &[], &[seen]);
    }
    // Servers compute only what is grouped.
    for (name, value) in
        [("enable_partitionwise_aggregate", "on"), ("enable_hashagg", "off"), ("enable_sort", "off")]
    {
        // Until the end of the transaction, for a query of the caller.
        let sql = format!("SELECT pg_catalog.set_config('{name}', '{value}', true)");
        Query::new(&sql).run([pg_sys::TEXTOID])?;
    }
    let sql = format!(
        "INSERT INTO {seen} SELECT {id}, {hash}, pg_catalog.count(*) FROM {table} AS d GROUP BY {id}, {hash}"
    );
    sets::query(work, &sql, &[], &[seen])
}

/// Inserts the documents that are new, have changed or are gone. Those that servers are asked for
/// are numbered in batches.
pub(crate) fn fill_changes(work: &CallWork) -> Result<i64> {
    let [to, seen, known] = work.open([WorkingTable::Changes, WorkingTable::Seen, WorkingTable::Known])?;
    let (spread, eq) = (work.spread()?, equality(work.call.asked.id_oid)?);
    let batch = if spread.nodes.citus().is_none() {
        format!("(row_number() OVER () - 1) / {BATCH}::int8")
    } else {
        "0::int8".to_owned()
    };
    let sql = format!(
        "INSERT INTO {to} SELECT COALESCE(s.id, k.id), s.hash, s.id IS NULL, {batch} \
         FROM {seen} s FULL JOIN {known} k ON k.id {eq} s.id WHERE s.id IS NULL OR k.id IS NULL OR s.hash IS DISTINCT FROM k.hash"
    );
    let rows = on([&to, &seen, &known], sql).run()?;
    spread.drop(WorkingTable::Seen)?;
    Ok(rows)
}

/// Notes what is known of new and changed documents.
pub(crate) fn fill_known(work: &CallWork) -> Result<i64> {
    let [known, changes, members] =
        work.open([WorkingTable::Known, WorkingTable::Changes, WorkingTable::Members])?;
    if work.nodes()?.citus().is_some() {
        return fill_known_in_citus(work, &known, &changes, &members);
    }
    let ([sets], first) = (work.open([WorkingTable::Sets])?, work.first_new()?);
    let new = format!(
        "(SELECT m.id, m.n, m.r, s.digest FROM {members} m JOIN (SELECT s.n, s.digest FROM {sets} s WHERE s.n >= {first}::int8) s ON s.n = m.n)"
    );
    know(work, &known, &changes, &new, &[&sets, &members])
}

/// Replaces what is known of changed documents by `n`, `r` and `digest` of their rows in `new`, a
/// table or a query of these tables.
fn know(work: &CallWork, known: &Table, changes: &Table, new: &str, tables: &[&Table]) -> Result<i64> {
    let eq = equality(work.call.asked.id_oid)?;
    let forget =
        format!("DELETE FROM {known} k WHERE EXISTS (SELECT 1 FROM {changes} c WHERE c.id {eq} k.id)");
    on([known, changes], forget).run()?;
    let know = format!(
        "INSERT INTO {known} SELECT DISTINCT ON (c.id) c.id, c.hash, m.n, m.r, m.digest FROM {changes} c LEFT JOIN {new} m ON m.id {eq} c.id WHERE NOT c.gone ORDER BY c.id"
    );
    let oids: Vec<_> = tables.iter().chain(&[known, changes]).map(|table| table.oid).collect();
    on([], know).about(oids).run()
}

/// Does so in Citus, where the numbers of new documents are moved to where their ids are, and then
/// makes the table of all documents by the numbers of their sets.
fn fill_known_in_citus(work: &CallWork, known: &Table, changes: &Table, members: &Table) -> Result<i64> {
    let spread = work.spread()?;
    let numbers = spread.made(WorkingTable::Numbers)?;
    let move_numbers =
        format!("INSERT INTO {numbers} SELECT m.id, m.n, NULL::int8, NULL::bytea FROM {members} m");
    on([&numbers, members], move_numbers).run()?;
    let rows = know(work, known, changes, &numbers.name, &[&numbers])?;
    spread.drop(WorkingTable::Numbers)?;
    let sets = spread.made(WorkingTable::Sets)?;
    let move_known = format!(
        "INSERT INTO {sets} SELECT k.n, k.id, 0, ''::bytea, NULL FROM {known} k WHERE k.n IS NOT NULL"
    );
    on([&sets, known], move_known).run()?;
    let members = spread.made(WorkingTable::Members)?;
    members::in_citus(&members, &sets, true).run()?;
    spread.drop(WorkingTable::Sets)?;
    Ok(rows)
}
