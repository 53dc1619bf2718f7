//! The tables of a job depend on the watched relation: dropped with it, they leave nothing behind.

use pgrx::pg_sys::{self, ObjectAddress, Oid};

use super::statements::catalog;
use crate::pg::server::error::Result;

fn address(relation: Oid) -> ObjectAddress {
    ObjectAddress { classId: pg_sys::RelationRelationId, objectId: relation, objectSubId: 0 }
}

/// Lets a table go when the relation is dropped, without being asked for. What a restored dump lacks is made anew, what is
/// there stays once.
pub(super) fn depend(table: Oid, docs: Oid) {
    forget(table, docs);
    let (table, docs) = (address(table), address(docs));
    // SAFETY: both are relations that are locked.
    unsafe {
        pg_sys::recordDependencyOn(
            &raw const table,
            &raw const docs,
            pg_sys::DependencyType::DEPENDENCY_AUTO,
        );
        // What comes next in this transaction may look for it.
        pg_sys::CommandCounterIncrement();
    }
}

/// The same of a table that Citus spreads. It leaves the shards of a table that is dropped for nothing but such a dependency, as it
/// takes it for a partition; so there is one of the other kind, too, which by itself would have to be asked for.
pub(super) fn depend_with_shards(table: Oid, docs: Oid) {
    depend(table, docs);
    if !can_be_ours(table) {
        return;
    }
    // Once: so a table that has the relation as its parent, which is no table of ours, depends on it as before.
    forget_kind(table, docs, pg_sys::DependencyType::DEPENDENCY_NORMAL);
    let (table, docs) = (address(table), address(docs));
    // SAFETY: both are relations that are locked.
    unsafe {
        pg_sys::recordDependencyOn(
            &raw const table,
            &raw const docs,
            pg_sys::DependencyType::DEPENDENCY_NORMAL,
        );
        pg_sys::CommandCounterIncrement();
    }
}

/// Whether a number is that of a table which a job can have made: only such a one depends on another relation because we
/// said so. Indexes, sequences and partitions do of themselves, and that must not be taken from them.
fn can_be_ours(table: Oid) -> bool {
    // SAFETY: any number is looked up.
    unsafe {
        pg_sys::get_rel_relkind(table).cast_unsigned() == pg_sys::RELKIND_RELATION
            && !pg_sys::get_rel_relispartition(table)
    }
}

/// Lets a table stay when the relation is dropped.
pub(super) fn forget(table: Oid, docs: Oid) {
    if !can_be_ours(table) {
        return;
    }
    forget_kind(table, docs, pg_sys::DependencyType::DEPENDENCY_AUTO);
}

/// Removes the dependencies of a kind.
fn forget_kind(table: Oid, docs: Oid, kind: pg_sys::DependencyType::Type) {
    // SAFETY: both are relations; removes rows of pg_depend, of which there may be none.
    unsafe {
        pg_sys::deleteDependencyRecordsForSpecific(
            pg_sys::RelationRelationId,
            table,
            kind as std::ffi::c_char,
            pg_sys::RelationRelationId,
            docs,
        );
        pg_sys::CommandCounterIncrement();
    }
}

/// Whether a table depends on the relation: whether a job of it made the table.
pub(super) fn is_there(table: Oid, docs: Oid) -> Result<bool> {
    Ok(can_be_ours(table) && catalog::depends(table, docs).holds()?)
}

/// The first of some tables that does not depend on the relation.
pub(super) fn first_without(tables: &[Oid], docs: Oid) -> Result<Option<i64>> {
    catalog::independent(tables, docs).number()
}
