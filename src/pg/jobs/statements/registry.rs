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

use crate::pg::jobs::settings::Settings;
use crate::pg::procedure::form::{IndexForm, TableForm};
use crate::pg::procedure::statement::{Statement, int8, oid, read_oid, read_text, text};
use crate::pg::procedure::table::{OpenedTable, Table};
use crate::pg::query::Parameter;
use crate::pg::query::as_user::{Extension, as_user, without_sql_as};
use crate::pg::query::by_oid::{self, Inserter};
use crate::pg::query::names::name_of;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::settings;

/// The tables of the registry, found by the extension that they belong to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Registry {
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
pub(crate) struct JobEntry {
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
pub(crate) struct TriggerEntry {
    /// The OID of the table of states.
    pub state: Oid,
    settings: Option<Datum>,
}

impl TriggerEntry {
    /// Returns the settings as they are stored.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: a copy of a value of the server, which lives as long as the call of a trigger.
        self.settings.map_or(&[], |settings| unsafe { varlena_bytes(settings) })
    }

    /// Returns the settings, or the reason why they cannot be read.
    pub(crate) fn settings(&self) -> std::result::Result<Settings, String> {
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
pub(crate) enum LockedJob {
    /// The relation is not watched.
    None,
    /// Another session is already working on the job.
    Busy,
    /// The job of the relation.
    Job(Box<JobEntry>),
}

/// The way to lock the row of a job until the end of the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Waits until no other session has the lock.
    Wait,
    /// Locks the row only if no other session has the lock.
    Skip,
}

/// The counts of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchCounts {
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
    pub(crate) fn open(extension: &Extension) -> Result<Self> {
        let jobs = JOBS.open(extension)?;
        let has_hashes = jobs.type_of("hashes").is_some();
        Ok(Self { jobs: jobs.oid, has_hashes, unnoted: UNNOTED.open(extension)?.oid, owner: jobs.owner })
    }

    /// Returns the OIDs of the tables.
    pub(crate) fn tables(&self) -> [Oid; 2] {
        [self.jobs, self.unnoted]
    }

    /// Works as the owner of the tables with a statement on one of them; `{}` represents the name
    /// of the table.
    fn on<T>(
        &self,
        table: Oid,
        sql: &str,
        parameters: impl Into<Vec<Parameter>>,
        work: impl FnOnce(Statement) -> Result<T>,
    ) -> Result<T> {
        as_user(self.owner, || {
            let sql = sql.replace("{}", &name_of(table)?);
            work(Statement::new(sql).with(parameters).about([table]))
        })
    }

    /// Runs such a statement, and returns the number of rows that it processed.
    fn run(&self, table: Oid, sql: &str, parameters: impl Into<Vec<Parameter>>) -> Result<i64> {
        self.on(table, sql, parameters, |statement| statement.run())
    }

    /// Reads the job of a relation in its current state, which may be newer than the transaction's
    /// snapshot.
    pub(crate) fn entry(&self, docs: Oid) -> Result<Option<JobEntry>> {
        let entry = |[_, pairs, clusters, state, lists, settings, _, seen, hashes]: [Option<Datum>; 9]| {
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
        unsafe { by_oid::read(self.jobs, docs, 8, entry) }
    }

    /// Reads the part of a job that a trigger needs, in its current state.
    pub(crate) fn noted(&self, docs: Oid) -> Result<Option<TriggerEntry>> {
        let read = |[_, _, _, state, _, settings, _, _]: [Option<Datum>; 8]| {
            // SAFETY: a value of variable length; the copy is made in the memory context of the
            // call.
            let copy = |value: Datum| unsafe { pg_sys::pg_detoast_datum_copy(value.cast_mut_ptr()) };
            Ok(TriggerEntry { state: number(state), settings: settings.map(copy).map(Datum::from) })
        };
        // SAFETY: the table is locked and has the columns that sql/jobs.sql gives it.
        unsafe { by_oid::read(self.jobs, docs, 8, read) }
    }

    /// Locks the row of a relation's job, and returns the job.
    pub(crate) fn lock(&self, docs: Oid, wait: Wait) -> Result<LockedJob> {
        let skip = wait == Wait::Skip;
        let unless_locked = if skip { " SKIP LOCKED" } else { "" };
        let sql = format!("SELECT 1::int8 FROM {{}} WHERE docs = $1::regclass FOR UPDATE{unless_locked}");
        let locked = self.on(self.jobs, &sql, [oid(docs)], |statement| statement.number())?;
        // What is read after locking does not change any more.
        Ok(match (self.entry(docs)?, locked) {
            (Some(entry), Some(_)) => LockedJob::Job(Box::new(entry)),
            (Some(_), None) if skip => LockedJob::Busy,
            _ => LockedJob::None,
        })
    }

    /// Writes a job. If the relation already has one, changes only its settings, the definition
    /// last seen and the table of hashes.
    pub(crate) fn put(&self, docs: Oid, entry: &JobEntry) -> Result<()> {
        let JobEntry { settings, pairs, clusters, state, lists, hashes, seen } = entry;
        let settings = settings.as_ref().map_err(|error| error.clone());
        let settings = settings
            .and_then(|settings| serde_json::to_string(settings).map_err(|error| error.to_string()))
            .map_err(|error| SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, error))?;
        let [pairs, clusters, state] = [*pairs, *clusters, *state].map(oid);
        let [lists, hashes] =
            [*lists, *hashes].map(|table| (pg_sys::OIDOID, table.and_then(IntoDatum::into_datum)));
        let seen = seen.as_deref().map_or(Ok((pg_sys::TEXTOID, None)), text)?;
        let sql = "INSERT INTO {} (docs, pairs, clusters, state, lists, settings, seen, hashes) \
                   VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7, $8) ON CONFLICT (docs) DO UPDATE \
                   SET settings = excluded.settings, seen = excluded.seen, hashes = excluded.hashes";
        let values = [oid(docs), pairs, clusters, state, lists, text(&settings)?, seen, hashes];
        self.run(self.jobs, sql, values).map(|_| ())
    }

