//! The registry of the extension: the watched relations, the log of runs, and the changes that
//! could not be noted.
//!
//! Only the owner of the registry's tables writes to them, and all code here runs as this owner. So
//! a statement must refer to exactly these tables, even if the owner of a schema puts other tables
//! in their place. And they must be as sql/jobs.sql made them: a table that was given to another
//! owner may have kept indexes and triggers with functions of the former one.

use std::ffi::CStr;

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{IntoDatum, PgSqlErrorCode};

use super::settings::Settings;
use super::statements::registry::{self as statements, RegistryValues};
use crate::pg::procedure::form::{IndexForm, TableForm};
use crate::pg::procedure::statement::{Statement, read_oid, read_text};
use crate::pg::procedure::table::{OpenedTable, Table};
use crate::pg::query::as_user::{Extension, as_user, without_sql_as};
use crate::pg::query::by_oid::{self, Inserter};
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::settings;

/// The tables of the registry, found by the extension that they belong to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Registry {
    /// The table of jobs.
    pub jobs: Oid,
    /// Set if the table of jobs has the column for tables of hashes, which was added in version
    /// 0.2. Jobs of an older version, which has no such column, can be ended, too.
    has_hashes: bool,
    unnoted: Oid,
    owner: Oid,
}

/// A job, as its row in the registry describes it. The row may come from a restored dump, so the
/// tables may be any tables.
#[derive(Debug)]
pub(super) struct JobEntry {
    /// The settings of the job, or the reason why they cannot be read.
    pub settings: std::result::Result<Settings, String>,
    /// The OID of the table of pairs.
    pub pairs: Oid,
    /// The OID of the table of clusters.
    pub clusters: Oid,
    /// The OID of the table of states.
    pub state: Oid,
    /// The OID of the table of lists, if the method has one.
    pub lists: Option<Oid>,
    /// The OID of the table of rows as they were seen, if this is a separate table.
    pub hashes: Option<Oid>,
    /// The definition of the relation when all of its rows were last compared.
    pub seen: Option<String>,
}

/// The part of a job's row that a trigger needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct TriggerEntry {
    /// The OID of the table of states.
    pub state: Oid,
    settings: Option<Datum>,
}

impl TriggerEntry {
    /// Returns the settings as they are stored.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: a copy of a value of the server, which lives as long as the call of a trigger.
        self.settings.map_or(&[], |settings| unsafe { varlena_bytes(settings) })
    }

    /// Returns the settings, or the reason why they cannot be read.
    pub(super) fn settings(&self) -> std::result::Result<Settings, String> {
        read_settings(self.settings)
    }
}

/// Parses the settings of a job, or returns the reason why they cannot be read.
fn read_settings(settings: Option<Datum>) -> std::result::Result<Settings, String> {
    let settings = settings.ok_or_else(|| "they are missing".to_owned())?;
    // SAFETY: the server's JSON, whose text is a C string.
    let text = unsafe { c_string(pg_sys::OidOutputFunctionCall(Oid::from(pg_sys::F_JSONB_OUT), settings)) };
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

/// Reads the OID of a relation from a row; NULL becomes 0.
fn number(value: Option<Datum>) -> Oid {
    value.map_or(pg_sys::InvalidOid, read_oid)
}

/// The result of [`Registry::lock`].
#[derive(Debug)]
pub(super) enum LockedJob {
    /// The relation is not watched.
    None,
    /// Another session is already working on the job.
    Busy,
    /// The job of the relation.
    Job(Box<JobEntry>),
}

/// The way to lock the row of a job until the end of the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// Waits until no other session has the lock.
    Wait,
    /// Locks the row only if no other session has the lock.
    Skip,
}

/// The counts of a batch.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchCounts {
    /// Rows that were new, changed or deleted.
    pub rows: i64,
    /// Removed pairs.
    pub removed: i64,
    /// Added pairs.
    pub added: i64,
    /// Rows that wait for the next batch; counted only in the first batch.
    pub waiting: i64,
}

/// A table of the registry: its name, its key, and its columns, of which definitions of an older
/// version may lack some.
struct Book {
    name: &'static CStr,
    key: &'static [IndexForm],
    columns: &'static [(&'static str, Oid)],
}

