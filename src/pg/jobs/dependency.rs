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
    // SAFETY: both are relations; removes rows of pg_depend, of which there may be none.
    unsafe {
        pg_sys::deleteDependencyRecordsForSpecific(
            pg_sys::RelationRelationId,
            table,
            pg_sys::DependencyType::DEPENDENCY_AUTO as std::ffi::c_char,
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
