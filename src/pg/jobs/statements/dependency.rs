//! The dependency of a job's tables on the watched relation: the tables are dropped with the
//! relation, so that nothing is left behind.

use pgrx::pg_sys::{self, ObjectAddress, Oid};

use crate::pg::jobs::hints::{anew, not_now};
use crate::pg::jobs::job::LockedRelation;
use crate::pg::jobs::tables::JobTables;
use crate::pg::procedure::statement::{Statement, oid, oid_array};
use crate::pg::query::as_user::as_user;
use crate::pg::server::error::Result;

/// Makes a table depend on the relation, so that dropping the relation drops the table without
/// CASCADE. Adds the dependency if a restored dump lacks it; an existing one is not duplicated.
pub(crate) fn depend(table: Oid, docs: Oid) {
    record(table, docs, pg_sys::DependencyType::DEPENDENCY_AUTO);
}

/// Does the same as [`depend`] for a table that Citus distributes. If a table is dropped only
/// because of such a dependency, Citus takes the table for a partition and does not drop its
/// shards. So a normal dependency is added, which by itself would require CASCADE. A table that is
/// not one of ours and has the relation as its parent depends on the relation as before.
pub(crate) fn depend_with_shards(table: Oid, docs: Oid) {
    depend(table, docs);
    if can_be_ours(table) {
        record(table, docs, pg_sys::DependencyType::DEPENDENCY_NORMAL);
    }
}

/// Records a dependency, after it was removed, so that it exists only once.
fn record(table: Oid, docs: Oid, kind: pg_sys::DependencyType::Type) {
    forget_kind(table, docs, kind);
    let address =
        |relation| ObjectAddress { classId: pg_sys::RelationRelationId, objectId: relation, objectSubId: 0 };
    let (table, docs) = (address(table), address(docs));
    // SAFETY: both are relations that are locked.
    unsafe {
        pg_sys::recordDependencyOn(&raw const table, &raw const docs, kind);
        // Later commands in this transaction may look for the dependency.
        pg_sys::CommandCounterIncrement();
    }
}

/// Reports whether an OID belongs to a table that a job can have made. Only such a table depends on
/// another relation because of us. Indexes, sequences and partitions have such dependencies anyway,
/// and their dependencies must not be removed.
fn can_be_ours(table: Oid) -> bool {
    // SAFETY: any OID may be looked up.
    unsafe {
        pg_sys::get_rel_relkind(table).cast_unsigned() == pg_sys::RELKIND_RELATION
            && !pg_sys::get_rel_relispartition(table)
    }
}

/// Removes the dependency, so that the table stays when the relation is dropped.
pub(crate) fn forget(table: Oid, docs: Oid) {
    forget_kind(table, docs, pg_sys::DependencyType::DEPENDENCY_AUTO);
}

/// Removes the dependencies of a kind, if a job can have made them.
fn forget_kind(table: Oid, docs: Oid, kind: pg_sys::DependencyType::Type) {
    if !can_be_ours(table) {
        return;
    }
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

/// Reports whether a table depends on the relation, that is, whether a job of the relation made the
/// table.
pub(crate) fn is_there(table: Oid, docs: Oid) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = $1 \
               AND d.refclassid = 'pg_class'::regclass AND d.refobjid = $2 AND d.deptype = 'a')";
    Ok(can_be_ours(table) && Statement::new(sql).with([oid(table), oid(docs)]).holds()?)
}

/// Checks that the tables belong to the job of this relation, and not to that of another one, as
/// the registry of a restored dump may say.
pub(crate) fn check(job: &LockedRelation, tables: &JobTables) -> Result<()> {
    let (docs, shown) = (job.relation.oid, &job.relation.shown);
    let all: Vec<Oid> = tables.all().map(|(_, table)| table.oid).collect();
    // The first table that does not depend on the relation.
    let all = oid_array(&all);
    let sql = format!(
        "SELECT t.oid::int8 FROM unnest({all}) t(oid) WHERE NOT EXISTS (SELECT FROM pg_depend d \
         WHERE d.classid = 'pg_class'::regclass AND d.objid = t.oid \
         AND d.refclassid = 'pg_class'::regclass AND d.refobjid = $1 AND d.deptype = 'a') LIMIT 1"
    );
    let independent = Statement::new(sql).with([oid(docs)]);
    let independent = as_user(job.relation.owner, || independent.number())?;
    if independent.is_some() {
        for (_, other) in tables.all() {
            if job.registry.uses(other.oid, docs)? {
                let message = format!("{} is of the job of another relation than {shown}", other.name);
                return Err(not_now(message, anew(shown)));
            }
        }
    }
    Ok(())
}
