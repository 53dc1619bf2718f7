//! The log of a call: a table next to the result, which shows a later call what has been done.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};
use serde::{Deserialize, Serialize};

use super::citus::CitusLayout;
use super::join::{Carried, CountedTokens};
use crate::into::state::{DoneStages, SetSizes};
use crate::into::step::LoggedStage;
use crate::pg::into::nodes::Nodes;
use crate::pg::into::place::TablePlace;
use crate::pg::into::statements::servers::Server;
use crate::pg::procedure::definition::{TableDefinition, Type, Types, drop_tables};
use crate::pg::procedure::form::{IndexForm, TableForm};
use crate::pg::procedure::statement::{int8, on, text};
use crate::pg::procedure::table::{OpenedTable, Table};
use crate::pg::query::Parameter;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::values;

/// The parameters of a call. A call with the same parameters continues the earlier work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct LoggedArguments {
    /// The OID of the relation.
    pub docs: u32,
    /// The query for the ids and the sets of the documents.
    pub documents: String,
    /// The method.
    pub carried: Carried,
    /// The number of parts.
    pub parts: i64,
    /// The type of the ids.
    pub ids: String,
    /// The name of the result.
    pub pairs: String,
    /// The servers that hold the documents.
    pub servers: Vec<Server>,
    /// The distribution of the working tables, if they are in Citus.
    #[serde(default)]
    pub citus: Option<CitusLayout>,
    /// The version of the library, if working tables are kept for updates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<String>,
}

impl LoggedArguments {
    /// Returns the nodes that hold the documents.
    pub(crate) fn nodes(&self) -> Nodes<'_> {
        Nodes::new(&self.servers, self.citus.as_ref(), self.parts, self.update.is_some())
    }

    /// Reports whether, in Citus, the sets are moved to where the members are: new sets are told
    /// from stored ones there, and what is counted of all documents needs the sets of all of them.
    pub(crate) fn members_have_sets(&self) -> bool {
        self.citus.is_some() && (self.update.is_some() || self.carried.counted == CountedTokens::All)
    }
}

/// The content of the first row of the log.
#[derive(Debug, Serialize, Deserialize)]
struct About {
    token: String,
    /// Where the ranges of ids begin in which the documents are read, without the first one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ranges: Vec<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<Kept>,
    #[serde(flatten)]
    arguments: LoggedArguments,
}

/// What was kept of earlier calls that made a result or brought it up to date.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Kept {
    /// The number of these calls.
    pub calls: i64,
    /// The number of documents that they read.
    pub read: i64,
    /// The number of bytes of the largest set.
    pub largest: i64,
}

/// The details of a stage.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StageDetails {
    /// The number of bytes of all sets, and of the largest one.
    pub bytes: i64,
    pub largest: i64,
    /// The number of rounds in which candidates are compared.
    pub rounds: i64,
    /// The number of bytes in rows that moved between shards.
    pub moved: i64,
    /// The number of vertices that stars have not settled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unsettled: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct LogRow {
    step: i64,
    name: Option<String>,
    rows: Option<i64>,
    about: Option<serde_json::Value>,
    started: Option<String>,
    fresh: Option<bool>,
}

/// An existing log, locked until the end of the transaction.
#[derive(Debug)]
pub(crate) struct LogTable {
    table: Table,
    /// The common part of the names of working tables, and the parameters of the call, or None if
    /// the first row cannot be read.
    pub call: Option<(String, LoggedArguments)>,
    /// Where the ranges of ids begin in which the documents are read, without the first one.
    pub ranges: Vec<i64>,
    /// What was kept of earlier calls, if the result is brought up to date.
    pub kept: Kept,
    /// The work that has been done.
    pub progress: DoneStages,
    /// Set if the result was made.
    pub is_finished: bool,
    /// The number of bytes in rows that moved between shards.
    pub moved: i64,
    /// The time when the documents were read, and whether that time is recent.
    pub read: Option<(String, bool)>,
}

