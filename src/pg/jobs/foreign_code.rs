//! Tables of a job that are another relation's, or that run functions of other owners.
//!
//! A table that changed hands keeps its triggers, defaults, checks and indexes; work on it would run their functions as the
//! new owner, whose they are not. And the registry of a restored dump may name any tables of the owner's.

use pgrx::pg_sys::{self, Oid};

use super::dependency;
use super::hints::{anew, not_now};
use super::job::Job;
use super::statements::catalog;
use super::tables::all::Tables;
use crate::pg::procedure::catalog::role;
use crate::pg::procedure::statement::{read_oid, read_text};
use crate::pg::query::as_user::as_user;
use crate::pg::server::error::Result;

/// Checks that the tables, which have one owner, are of this job, and run no functions but the owner's and the server's.
pub(super) fn check(job: &Job, tables: &Tables) -> Result<()> {
    let shown = &job.relation.shown;
    let docs = job.relation.oid;
    let owner = tables.state.owner;
    let all: Vec<Oid> = tables.all().map(|table| table.oid).collect();
    let (independent, foreign) =
        as_user(owner, || Ok((dependency::first_without(&all, docs)?, foreign_function(&all, owner)?)))?;
    if independent.is_some() {
        for other in tables.all() {
            if job.registry.uses(other.oid, docs)? {
                let message = format!("{} is of the job of another relation than {shown}", other.name);
                return Err(not_now(message, anew(shown)));
            }
        }
    }
    let Some(ForeignFunction { of, function, owner }) = foreign else { return Ok(()) };
    let table = tables.all().find(|table| table.oid == of).map_or("", |table| &table.name);
    Err(not_now(
        format!("{table} runs {function} of {owner} when the job of {shown} writes"),
        format!("A job runs no functions of others than the owner. Drop what runs it. {}", anew(shown)),
    ))
}

/// A function that writing to a table runs.
struct ForeignFunction {
    /// The table.
    of: Oid,
    function: String,
    owner: String,
}

/// A function that writing to one of the tables runs, and whose owner is neither that of the tables nor a superuser.
fn foreign_function(tables: &[Oid], owner: Oid) -> Result<Option<ForeignFunction>> {
    let types = [pg_sys::OIDOID, pg_sys::TEXTOID, pg_sys::OIDOID];
    let found = catalog::foreign_function(tables, owner).row(types)?;
    let Some([Some(of), Some(function), Some(owner)]) = found else { return Ok(None) };
    let (function, owner) = (read_text(function)?.into_owned(), role(read_oid(owner))?);
    Ok(Some(ForeignFunction { of: read_oid(of), function, owner }))
}
