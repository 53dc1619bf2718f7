//! Jobs that keep pairs and clusters up to date: `neardup_watch`, `neardup_refresh`, `neardup_unwatch`.
//!
//! Here is who may do it. What is known of jobs is in the extension's [`books`], the tables that a job works on are
//! found and checked in [`tables`]; [`watch`] sets a job up, [`refresh`] does a step of it, in which only one session is
//! at a time ([`lock`]), [`unwatch`] ends it. The trigger that notes changes is in [`changes`]; what SQL cannot do in
//! [`checks`], [`pairs`], [`lists`] and [`clusters`].
//!
//! Work on users' tables runs as the owner of the watched relation, work on the books as the owner of the extension. No
//! SQL text is kept anywhere: it is made anew, for each statement, of the numbers of tables that are locked and of columns.

mod arguments;
mod books;
mod changes;
mod checks;
mod clusters;
mod definition;
mod dependency;
mod lists;
mod lock;
mod look;
mod method;
mod near;
mod others;
mod pairs;
mod refresh;
mod settings;
mod statements;
mod stored;
mod strangers;
mod tables;
mod unwatch;
mod watch;
mod writer;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys;

use super::query::as_user::Extension;
use super::query::relation::Relation;
use super::request::example::literal;
use super::request::form::{self, Form};
use super::server::call::{Call, sql_function};
use super::server::error::{Result, SqlError};
use books::Books;
use settings::Settings;
use statements::{holds, oid, text};

sql_function! {
    /// `neardup_watch(docs, threshold, options, …)`: sets a job up.
    neardup_watch, pg_finfo_neardup_watch, |call| {
        let job = Job::of(call, "neardup_watch")?;
        job.watch(Settings::of_arguments(call)?)?;
        Ok(pg_sys::Datum::from(0))
    }
}

sql_function! {
    /// `neardup_unwatch(docs, keep_results)`: ends a job.
    neardup_unwatch, pg_finfo_neardup_unwatch, |call| {
        let job = Job::of(call, "neardup_unwatch")?;
        job.unwatch(call.get::<bool>(1).unwrap_or(false))?;
        Ok(pg_sys::Datum::from(0))
    }
}

sql_function! {
    /// `neardup_refresh_step(docs, started, batch_rows)`: a batch of a refresh; what is to be done then.
    neardup_refresh_step, pg_finfo_neardup_refresh_step, |call| {
        let job = Job::of(call, "neardup_refresh")?;
        let status = job.step(call.need(1, "started")?, call.need(2, "batch_rows")?)?;
        Ok(call.give(Some(status)))
    }
}

/// The first argument behind those of a join.
const NEXT: usize = FORM.count();
/// Hints show a call that users know.
const FORM: Form = form::NEAR_DUPLICATES.typed();
/// About how many bytes of documents a step hands over at one time: most have few, and some are to be compared
/// while others are read.
const BATCH: usize = 1 << 18;

/// What triggers tell of, by the names of these.
///
/// Of TRUNCATE they need not: it changes the definition of the table ([`definition`]).
const EVENTS: [&str; 3] = ["insert", "update", "delete"];

/// A relation that is locked, and what there is to know of its job.
struct Job {
    relation: Relation,
    extension: Extension,
    books: Books,
}

impl Job {
    /// For the relation that argument 0 names; the caller must own it, or act for its owner.
    fn of(call: Call, function: &'static str) -> Result<Self> {
        // SAFETY: looks at the state of the server.
        if unsafe { pg_sys::RecoveryInProgress() } {
            let message = format!("cannot execute {function} during recovery");
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_READ_ONLY_SQL_TRANSACTION, message)
                .hint("Call it on the primary; the job's tables follow on the standby."));
        }
        let watch = "SELECT neardup_watch('docs', 0.8);";
        let docs: pg_sys::Oid = call.need(0, "docs").map_err(|error| error.hint(watch))?;
        let relation = Relation::open(docs).map_err(|error| error.hint(watch))?;
        // SAFETY: a look at the roles.
        if !unsafe { pg_sys::has_privs_of_role(pg_sys::GetUserId(), relation.owner) } {
            let message = format!("must be owner of {}", relation.shown);
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, message)
                .hint("Jobs run as the owner of the relation; watch a view of your own on it."));
        }
        let extension = Extension::of(call)?;
        let books = Books::open(&extension)?;
        Ok(Self { relation, extension, books })
    }

    /// Whether the relation has our trigger for an event.
    fn has_trigger(&self, event: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid \
                   WHERE t.tgrelid = $1 AND t.tgname = $2::name AND p.proname = 'neardup_changed')";
        holds(sql, &[oid(self.relation.oid), text(&format!("neardup_{event}"))?], &[])
    }

    fn not_watched(&self) -> SqlError {
        let shown = &self.relation.shown;
        SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, format!("{shown} is not watched"))
            .hint(format!("SELECT neardup_watch({}, 0.8);", literal(shown)))
    }
}

/// The error where a job cannot go on as things are.
fn not_now(message: impl Into<String>, hint: String) -> SqlError {
    SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message).hint(hint)
}
