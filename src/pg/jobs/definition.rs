//! What the definition of a watched relation is like, and whether triggers see every change of its rows.
//!
//! Rows of a table also change through a partitioned table that it is attached to, through parents and children by
//! inheritance, by replication, and by commands that rewrite or truncate it; no trigger of the table's own tells of these.
//! All of them need a change of its definition, before or after: so as long as that is what it was, triggers have seen
//! everything. An unlogged table is empty after a crash, of which nothing tells.

use pgrx::pg_sys;

use super::Job;
use super::statements::{oid, read_text, row};
use crate::pg::query::as_user::as_user;
use crate::pg::server::error::Result;

/// The definition of a relation.
#[derive(Debug)]
pub struct Definition {
    /// Whether it is a table whose rows are changed by statements on itself only.
    pub is_plain: bool,
    /// Whether all triggers of a job are on it, and fire always: also where a session applies changes of another server.
    pub has_triggers: bool,
    /// Another one whenever the definition of the table, of its columns or of these triggers was changed.
    pub version: String,
}

/// The definition of the relation of a job, which is locked.
pub fn of(job: &Job) -> Result<Definition> {
    let sql = "SELECT c.relkind = 'r' AND c.relpersistence = 'p' AND NOT c.relispartition \
                   AND NOT EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid OR i.inhrelid = c.oid) \
                   AND NOT EXISTS (SELECT FROM pg_subscription_rel s WHERE s.srrelid = c.oid), \
               t.count = 3, \
               encode(sha256(concat_ws(' ', c.xmin::text, c.relfilenode, a.versions, t.versions)::bytea), 'hex') \
               FROM pg_class c, \
               LATERAL (SELECT string_agg(a.xmin::text, ',' ORDER BY a.attnum) AS versions \
                   FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0) a, \
               LATERAL (SELECT count(*), string_agg(t.xmin::text, ',' ORDER BY t.tgname) AS versions \
                   FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid \
                   WHERE t.tgrelid = c.oid AND p.proname = 'neardup_changed' AND p.pronamespace = $2 AND p.pronargs = 0 \
                   AND t.tgname IN ('neardup_insert', 'neardup_update', 'neardup_delete') \
                   AND t.tgenabled = 'A') t \
               WHERE c.oid = $1";
    as_user(job.relation.owner, || {
        let types = [pg_sys::BOOLOID, pg_sys::BOOLOID, pg_sys::TEXTOID];
        let found = row(sql, &[oid(job.relation.oid), oid(job.extension.namespace)], &[], types)?;
        let [plain, triggers, version] = found.unwrap_or_default();
        let is = |value: Option<pg_sys::Datum>| value.is_some_and(|value| value.value() != 0);
        let version = version.map(read_text).transpose()?.unwrap_or_default().into_owned();
        Ok(Definition { is_plain: is(plain), has_triggers: is(triggers), version })
    })
}
