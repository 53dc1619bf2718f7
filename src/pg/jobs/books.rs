//! The books of the extension: which relations are watched, what was done, and what could not be noted.
//!
//! Only their owner writes them, in whose name all of this runs: so a statement must be about these very tables, whatever
//! the owner of a schema puts in their place.

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{IntoDatum, PgSqlErrorCode};

use super::settings::Settings;
use super::statements::{holds, int8, number, oid, read_json, read_text, row, run, text};
use crate::pg::query::Parameter;
use crate::pg::query::as_user::{Extension, as_user};
use crate::pg::query::by_number::{self, Inserter};
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};

/// The tables, found by the extension that they are of.
#[derive(Debug, Clone, Copy)]
pub struct Books {
    /// The table of jobs.
    pub jobs: Oid,
    runs: Oid,
    unnoted: Oid,
    owner: Oid,
}

/// A job as its row says. Whoever restores a dump writes such rows: the tables may be any.
#[derive(Debug)]
pub struct Entry {
    /// What it was asked for; none if that cannot be read.
    pub settings: Option<Settings>,
    /// The number of the table of pairs.
    pub pairs: Oid,
    /// The number of the table of clusters.
    pub clusters: Oid,
    /// The number of the table of what is known of rows.
    pub state: Oid,
    /// The number of the table of lists, if the method has some.
    pub lists: Option<Oid>,
    /// What the relation was like when all of its rows were compared last.
    pub seen: Option<String>,
}

/// What [`Books::find`] found.
#[derive(Debug)]
pub enum Found {
    /// The relation is not watched.
    None,
    /// Another session is at it.
    Busy,
    /// Its job.
    Job(Box<Entry>),
}

/// How the row of a job is locked until the end of the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Once nobody else has it.
    Wait,
    /// If nobody else has it.
    Skip,
}

/// What a step did.
#[derive(Debug, Clone, Copy, Default)]
pub struct Done {
    /// Whether rows are left for a further step.
    pub more: bool,
    /// Rows that were new, changed or deleted.
    pub rows: i64,
    /// Pairs that are no more.
    pub removed: i64,
    /// Pairs that came.
    pub added: i64,
}

impl Books {
    /// Finds and locks the tables.
    pub fn open(extension: &Extension) -> Result<Self> {
        let table = |name| extension.table(name);
        Ok(Self {
            jobs: table(c"neardup_all_jobs")?,
            runs: table(c"neardup_all_runs")?,
            unnoted: table(c"neardup_unnoted")?,
            owner: extension.owner,
        })
    }

    /// Runs a statement on one of the tables; `{}` stands for its name.
    fn run(&self, table: Oid, sql: &str, parameters: &[Parameter]) -> Result<u64> {
        as_user(self.owner, || run(&sql.replace("{}", &super::tables::name_of(table)?), parameters, &[table]))
    }

    /// The job of a relation as it is at this moment, whatever the transaction sees otherwise.
    pub fn look(&self, docs: Oid) -> Result<Option<Entry>> {
        let number = |value: Option<Datum>| Oid::from(value.map_or(0, |value| value.value() as u32));
        let read = |[_, pairs, clusters, state, lists, settings, _, seen]: [Option<Datum>; 8]| {
            let settings = settings.and_then(|settings| {
                // SAFETY: JSON of the server's, whose text is a C string.
                let text = unsafe {
                    c_string(pg_sys::OidOutputFunctionCall(Oid::from(pg_sys::F_JSONB_OUT), settings))
                };
                serde_json::from_str(&text).ok()
            });
            Ok(Entry {
                settings,
                pairs: number(pairs),
                clusters: number(clusters),
                state: number(state),
                lists: lists.map(|lists| number(Some(lists))),
                seen: seen.map(|seen| Ok::<_, SqlError>(read_text(seen)?.into_owned())).transpose()?,
            })
        };
        // SAFETY: the table is locked and has the columns that sql/jobs.sql gives it.
        unsafe { by_number::read(self.jobs, docs, read) }
    }

    /// The job of a relation, with its row locked.
    pub fn find(&self, docs: Oid, wait: Wait) -> Result<Found> {
        let lock = match wait {
            Wait::Wait => "FOR UPDATE",
            Wait::Skip => "FOR UPDATE SKIP LOCKED",
        };
        const TYPES: [Oid; 6] = [
            pg_sys::TEXTOID,
            pg_sys::OIDOID,
            pg_sys::OIDOID,
            pg_sys::OIDOID,
            pg_sys::OIDOID,
            pg_sys::TEXTOID,
        ];
        as_user(self.owner, || {
            let jobs = super::tables::name_of(self.jobs)?;
            let sql = format!(
                "SELECT settings::text, pairs::oid, clusters::oid, state::oid, lists::oid, seen FROM {jobs} \
                 WHERE docs = $1::regclass {lock}"
            );
            let Some([settings, pairs, clusters, state, lists, seen]) =
                row(&sql, &[oid(docs)], &[self.jobs], TYPES)?
            else {
                let there = format!("SELECT 1::int8 FROM {jobs} WHERE docs = $1::regclass");
                let busy = wait == Wait::Skip && number(&there, &[oid(docs)], &[self.jobs])?.is_some();
                return Ok(if busy { Found::Busy } else { Found::None });
            };
            let relation = |value: Option<Datum>| {
                value.map_or(pg_sys::InvalidOid, |value| Oid::from(value.value() as u32))
            };
            let settings = settings.map(read_json).transpose()?.flatten();
            Ok(Found::Job(Box::new(Entry {
                settings: settings.and_then(|settings| serde_json::from_value(settings).ok()),
                pairs: relation(pairs),
                clusters: relation(clusters),
                state: relation(state),
                lists: lists.map(|lists| relation(Some(lists))),
                seen: seen.map(|seen| Ok::<_, SqlError>(read_text(seen)?.into_owned())).transpose()?,
            })))
        })
    }

