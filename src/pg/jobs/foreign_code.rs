//! The check that a job's tables belong to this job and run no functions of other owners.
//!
//! A table whose owner changed keeps its triggers, defaults, checks and indexes. Work on the table
//! would run the functions in these as the new owner, who does not own the functions. And the
//! registry of a restored dump may name any tables of the owner.

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

/// Checks that the tables, which have one owner, belong to this job, and run only functions of the
/// owner and of the server.
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

/// A function that runs when the table is written to.
struct ForeignFunction {
    /// The table.
    of: Oid,
    function: String,
    owner: String,
}

/// Finds a function that runs when one of the tables is written to and whose owner is neither the
/// owner of the tables nor a superuser.
fn foreign_function(tables: &[Oid], owner: Oid) -> Result<Option<ForeignFunction>> {
    let types = [pg_sys::OIDOID, pg_sys::TEXTOID, pg_sys::OIDOID];
    let found = catalog::foreign_function(tables, owner).row(types)?;
    let Some([Some(of), Some(function), Some(owner)]) = found else { return Ok(None) };
    let (function, owner) = (read_text(function)?.into_owned(), role(read_oid(owner))?);
    Ok(Some(ForeignFunction { of: read_oid(of), function, owner }))
}