    /// Reports whether a table belongs to the job of another relation.
    pub(crate) fn uses(&self, table: Oid, docs: Oid) -> Result<bool> {
        let hashes = if self.has_hashes { ", hashes" } else { "" };
        let sql = format!(
            "SELECT EXISTS (SELECT FROM {{}} WHERE $1::regclass IN (pairs, clusters, state, lists{hashes}) \
             AND docs <> $2::regclass)"
        );
        self.on(self.jobs, &sql, [oid(table), oid(docs)], |statement| statement.holds())
    }

    /// Removes the job of a relation.
    pub(crate) fn remove(&self, docs: Oid) -> Result<()> {
        self.run(self.jobs, "DELETE FROM {} WHERE docs = $1::regclass", [oid(docs)])?;
        self.take_unnoted(docs).map(|_| ())
    }

    /// Removes the remaining entries of dropped relations, without waiting for other sessions.
    pub(crate) fn clean(&self) -> Result<()> {
        self.clean_table(self.jobs, "docs::oid")?;
        self.clean_table(self.unnoted, "docs")
    }

    /// Deletes the rows of relations that no longer exist, except rows that another session has
    /// locked; `docs` is the SQL expression for the OID of the relation in a row.
    fn clean_table(&self, table: Oid, docs: &str) -> Result<()> {
        let sql = format!(
            "DELETE FROM {{}} WHERE ctid = ANY (ARRAY(SELECT b.ctid FROM {{}} b \
             WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = b.{docs}) FOR UPDATE SKIP LOCKED))"
        );
        self.run(table, &sql, []).map(|_| ())
    }

    /// Removes the entries of dropped relations from the log, which may be long.
    pub(crate) fn clean_log(&self, extension: &Extension) -> Result<()> {
        self.clean_table(RUNS.open(extension)?.oid, "docs::oid")
    }

    /// Records that rows changed without a note by a trigger. Never waits, because it only inserts
    /// rows.
    pub(crate) fn add_unnoted(&self, docs: Oid) -> Result<()> {
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
    pub(crate) fn is_unnoted(&self, docs: Oid) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT FROM {} WHERE docs = $1)";
        self.on(self.unnoted, sql, [oid(docs)], |statement| statement.holds())
    }

    /// Reports whether [`Self::add_unnoted`] recorded a change, and removes the record. Must be
    /// called before rows are compared: a record that is added later stays for the next time.
    pub(crate) fn take_unnoted(&self, docs: Oid) -> Result<bool> {
        Ok(self.run(self.unnoted, "DELETE FROM {} WHERE docs = $1", [oid(docs)])? > 0)
    }

    /// Logs a batch of a run, which continues if there is `more` to do; at the end of the run old
    /// runs are deleted.
    pub(crate) fn log(
        &self,
        extension: &Extension,
        docs: Oid,
        started: Datum,
        more: bool,
        counts: BatchCounts,
    ) -> Result<()> {
        let runs = RUNS.open(extension)?.oid;
        // No other session is doing this work, so other runs marked as running were interrupted.
        let interrupt = "UPDATE {} SET status = 'interrupted' \
                         WHERE docs = $1::regclass AND status = 'running' AND started <> $2";
        let began = (pg_sys::TIMESTAMPTZOID, Some(started));
        self.run(runs, interrupt, [oid(docs), began])?;
        let sql = "INSERT INTO {} AS r (docs, started, finished, status, batches, rows, pairs_removed, pairs_added, total) \
             VALUES ($1, $2, CASE WHEN NOT $3 THEN clock_timestamp() END, \
             CASE WHEN $3 THEN 'running' ELSE 'done' END, ($4 > 0)::int, $4, $5, $6, $4 + $7) \
             ON CONFLICT (docs, started) DO UPDATE SET finished = excluded.finished, status = excluded.status, \
             batches = r.batches + excluded.batches, rows = r.rows + excluded.rows, \
             pairs_removed = r.pairs_removed + excluded.pairs_removed, \
             pairs_added = r.pairs_added + excluded.pairs_added, total = GREATEST(r.total, r.rows + excluded.rows)";
        let BatchCounts { rows, removed, added, waiting } = counts;
        let [rows, removed, added, waiting] = [rows, removed, added, waiting].map(int8);
        let is_running = (pg_sys::BOOLOID, more.into_datum());
        self.run(runs, sql, [oid(docs), began, is_running, rows, removed, added, waiting])?;
        if !more {
            let forget = "DELETE FROM {} WHERE docs = $1::regclass AND started < \
                          (SELECT started FROM {} WHERE docs = $1::regclass ORDER BY started DESC OFFSET $2 - 1 LIMIT 1)";
            self.run(runs, forget, [oid(docs), int8(settings::keep_history())])?;
        }
        Ok(())
    }
}
