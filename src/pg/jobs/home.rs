//! The place of the data about rows as they were seen: in the table of states, next to the marks of
//! waiting rows; or in a table that is colocated with the documents, if Citus distributes the
//! documents in a way that allows such a table. In the second case the nodes compare the rows, and
//! only the changes reach the coordinator.

use pgrx::pg_sys;

use super::hints::{in_the_way, renamed};
use super::job::LockedRelation;
use super::settings::Columns;
use super::statements::dependency;
use super::statements::registry::JobEntry;
use super::tables::JobTable;
use crate::pg::procedure::citus;
use crate::pg::procedure::statement::read_bool;
use crate::pg::procedure::table::{OpenedTable, Table};
use crate::pg::query::citus::is_spread;
use crate::pg::server::error::Result;

/// The way in which documents, and a colocated table, are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Home {
    /// By their ids.
    Ids,
    /// All on one node.
    Node,
}

/// Returns how the relation of a job is distributed, if a table can be colocated with it. Runs as
/// the owner of the relation.
pub(super) fn find(job: &LockedRelation, columns: &Columns<'_>) -> Result<Option<Home>> {
    let docs = job.relation.oid;
    // This runs no query on a server without Citus, and one query for a relation that is not
    // distributed.
    if !is_spread(docs)? || !citus::is_there().holds()? {
        return Ok(None);
    }
    let id = columns.id;
    let Some([by_id]) = citus::home(docs, id.number, id.base_type).row([pg_sys::BOOLOID])? else {
        return Ok(None);
    };
    let by_id = read_bool(by_id);
    // Citus distributes ids by hashes under their own collation, so ids with a collation are
    // excluded.
    let goes = !by_id || id.collated().is_empty();
    Ok(goes.then_some(if by_id { Home::Ids } else { Home::Node }))
}

/// Reports whether the data about rows as they were seen is in another place than it should be.
/// Runs as the owner of the relation.
pub(super) fn is_left(job: &LockedRelation, home: Option<Home>, hashes: Option<&Table>) -> Result<bool> {
    Ok(match (home, hashes) {
        (None, hashes) => hashes.is_some(),
        (Some(_), None) => true,
        (Some(_), Some(hashes)) => !citus::is_beside(job.relation.oid, hashes.oid).holds()?,
    })
}

/// Makes the table for rows as they were seen, distributed as `home` says, for ids of the type
/// `id_type`. Runs as the owner of the relation.
pub(super) fn make(job: &LockedRelation, home: Home, id_type: pg_sys::Oid) -> Result<Table> {
    let relation = &job.relation;
    if job.table_named(JobTable::Hashes)?.is_some() {
        return Err(in_the_way(&job.name_of(JobTable::Hashes)?));
    }
    job.create(JobTable::Hashes, id_type)?;
    let made = job.table_named(JobTable::Hashes)?;
    let open = |oid| Table::open(oid, pg_sys::RowExclusiveLock, |owner| owner == relation.owner);
    let Some(OpenedTable::Table(table)) = made.map(open).transpose()? else {
        return Err(renamed(&relation.shown));
    };
    let by = (home == Home::Ids).then_some("id");
    citus::distribute(table.oid, by, Some(&relation.qualified), 0)?.run()?;
    Ok(table)
}

/// Records the current table in the registry, and makes the table depend on the relation.
pub(super) fn keep(job: &LockedRelation, entry: &mut JobEntry, table: Option<&Table>) -> Result<()> {
    entry.hashes = table.map(|table| table.oid);
    if let Some(table) = table {
        dependency::depend_with_shards(table.oid, job.relation.oid);
    }
    job.registry.put(job.relation.oid, entry)
}
