//! The definition of a watched relation, and the check that triggers see every change of its rows.
//!
//! Rows of a table also change through a partitioned table that it is attached to, through parents
//! and children by inheritance, by replication, and by commands that rewrite or truncate it. No
//! trigger of the table itself reports these changes. Each of these ways requires that the
//! definition of the table is changed as well, before or after the rows. So as long as the
//! definition is unchanged, triggers have seen every change. An unlogged table is empty after a
//! crash, and nothing reports this.

use pgrx::pg_sys;

use crate::pg::jobs::job::LockedRelation;
use crate::pg::jobs::settings::Settings;
use crate::pg::procedure::statement::{Statement, oid, read_bool, read_text};
use crate::pg::query::as_user::{INTERNAL, as_user};
use crate::pg::server::error::Result;

/// The definition of a relation.
#[derive(Debug)]
pub(crate) struct Definition {
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
    pub(crate) fn if_told(self, settings: &Settings) -> Option<String> {
        let told = settings.by_triggers() && self.is_plain && self.has_triggers;
        told.then_some(self.version)
    }
}

/// The condition that Citus distributes the table `c`. Citus does not support triggers of others on
/// such a table.
const IS_SPREAD: &str = "EXISTS (SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE t.tgrelid = c.oid \
     AND p.proname = 'citus_truncate_trigger' AND p.pronamespace = 'pg_catalog'::regnamespace)";

/// Reads the definition of the relation of a job, which is locked.
pub(crate) fn read(job: &LockedRelation) -> Result<Definition> {
    as_user(job.relation.owner, || {
        let types = [pg_sys::BOOLOID, pg_sys::BOOLOID, pg_sys::TEXTOID];
        let sql = format!(
            "SELECT c.relkind = 'r' AND c.relpersistence = 'p' AND NOT c.relispartition AND NOT {IS_SPREAD} \
                       AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid OR i.inhrelid = c.oid) \
                       AND NOT EXISTS (SELECT FROM pg_subscription_rel s WHERE s.srrelid = c.oid), \
                   t.count = 3, \
                   encode(sha256(concat_ws(' ', c.xmin::text, c.relfilenode, a.versions, t.versions)::bytea), 'hex') \
                   FROM pg_class c, \
                   LATERAL (SELECT string_agg(a.xmin::text, ',' ORDER BY a.attnum) AS versions \
                       FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0) a, \
                   LATERAL (SELECT count(*), string_agg(t.xmin::text, ',' ORDER BY t.tgname) AS versions \
                       FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid \
                       WHERE t.tgrelid = c.oid AND p.proname = 'neardup_changed' AND p.pronamespace = '{INTERNAL}'::regnamespace AND p.pronargs = 0 \
                       AND t.tgname IN ('neardup_insert', 'neardup_update', 'neardup_delete') \
                       AND t.tgenabled = 'A') t \
                   WHERE c.oid = $1"
        );
        let found = Statement::new(sql).with([oid(job.relation.oid)]).row(types)?;
        let [plain, triggers, version] = found.unwrap_or_default();
        let version = version.map(read_text).transpose()?.unwrap_or_default().into_owned();
        Ok(Definition { is_plain: read_bool(plain), has_triggers: read_bool(triggers), version })
    })
}
