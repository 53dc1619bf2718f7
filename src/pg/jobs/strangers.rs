//! Tables of a job that are another relation's, or that run what somebody else wrote.
//!
//! A table that changed hands keeps its triggers, defaults, checks and indexes; work on it would run their functions as the
//! new owner, whose they are not. And the books of a restored dump may name any tables of the owner's.

use pgrx::pg_sys::{self, Datum, Oid};

use super::statements::{oid, read_text, row};
use super::tables::{Tables, anew, role};
use super::{Job, dependency, not_now};
use crate::pg::query::as_user::as_user;
use crate::pg::server::error::Result;

/// Checks that the tables, which have one owner, are of this job, and run nobody's functions but the owner's and the
/// server's.
pub fn check(job: &Job, tables: &Tables) -> Result<()> {
    let shown = &job.relation.shown;
    let docs = job.relation.oid;
    let owner = tables.state.owner;
    let numbers: Vec<String> = tables.all().map(|table| table.oid.to_u32().to_string()).collect();
    let all = format!("'{{{}}}'::oid[]", numbers.join(","));
    let (independent, stranger) =
        as_user(owner, || Ok((dependency::first_without(&all, docs)?, function_of_others(&all, owner)?)))?;
    let table = |oid| tables.all().find(|table| table.oid == oid).map_or("", |table| &table.name);
    if independent.is_some() {
        for other in tables.all() {
            if job.books.uses(other.oid, docs)? {
                let message = format!("{} is of the job of another relation than {shown}", other.name);
                return Err(not_now(message, anew(shown)));
            }
        }
    }
    let Some(Stranger { of, function, owner }) = stranger else { return Ok(()) };
    Err(not_now(
        format!("{} runs {function} of {owner} when the job of {shown} writes", table(of)),
        format!("A job runs no functions of others than the owner. Drop what runs it. {}", anew(shown)),
    ))
}

/// A function that writing to a table runs.
struct Stranger {
    /// The table.
    of: Oid,
    function: String,
    owner: String,
}

/// A function that writing to one of the tables, an array in SQL text, runs, and whose owner is neither that of the tables
/// nor a superuser.
fn function_of_others(tables: &str, owner: Oid) -> Result<Option<Stranger>> {
    let sql = format!(
        "WITH parts(classid, objid, of) AS ( \
             SELECT 'pg_trigger'::regclass, oid, tgrelid FROM pg_trigger WHERE tgrelid = ANY ({tables}) \
             UNION ALL SELECT 'pg_constraint'::regclass, oid, conrelid FROM pg_constraint WHERE conrelid = ANY ({tables}) \
             UNION ALL SELECT 'pg_attrdef'::regclass, oid, adrelid FROM pg_attrdef WHERE adrelid = ANY ({tables}) \
             UNION ALL SELECT 'pg_policy'::regclass, oid, polrelid FROM pg_policy WHERE polrelid = ANY ({tables}) \
             UNION ALL SELECT 'pg_class'::regclass, indexrelid, indrelid FROM pg_index WHERE indrelid = ANY ({tables})) \
         SELECT parts.of, p.oid::regprocedure::text, p.proowner \
         FROM parts JOIN pg_depend d ON d.classid = parts.classid AND d.objid = parts.objid \
             AND d.refclassid = ANY ('{{pg_proc, pg_operator}}'::regclass[]) \
         LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid \
         JOIN pg_proc p ON p.oid = COALESCE(o.oprcode::oid, d.refobjid) \
         WHERE p.proowner <> $1 AND NOT EXISTS (SELECT FROM pg_roles r WHERE r.oid = p.proowner AND r.rolsuper) \
         LIMIT 1"
    );
    let found = row(&sql, &[oid(owner)], &[], [pg_sys::OIDOID, pg_sys::TEXTOID, pg_sys::OIDOID])?;
    let Some([Some(of), Some(function), Some(owner)]) = found else { return Ok(None) };
    let number = |value: Datum| Oid::from(value.value() as u32);
    let (function, owner) = (read_text(function)?.into_owned(), role(number(owner))?);
    Ok(Some(Stranger { of: number(of), function, owner }))
}