    /// Writes a job down, instead of what was there of the relation.
    pub fn put(&self, docs: Oid, entry: &Entry) -> Result<()> {
        let settings = serde_json::to_string(&entry.settings)
            .map_err(|error| SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, error.to_string()))?;
        let lists = (pg_sys::OIDOID, entry.lists.and_then(IntoDatum::into_datum));
        let seen = match &entry.seen {
            Some(seen) => text(seen)?,
            None => (pg_sys::TEXTOID, None),
        };
        let parameters = [
            oid(docs),
            oid(entry.pairs),
            oid(entry.clusters),
            oid(entry.state),
            lists,
            text(&settings)?,
            seen,
        ];
        let sql = "INSERT INTO {} (docs, pairs, clusters, state, lists, settings, seen) \
                   VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7) ON CONFLICT (docs) DO UPDATE \
                   SET settings = excluded.settings, seen = excluded.seen";
        self.run(self.jobs, sql, &parameters).map(|_| ())
    }

    /// Whether a table is one of the job of another relation.
    pub fn uses(&self, table: Oid, docs: Oid) -> Result<bool> {
        as_user(self.owner, || {
            let jobs = super::tables::name_of(self.jobs)?;
            let sql = format!(
                "SELECT EXISTS (SELECT FROM {jobs} WHERE $1::regclass IN (pairs, clusters, state, lists) \
                 AND docs <> $2::regclass)"
            );
            holds(&sql, &[oid(table), oid(docs)], &[self.jobs])
        })
    }

    /// Takes the job of a relation out.
    pub fn remove(&self, docs: Oid) -> Result<()> {
        self.run(self.jobs, "DELETE FROM {} WHERE docs = $1::regclass", &[oid(docs)])?;
        self.take_unnoted(docs).map(|_| ())
    }

    /// Takes out what is left of jobs of relations that were dropped, without waiting for anybody.
    pub fn clean(&self) -> Result<()> {
        self.clean_tables(&[(self.jobs, "docs::oid"), (self.unnoted, "docs")])
    }

    /// The like, of the log, which may be long.
    pub fn clean_log(&self) -> Result<()> {
        self.clean_tables(&[(self.runs, "docs::oid")])
    }

    fn clean_tables(&self, tables: &[(Oid, &str)]) -> Result<()> {
        for &(table, docs) in tables {
            let sql = format!(
                "DELETE FROM {{}} WHERE ctid = ANY (ARRAY(SELECT b.ctid FROM {{}} b \
                 WHERE NOT EXISTS (SELECT FROM pg_class c WHERE c.oid = b.{docs}) FOR UPDATE SKIP LOCKED))"
            );
            self.run(table, &sql, &[])?;
        }
        Ok(())
    }

    /// Says that rows changed that nobody noted. Never waits: rows are only added.
    pub fn add_unnoted(&self, docs: Oid) {
        // SAFETY: a table of the extension's with this one column.
        unsafe {
            pg_sys::LockRelationOid(self.unnoted, pg_sys::RowExclusiveLock as i32);
            Inserter::new(self.unnoted).insert([docs.into_datum()]);
        }
    }

    /// Whether there was such a thing, which is forgotten. To be called before rows are compared: what is added later
    /// stays for the next time.
    pub fn take_unnoted(&self, docs: Oid) -> Result<bool> {
        Ok(self.run(self.unnoted, "DELETE FROM {} WHERE docs = $1", &[oid(docs)])? > 0)
    }

    /// Logs a step of a run.
    pub fn log(&self, docs: Oid, started: Datum, done: &Done) -> Result<()> {
        let started = (pg_sys::TIMESTAMPTZOID, Some(started));
        // Nobody else is at it: what runs no more was interrupted.
        let interrupted = "UPDATE {} SET status = 'interrupted' \
                           WHERE docs = $1::regclass AND status = 'running' AND started <> $2";
        self.run(self.runs, interrupted, &[oid(docs), started])?;
        let more = (pg_sys::BOOLOID, done.more.into_datum());
        let sql = "INSERT INTO {} AS r (docs, started, finished, status, batches, rows, pairs_removed, pairs_added) \
                   VALUES ($1, $2, CASE WHEN NOT $3 THEN clock_timestamp() END, \
                   CASE WHEN $3 THEN 'running' ELSE 'done' END, ($4 > 0)::int, $4, $5, $6) \
                   ON CONFLICT (docs, started) DO UPDATE SET finished = excluded.finished, status = excluded.status, \
                   batches = r.batches + excluded.batches, rows = r.rows + excluded.rows, \
                   pairs_removed = r.pairs_removed + excluded.pairs_removed, \
                   pairs_added = r.pairs_added + excluded.pairs_added";
        let counts = [int8(done.rows), int8(done.removed), int8(done.added)];
        let [rows, removed, added] = counts;
        self.run(self.runs, sql, &[oid(docs), started, more, rows, removed, added]).map(|_| ())
    }
}