/// The jobs.
const JOBS: Book = Book {
    name: c"neardup_all_jobs",
    key: &[IndexForm::key(&["docs"])],
    columns: &[
        ("docs", pg_sys::REGCLASSOID),
        ("pairs", pg_sys::REGCLASSOID),
        ("clusters", pg_sys::REGCLASSOID),
        ("state", pg_sys::REGCLASSOID),
        ("lists", pg_sys::REGCLASSOID),
        ("settings", pg_sys::JSONBOID),
        ("created", pg_sys::TIMESTAMPTZOID),
        ("seen", pg_sys::TEXTOID),
        ("hashes", pg_sys::REGCLASSOID),
    ],
};
/// The log.
const RUNS: Book = Book {
    name: c"neardup_all_history",
    key: &[IndexForm::key(&["docs", "started"])],
    columns: &[
        ("docs", pg_sys::REGCLASSOID),
        ("started", pg_sys::TIMESTAMPTZOID),
        ("finished", pg_sys::TIMESTAMPTZOID),
        ("status", pg_sys::TEXTOID),
        ("batches", pg_sys::INT4OID),
        ("rows", pg_sys::INT8OID),
        ("pairs_removed", pg_sys::INT8OID),
        ("pairs_added", pg_sys::INT8OID),
        ("total", pg_sys::INT8OID),
    ],
};
/// The changes that could not be noted.
const UNNOTED: Book = Book { name: c"neardup_unnoted", key: &[], columns: &[("docs", pg_sys::OIDOID)] };

impl Book {
    /// Finds the table, locks it, and checks that it is as the extension made it.
    fn open(&self, extension: &Extension) -> Result<Table> {
        let oid = extension.table(self.name)?;
        let OpenedTable::Table(table) = Table::open(oid, pg_sys::AccessShareLock, |_| true)? else {
            return Err(Extension::gone(self.name));
        };
        let is_there = |(name, _): &&(&str, Oid)| table.type_of(name).is_some();
        let columns: Vec<_> = self.columns.iter().filter(is_there).copied().collect();
        // Rows are read and written by the places of these columns.
        let is_in_order = columns.iter().enumerate().all(|(n, (name, _))| table.place_of(name) == Some(n));
        let is_otherwise = || (!is_in_order).then(|| "its columns are in another order".to_owned());
        match table
            .differs(&TableForm { indexes: self.key, ..TableForm::TABLE }, &columns)
            .or_else(is_otherwise)
        {
            None => Ok(table),
            Some(why) => {
                let message = format!("{} is not as the extension made it: {why}", table.name);
                Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
                    .hint("Drop what it has besides, as its owner; or DROP EXTENSION neardup; CREATE EXTENSION neardup;"))
            }
        }
    }
}

impl Registry {
    /// Finds and locks the tables except the log: writers do not use the log and should not wait
    /// for changes to it. Functions that were added by an update may have another owner than the
    /// tables.
    pub(super) fn open(extension: &Extension) -> Result<Self> {
        let jobs = JOBS.open(extension)?;
        let has_hashes = jobs.type_of("hashes").is_some();
        Ok(Self { jobs: jobs.oid, has_hashes, unnoted: UNNOTED.open(extension)?.oid, owner: jobs.owner })
    }

    /// Returns the OIDs of the tables.
    pub(super) fn tables(&self) -> [Oid; 2] {
        [self.jobs, self.unnoted]
    }

    /// Runs a statement as the owner of the tables, and returns the number of rows that it
    /// processed.
    fn run(&self, statement: impl FnOnce() -> Result<Statement>) -> Result<i64> {
        as_user(self.owner, || statement()?.run())
    }

    /// Reads the job of a relation in its current state, which may be newer than the transaction's
    /// snapshot.
    pub(super) fn entry(&self, docs: Oid) -> Result<Option<JobEntry>> {
        let entry = |row: [Option<Datum>; 8], hashes: Option<Datum>| {
            let [_, pairs, clusters, state, lists, settings, _, seen] = row;
            Ok(JobEntry {
                settings: read_settings(settings),
                pairs: number(pairs),
                clusters: number(clusters),
                state: number(state),
                lists: lists.map(read_oid),
                hashes: hashes.map(read_oid),
                seen: seen.map(|seen| Ok::<_, SqlError>(read_text(seen)?.into_owned())).transpose()?,
            })
        };
        // SAFETY: the table is locked and has the columns that sql/jobs.sql gives it.
        unsafe {
            if !self.has_hashes {
                return by_oid::read(self.jobs, docs, |row| entry(row, None));
            }
            by_oid::read(self.jobs, docs, |[a, b, c, d, e, f, g, h, hashes]: [Option<Datum>; 9]| {
                entry([a, b, c, d, e, f, g, h], hashes)
            })
        }
    }

    /// Reads the part of a job that a trigger needs, in its current state.
    pub(super) fn noted(&self, docs: Oid) -> Result<Option<TriggerEntry>> {
        let read = |[_, _, _, state, _, settings, _, _]: [Option<Datum>; 8]| {
            // SAFETY: a value of variable length; the copy is made in the memory context of the
            // call.
            let copy = |value: Datum| unsafe { pg_sys::pg_detoast_datum_copy(value.cast_mut_ptr()) };
            Ok(TriggerEntry { state: number(state), settings: settings.map(copy).map(Datum::from) })
        };
        // SAFETY: the table is locked and has the columns that sql/jobs.sql gives it.
        unsafe { by_oid::read(self.jobs, docs, read) }
    }

