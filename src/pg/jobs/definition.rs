//! The definition of a watched relation, and the check that triggers see every change of its rows.
//!
//! Rows of a table also change through a partitioned table that it is attached to, through parents
//! and children by inheritance, by replication, and by commands that rewrite or truncate it. No
//! trigger of the table itself reports these changes. Each of these ways requires that the
//! definition of the table is changed as well, before or after the rows. So as long as the
//! definition is unchanged, triggers have seen every change. An unlogged table is empty after a
//! crash, and nothing reports this.

use pgrx::pg_sys;

use super::job::LockedRelation;
use super::settings::Settings;
use super::statements::catalog;
use crate::pg::procedure::statement::{read_bool, read_text};
use crate::pg::query::as_user::as_user;
use crate::pg::server::error::Result;

/// The definition of a relation.
#[derive(Debug)]
pub(super) struct Definition {
    /// Set if it is a table whose rows change only by statements on the table itself.
    pub is_plain: bool,
    /// Set if all triggers of a job are on it and always fire, also in a session that applies
    /// changes from another server.
    pub has_triggers: bool,
    /// A text that differs whenever the definition of the table, of its columns or of these
    /// triggers was changed.
    pub version: String,
}

impl Definition {
    /// Returns the version if triggers see every change of the rows of a job with these settings.
    pub(super) fn if_told(self, settings: &Settings) -> Option<String> {
        let told = settings.by_triggers() && self.is_plain && self.has_triggers;
        told.then_some(self.version)
    }
}

/// Reads the definition of the relation of a job, which is locked.
pub(super) fn read(job: &LockedRelation) -> Result<Definition> {
    as_user(job.relation.owner, || {
        let types = [pg_sys::BOOLOID, pg_sys::BOOLOID, pg_sys::TEXTOID];
        let found = catalog::definition(job.relation.oid).row(types)?;
        let [plain, triggers, version] = found.unwrap_or_default();
        let version = version.map(read_text).transpose()?.unwrap_or_default().into_owned();
        Ok(Definition { is_plain: read_bool(plain), has_triggers: read_bool(triggers), version })
    })
}
