//! The documents that are there, those that have changed since the result was made, and what is
//! known of them.

use pgrx::pg_sys;

use super::{members, sets};
use crate::into::step::WorkingTable::{Changes, Known, Members, Numbers, Seen, Sets};
use crate::pg::into::statements::join::DocumentColumns;
use crate::pg::into::work::CallWork;
use crate::pg::query::Query;
use crate::pg::query::as_user::as_user;
use crate::pg::query::names::equality;
use crate::pg::server::error::Result;

/// The number of documents whose texts are asked for at a time.
const BATCH: i64 = 10_000;

/// Reads the ids of all documents with the hashes of what is compared of them, which are computed
/// where the documents are. Runs with the search path of the caller, like all reading of documents.
pub(crate) fn see(work: &CallWork) -> Result<i64> {
    let [seen] = as_user(work.call.caller, || work.open([Seen]))?;
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
    let (spread, eq) = (work.spread()?, equality(work.call.asked.id_oid)?);
    let batch = if spread.nodes.citus().is_none() {
        format!("(row_number() OVER () - 1) / {BATCH}::int8")
    } else {
        "0::int8".to_owned()
    };
    let rows = work.execute(&format!(
        "INSERT INTO {Changes} SELECT COALESCE(s.id, k.id), s.hash, s.id IS NULL, {batch} \
         FROM {Seen} s FULL JOIN {Known} k ON k.id {eq} s.id WHERE s.id IS NULL OR k.id IS NULL OR s.hash IS DISTINCT FROM k.hash"
    ))?;
    spread.drop(Seen)?;
    Ok(rows)
}

/// Notes what is known of new and changed documents.
pub(crate) fn fill_known(work: &CallWork) -> Result<i64> {
    if work.nodes()?.citus().is_some() {
        return fill_known_in_citus(work);
    }
    let first = work.first_new()?;
    know(
        work,
        &format!(
            "(SELECT m.id, m.n, m.r, s.digest FROM {Members} m JOIN (SELECT s.n, s.digest FROM {Sets} s WHERE s.n >= {first}::int8) s ON s.n = m.n)"
        ),
    )
}

/// Replaces what is known of changed documents by `n`, `r` and `digest` of their rows in `new`, a
/// table or a query.
fn know(work: &CallWork, new: &str) -> Result<i64> {
    let eq = equality(work.call.asked.id_oid)?;
    work.execute(&format!(
        "DELETE FROM {Known} k WHERE EXISTS (SELECT 1 FROM {Changes} c WHERE c.id {eq} k.id)"
    ))?;
    work.execute(&format!(
        "INSERT INTO {Known} SELECT DISTINCT ON (c.id) c.id, c.hash, m.n, m.r, m.digest FROM {Changes} c LEFT JOIN {new} m ON m.id {eq} c.id WHERE NOT c.gone ORDER BY c.id"
    ))
}

/// Does so in Citus, where the numbers of new documents are moved to where their ids are, and then
/// makes the table of all documents by the numbers of their sets.
fn fill_known_in_citus(work: &CallWork) -> Result<i64> {
    let spread = work.spread()?;
    spread.make(Numbers)?;
    work.execute(&format!(
        "INSERT INTO {Numbers} SELECT m.id, m.n, NULL::int8, NULL::bytea FROM {Members} m"
    ))?;
    let rows = know(work, &Numbers.to_string())?;
    spread.drop(Numbers)?;
    spread.make(Sets)?;
    work.execute(&format!(
        "INSERT INTO {Sets} SELECT k.n, k.id, 0, ''::bytea, NULL FROM {Known} k WHERE k.n IS NOT NULL"
    ))?;
    spread.make(Members)?;
    members::in_citus(work, true)?;
    spread.drop(Sets)?;
    Ok(rows)
}
