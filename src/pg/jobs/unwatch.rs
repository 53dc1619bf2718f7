//! Ends a job. This always works for the owner of the relation, even if the job's tables, triggers
//! and settings are missing or were changed.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum, Oid};

use super::job::{EVENTS, LockedRelation};
use super::statements::definitions;
use super::statements::dependency;
use super::statements::registry::{LockedJob, Wait};
use crate::pg::procedure::definition::drop_tables;
use crate::pg::procedure::table::{OpenedTable, Table};
use crate::pg::query::as_user::{acts_for, as_user};
use crate::pg::query::names::name_of;
use crate::pg::query::subtransaction::apart;
use crate::pg::server::call::sql_functions;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::notices::{notice, notice_with};

sql_functions! {
    /// `neardup_unwatch(docs, keep_results)`: ends a job.
    neardup_unwatch, within ItsCalls: |call| {
        let job = LockedRelation::from_call(call, "neardup_unwatch")?;
        job.unwatch(call.get::<bool>(1).unwrap_or(false))?;
        Ok(Datum::from(0))
    };
}

impl LockedRelation {
    /// Drops the triggers and the tables of the job. If `keep_results` is true, keeps the pairs and
    /// the clusters.
    pub(super) fn unwatch(&self, keep_results: bool) -> Result<()> {
        let Self { relation, registry, .. } = self;
        let LockedJob::Job(job) = registry.lock(relation.oid, Wait::Wait)? else {
            return Err(self.not_watched());
        };
        as_user(relation.owner, || self.drop_triggers())?;
        let mut left = Left::default();
        for table in [job.pairs, job.clusters] {
            if keep_results {
                dependency::forget(table, relation.oid);
            } else {
                self.drop_table(table, &mut left)?;
            }
        }
        for table in std::iter::once(job.state).chain(job.lists).chain(job.hashes) {
            self.drop_table(table, &mut left)?;
        }
        left.tell();
        registry.remove(relation.oid)?;
        registry.clean()?;
        registry.clean_log(&self.extension)
    }

    fn drop_triggers(&self) -> Result<()> {
        for event in EVENTS {
            if self.has_trigger(event)? {
                definitions::drop_trigger(&self.relation.qualified, event)?;
            }
        }
        Ok(())
    }

    /// Drops a table as its owner, if the caller may act for this owner, the table belongs to the
    /// job, and no other object depends on it; otherwise notes its name.
    fn drop_table(&self, table: Oid, left: &mut Left) -> Result<()> {
        let Self { relation, registry, .. } = self;
        let docs = relation.oid;
        let depends = as_user(relation.owner, || dependency::is_there(table, docs))?;
        let may = |owner| acts_for(owner) && (depends || owner == relation.owner);
        // A table that may not belong to the job is not locked against other sessions' use.
        let lock = if depends { pg_sys::AccessExclusiveLock } else { pg_sys::AccessShareLock };
        match Table::open(table, lock, may)? {
            OpenedTable::Gone => return Ok(()),
            // A restored dump has no dependencies, and its registry may name other tables.
            OpenedTable::Table(table)
                if depends || (table.is_of_job() && !registry.uses(table.oid, docs)?) =>
            {
                if as_user(table.owner, || drop_alone(&table.name))? {
                    return Ok(());
                }
                dependency::forget(table.oid, docs);
                left.used.push(table.name);
                return Ok(());
            }
            OpenedTable::Table(_) | OpenedTable::Others(_) | OpenedTable::Busy => {}
        }
        dependency::forget(table, docs);
        left.of_others.push(name_of(table)?);
        Ok(())
    }
}

/// Drops a table. Returns false if another object depends on it, such as a view or a foreign key.
pub(super) fn drop_alone(table: &str) -> Result<bool> {
    match apart(|| drop_tables([table])) {
        Ok(()) => Ok(true),
        // SAFETY: an error that was copied from the server.
        Err(SqlError::Server(error)) if unsafe { (*error).sqlerrcode } == DEPENDENT as i32 => Ok(false),
        Err(error) => Err(error),
    }
}

const DEPENDENT: PgSqlErrorCode = PgSqlErrorCode::ERRCODE_DEPENDENT_OBJECTS_STILL_EXIST;

/// The names of the tables that are not dropped.
#[derive(Default)]
struct Left {
    of_others: Vec<String>,
    /// Tables on which other objects depend.
    used: Vec<String>,
}

impl Left {
    /// Tells the caller which tables are left.
    fn tell(&self) {
        if !self.of_others.is_empty() {
            let names = self.of_others.join(", ");
            notice(format!("left as they are, since they are not the caller's or not of this job: {names}"));
        }
        if !self.used.is_empty() {
            let names = self.used.join(", ");
            notice_with(
                format!("left as they are, since views, foreign keys or other objects use them: {names}"),
                format!("Drop these objects, then: DROP TABLE {names};"),
            );
        }
    }
}