    /// Locks the row of a relation's job, and returns the job.
    pub(super) fn lock(&self, docs: Oid, wait: Wait) -> Result<LockedJob> {
        let skip = wait == Wait::Skip;
        let locked = as_user(self.owner, || statements::lock(self.jobs, docs, skip)?.number())?;
        // What is read after locking does not change any more.
        Ok(match (self.entry(docs)?, locked) {
            (Some(entry), Some(_)) => LockedJob::Job(Box::new(entry)),
            (Some(_), None) if skip => LockedJob::Busy,
            _ => LockedJob::None,
        })
    }

    /// Writes a job, which replaces the relation's earlier entry.
    pub(super) fn put(&self, docs: Oid, entry: &JobEntry) -> Result<()> {
        let JobEntry { settings, pairs, clusters, state, lists, hashes, seen } = entry;
        let settings = settings.as_ref().map_err(|error| error.clone());
        let settings = settings
            .and_then(|settings| serde_json::to_string(settings).map_err(|error| error.to_string()))
            .map_err(|error| SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, error))?;
        let (pairs, clusters, state, lists, hashes) = (*pairs, *clusters, *state, *lists, *hashes);
        let (settings, seen) = (settings.as_str(), seen.as_deref());
        let values = RegistryValues { docs, pairs, clusters, state, lists, hashes, settings, seen };
        self.run(|| statements::put(self.jobs, values)).map(|_| ())
    }

    /// Reports whether a table belongs to the job of another relation.
    pub(super) fn uses(&self, table: Oid, docs: Oid) -> Result<bool> {
        as_user(self.owner, || statements::uses(self.jobs, self.has_hashes, table, docs)?.holds())
    }

    /// Removes the job of a relation.
    pub(super) fn remove(&self, docs: Oid) -> Result<()> {
        self.run(|| statements::remove(self.jobs, docs))?;
        self.take_unnoted(docs).map(|_| ())
    }

    /// Removes the remaining entries of dropped relations, without waiting for other sessions.
    pub(super) fn clean(&self) -> Result<()> {
        self.run(|| statements::clean(self.jobs, "docs::oid"))?;
        self.run(|| statements::clean(self.unnoted, "docs")).map(|_| ())
    }

    /// Removes the entries of dropped relations from the log, which may be long.
    pub(super) fn clean_log(&self, extension: &Extension) -> Result<()> {
        let runs = RUNS.open(extension)?.oid;
        self.run(|| statements::clean(runs, "docs::oid")).map(|_| ())
    }

    /// Records that rows changed without a note by a trigger. Never waits, because it only inserts
    /// rows.
    pub(super) fn add_unnoted(&self, docs: Oid) -> Result<()> {
        without_sql_as(self.owner, || {
            // SAFETY: a table of the extension with this single column, which was checked.
            unsafe {
                pg_sys::LockRelationOid(self.unnoted, pg_sys::RowExclusiveLock as i32);
                Inserter::new(self.unnoted).insert([docs.into_datum()]);
            }
            Ok(())
        })
    }

    /// Reports whether [`Self::add_unnoted`] recorded a change.
    pub(super) fn is_unnoted(&self, docs: Oid) -> Result<bool> {
        as_user(self.owner, || statements::is_unnoted(self.unnoted, docs)?.holds())
    }

    /// Reports whether [`Self::add_unnoted`] recorded a change, and removes the record. Must be
    /// called before rows are compared: a record that is added later stays for the next time.
    pub(super) fn take_unnoted(&self, docs: Oid) -> Result<bool> {
        Ok(self.run(|| statements::take_unnoted(self.unnoted, docs))? > 0)
    }

    /// Logs a batch of a run, which continues if there is `more` to do; at the end of the run old
    /// runs are deleted.
    pub(super) fn log(
        &self,
        extension: &Extension,
        docs: Oid,
        started: Datum,
        more: bool,
        counts: BatchCounts,
    ) -> Result<()> {
        let runs = RUNS.open(extension)?.oid;
        // No other session is doing this work, so other runs marked as running were interrupted.
        self.run(|| statements::interrupt(runs, docs, started))?;
        let BatchCounts { rows, removed, added, waiting } = counts;
        self.run(|| statements::log(runs, docs, started, more, [rows, removed, added, waiting]))?;
        if !more {
            self.run(|| statements::forget_runs(runs, docs, settings::keep_history()))?;
        }
        Ok(())
    }
}