/// The types of a table without ids.
const NO_IDS: Types<'static> = Types { id: ("", pg_sys::InvalidOid), passages: false };

/// The name of the last row of a finished log.
pub(crate) const RESULT: &str = "result";

impl LogTable {
    /// How the table is made.
    const DEFINITION: TableDefinition = TableDefinition {
        columns: &[
            ("step", Type::Int4),
            ("name", Type::Text),
            ("rows", Type::Int8),
            ("started", Type::Timestamptz),
            ("finished", Type::Timestamptz),
            ("about", Type::Jsonb),
        ],
        nullable: &["name", "rows", "started", "finished", "about"],
        form: TableForm { indexes: &[IndexForm::key(&["step"])], ..TableForm::TABLE },
    };

    /// Reports whether a table is as a log was made.
    pub(crate) fn is_log(table: &Table) -> bool {
        table.differs_from(&Self::DEFINITION, &NO_IDS).is_none()
    }

    /// Opens the log of a place, if there is one. Fails, and leaves the table as it is, if the
    /// table is not a log that this role made.
    pub(crate) fn open(place: &TablePlace, caller: Oid) -> Result<Option<Self>> {
        let Some(oid) = place.relation()? else { return Ok(None) };
        let table = match Table::open(oid, pg_sys::RowExclusiveLock, |owner| owner == caller)? {
            OpenedTable::Gone => return Ok(None),
            OpenedTable::Table(table) if Self::is_log(&table) => table,
            _ => {
                let message = format!(
                    "relation {} already exists, and is no log of a call of this role",
                    place.qualified()?
                );
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_DUPLICATE_TABLE, message)
                    .hint("Name another table for the pairs."));
            }
        };
        let mut log = Self {
            table,
            call: None,
            ranges: Vec::new(),
            kept: Kept::default(),
            progress: DoneStages::default(),
            is_finished: false,
            moved: 0,
            read: None,
        };
        log.read_rows()?;
        Ok(Some(log))
    }

    fn read_rows(&mut self) -> Result<()> {
        // The first row has the arguments. `fresh` says that a step began less than a day ago.
        let log = &self.table;
        let sql = format!(
            "SELECT COALESCE(jsonb_agg(jsonb_build_object('step', l.step, 'name', l.name, 'rows', l.rows, 'about', l.about, \
                 'started', l.started::text, 'fresh', l.started > clock_timestamp() - '1 day'::interval) ORDER BY l.step), '[]')::text \
             FROM {log} l"
        );
        let json = on([log], sql).text()?;
        // The owner of a table can write anything into it; unreadable rows count as no progress.
        let rows: Vec<LogRow> = json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
        let mut rows = rows.into_iter();
        let first = rows.next().filter(|row| row.step == 0);
        let began = first.as_ref().and_then(|row| row.started.clone().zip(row.fresh));
        let about = first.and_then(|row| row.about);
        let about = about.and_then(|about| serde_json::from_value::<About>(about).ok());
        let Some(About { token, ranges, kept, arguments, .. }) = about.filter(|about| is_token(&about.token))
        else {
            return Ok(());
        };
        // Parts of the documents may be read before the first step is done.
        self.read = began.filter(|_| arguments.nodes().are_shared());
        self.kept = kept.unwrap_or_default();
        self.progress.update = arguments.update.is_some();
        self.progress.sizes.largest = self.kept.largest;
        (self.call, self.ranges) = (Some((token, arguments)), ranges);
        for (row, step) in rows.zip(1..) {
            if row.step != step {
                break;
            }
            let noted = row.about.and_then(|about| serde_json::from_value::<StageDetails>(about).ok());
            let StageDetails { bytes, largest, rounds, moved, unsettled } = noted.unwrap_or_default();
            if bytes > 0 {
                self.progress.sizes = SetSizes { bytes, largest: largest.max(self.kept.largest) };
            }
            if step == 1 {
                self.read = self.read.take().or(row.started.zip(row.fresh));
            }
            self.moved = self.moved.saturating_add(moved);
            self.progress.unsettled.extend(unsettled);
            self.progress.rounds = self.progress.rounds.max(rounds);
            self.progress.rows.push(row.rows.unwrap_or_default());
            self.is_finished |= row.name.as_deref() == Some(RESULT);
        }
        Ok(())
    }

    /// Makes the log of a call; `token` is the common part of the names of its working tables.
    pub(crate) fn create(
        place: &TablePlace,
        caller: Oid,
        token: &str,
        ranges: Vec<i64>,
        arguments: LoggedArguments,
    ) -> Result<()> {
        let name = place.qualified()?;
        Self::DEFINITION.make(&name, &NO_IDS)?;
        let gone = || SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, format!("{name} is gone"));
        let log = Self::open(place, caller)?.ok_or_else(gone)?;
        let kept = arguments.update.is_some().then(Kept::default);
        let about = About { token: token.to_owned(), ranges, kept, arguments };
        let about = json(&about)?;
        log.write_row(0, "arguments", 0, Some(&about))
    }

    /// Begins to bring the result up to date: notes what was kept, and deletes the rows of all
    /// stages.
    pub(crate) fn begin_update(&self) -> Result<()> {
        let DoneStages { sizes, .. } = self.progress;
        let read =
            self.kept.read.saturating_add(self.progress.expected(crate::into::step::WorkingTable::Sets));
        let kept = json(&Kept { calls: self.kept.calls + 1, read, largest: sizes.largest })?;
        let log = &self.table;
        let sql = format!(
            "UPDATE {log} l SET about = jsonb_set(l.about, '{{kept}}'::text[], $1::jsonb), started = now(), finished = clock_timestamp() WHERE l.step = 0"
        );
        on([log], sql).with([text(&kept)?]).run()?;
        self.forget(0)
    }

    /// Drops the log.
    pub(crate) fn drop(&self) -> Result<()> {
        drop_tables([&*self.table.name])
    }

    /// Deletes the rows of all stages after the first `keep`.
    pub(crate) fn forget(&self, keep: usize) -> Result<()> {
        let log = &self.table;
        on([log], format!("DELETE FROM {log} l WHERE l.step > $1"))
            .with([int8(keep as i64)])
            .run()
            .map(|_| ())
    }

    /// Writes a row for finished work; returns the number of the step, and its name.
    pub(crate) fn write(
        &self,
        stage: LoggedStage,
        rows: i64,
        noted: StageDetails,
    ) -> Result<(usize, String)> {
        let step = self.progress.rows.len() + 1;
        let name = match stage {
            LoggedStage::Table(table) => table.name(),
            LoggedStage::Round(round) if self.progress.rounds > 1 => {
                format!("pairs, round {} of {}", round + 1, self.progress.rounds)
            }
            LoggedStage::Round(_) => "pairs".to_owned(),
            LoggedStage::Stars(round) => format!("stars, round {}", round + 1),
            LoggedStage::Result => RESULT.to_owned(),
        };
        let noted = (noted != StageDetails::default()).then(|| json(&noted)).transpose()?;
        self.write_row(step as i64, &name, rows, noted.as_deref())?;
        Ok((step, name))
    }

    /// Writes a row for work that began with the transaction.
    fn write_row(&self, step: i64, name: &str, rows: i64, about: Option<&str>) -> Result<()> {
        let log = &self.table;
        let about: Parameter = (pg_sys::TEXTOID, about.map(values::text).transpose()?);
        let sql = format!("INSERT INTO {log} SELECT $1::int4, $2, $3, now(), clock_timestamp(), $4::jsonb");
        on([log], sql).with([int8(step), text(name)?, int8(rows), about]).run().map(|_| ())
    }
}

/// Reports whether a text can be the common part of the names of the working tables of a call.
pub(crate) fn is_token(text: &str) -> bool {
    text.len() == 12 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, error.to_string()))
}
