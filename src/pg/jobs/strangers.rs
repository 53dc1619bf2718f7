//! Tables of a job that are another relation's, or that run what somebody else wrote.
//!
//! A table that changed hands keeps its triggers, defaults, checks and indexes; work on it would run their functions as the
//! new owner, whose they are not. And the books of a restored dump may name any tables of the owner's.

use pgrx::pg_sys;

use super::statements::{oid, read_text, row};
use super::tables::{Table, Tables, anew, role};
use super::{Job, dependency, not_now};
use crate::pg::as_owner::as_user;
use crate::pg::error::Result;

/// Checks that the tables are of this job, and run nobody's functions but the owner's and the server's.
pub fn check(job: &Job, tables: &Tables) -> Result<()> {
    let shown = &job.relation.shown;
    let docs = job.relation.oid;
    for table in tables.all() {
        let depends = as_user(table.owner, || dependency::is_there(table.oid, docs))?;
        if !depends && job.books.uses(table.oid, docs)? {
            let message = format!("{} is of the job of another relation than {shown}", table.name);
            return Err(not_now(message, anew(shown)));
        }
        if let Some((function, owner)) = function_of_others(table)? {
            let message = format!("{} runs {function} of {owner} when the job of {shown} writes", table.name);
            return Err(not_now(
                message,
                format!(
                    "A job runs no functions of others than the owner. Drop what runs it. {}",
                    anew(shown)
                ),
            ));
        }
    }
    Ok(())
}

/// A function that writing to the table runs, and its owner, who is neither that of the table nor a superuser.
fn function_of_others(table: &Table) -> Result<Option<(String, String)>> {
    let sql = "WITH parts(classid, objid) AS ( \
                   SELECT 'pg_trigger'::regclass, oid FROM pg_trigger WHERE tgrelid = $1 \
                   UNION ALL SELECT 'pg_constraint'::regclass, oid FROM pg_constraint WHERE conrelid = $1 \
                   UNION ALL SELECT 'pg_attrdef'::regclass, oid FROM pg_attrdef WHERE adrelid = $1 \
                   UNION ALL SELECT 'pg_policy'::regclass, oid FROM pg_policy WHERE polrelid = $1 \
                   UNION ALL SELECT 'pg_class'::regclass, indexrelid FROM pg_index WHERE indrelid = $1) \
               SELECT p.oid::regprocedure::text, p.proowner \
               FROM parts JOIN pg_depend d ON d.classid = parts.classid AND d.objid = parts.objid \
                   AND d.refclassid = ANY ('{pg_proc, pg_operator}'::regclass[]) \
               LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid \
               JOIN pg_proc p ON p.oid = COALESCE(o.oprcode::oid, d.refobjid) \
               WHERE p.proowner <> $2 AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = p.proowner AND r.rolsuper) \
               LIMIT 1";
    as_user(table.owner, || {
        let found = row(sql, &[oid(table.oid), oid(table.owner)], &[], [pg_sys::TEXTOID, pg_sys::OIDOID])?;
        let Some([Some(function), Some(owner)]) = found else { return Ok(None) };
        Ok(Some((read_text(function)?.into_owned(), role(pg_sys::Oid::from(owner.value() as u32))?)))
    })
}
