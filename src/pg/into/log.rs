//! The log of a call: a table beside the result, in which a further call sees what was done.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};
use serde::{Deserialize, Serialize};

use super::documents::Bands;
use super::layout::CitusLayout;
use super::own;
use super::place::Place;
use super::servers::Server;
use super::statements::log as statements;
use crate::into::state::{Progress, Sizes};
use crate::into::step::Stage;
use crate::pg::procedure::statement::read_text;
use crate::pg::procedure::table::{Opened, Table};
use crate::pg::server::error::{Result, SqlError};

/// What a call asked for. One that asks for the same goes on with what was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Arguments {
    /// The number of the relation.
    pub docs: u32,
    /// The query for its sets.
    pub documents: String,
    /// The measure.
    pub measure: String,
    /// The threshold, to its last bit.
    pub threshold: String,
    /// The bands of minhash, if it is by these.
    #[serde(default)]
    pub bands: Option<Bands>,
    /// How many parts there are.
    pub parts: i64,
    /// The type of the ids.
    pub ids: String,
    /// The name of the result.
    pub pairs: String,
    /// Where the documents are.
    pub servers: Vec<Server>,
    /// How Citus spreads the working tables, if it does.
    #[serde(default)]
    pub citus: Option<CitusLayout>,
}

/// What stands in the first row.
#[derive(Debug, Serialize, Deserialize)]
struct About {
    token: String,
    #[serde(flatten)]
    arguments: Arguments,
}

/// What stands beside a stage.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct StageDetails {
    bytes: i64,
    largest: i64,
    rounds: i64,
    moved: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    unsettled: Option<i64>,
}

impl StageDetails {
    /// How large sets are, in how many rounds candidates are compared, how many bytes of rows went from shard to shard, and how many
    /// numbers stars have not settled.
    pub(super) fn new(sizes: Option<Sizes>, rounds: i64, moved: i64, unsettled: Option<i64>) -> Self {
        let Sizes { bytes, largest } = sizes.unwrap_or_default();
        Self { bytes, largest, rounds, moved, unsettled }
    }
}

#[derive(Debug, Deserialize)]
struct Row {
    step: i64,
    name: Option<String>,
    rows: Option<i64>,
    about: Option<serde_json::Value>,
    started: Option<String>,
    fresh: Option<bool>,
}

/// A log that is there, locked until the end of the transaction.
#[derive(Debug)]
pub(super) struct LogTable {
    name: String,
    oid: Oid,
    /// What the names of working tables have in common, and what was asked for; none where its first row cannot be read.
    pub call: Option<(String, Arguments)>,
    /// What was done.
    pub progress: Progress,
    /// Whether the result was made.
    pub is_finished: bool,
    /// How many bytes of rows went from shard to shard.
    pub moved: i64,
    /// When documents were read, and whether that is not long ago.
    pub read: Option<(String, bool)>,
}

/// The name of the last row.
const RESULT: &str = "result";

impl LogTable {
    const COLUMNS: [(&str, Oid); 6] = [
        ("step", pg_sys::INT4OID),
        ("name", pg_sys::TEXTOID),
        ("rows", pg_sys::INT8OID),
        ("started", pg_sys::TIMESTAMPTZOID),
        ("finished", pg_sys::TIMESTAMPTZOID),
        ("about", pg_sys::JSONBOID),
    ];

    /// The log of a place, if there is one. What is not a log that this role made is an error, and stays as it is.
    pub(super) fn open(place: &Place, caller: Oid) -> Result<Option<Self>> {
        let Some(oid) = place.relation()? else { return Ok(None) };
        let table = match Table::open(oid, pg_sys::RowExclusiveLock, |owner| owner == caller)? {
            Opened::Gone => return Ok(None),
            Opened::Table(table) if table.has(&Self::COLUMNS) && table.has_plain_indexes() => table,
            _ => {
                let message = format!(
                    "relation {} already exists, and is no log of a call of this role",
                    place.qualified()?
                );
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_DUPLICATE_TABLE, message)
                    .hint("Name another table for the pairs."));
            }
        };
        own::check_triggers(&table)?;
        let mut log = Self {
            name: table.name,
            oid,
            call: None,
            progress: Progress::default(),
            is_finished: false,
            moved: 0,
            read: None,
        };
        log.read_rows()?;
        Ok(Some(log))
    }

    fn read_rows(&mut self) -> Result<()> {
        let [json] = statements::read(&self.name, self.oid).row([pg_sys::TEXTOID])?.unwrap_or_default();
        let json = json.map(read_text).transpose()?;
        // Anyone who owns a table can write anything into it; what cannot be read is no progress.
        let rows: Vec<Row> = json.and_then(|json| serde_json::from_str(&json).ok()).unwrap_or_default();
        let mut rows = rows.into_iter();
        let about = rows.next().filter(|row| row.step == 0).and_then(|row| row.about);
        let about = about.and_then(|about| serde_json::from_value::<About>(about).ok());
        let is_token = |token: &str| token.len() == 12 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
        let Some(About { token, arguments }) = about.filter(|about| is_token(&about.token)) else {
            return Ok(());
        };
        self.call = Some((token, arguments));
        for (row, step) in rows.zip(1..) {
            if row.step != step {
                break;
            }
            let noted = row.about.and_then(|about| serde_json::from_value::<StageDetails>(about).ok());
            let StageDetails { bytes, largest, rounds, moved, unsettled } = noted.unwrap_or_default();
            if step == 1 {
                self.progress.sizes = Sizes { bytes, largest };
                self.read = row.started.zip(row.fresh);
            }
            self.moved = self.moved.saturating_add(moved);
            self.progress.unsettled.extend(unsettled);
            self.progress.rounds = self.progress.rounds.max(rounds);
            self.progress.rows.push(row.rows.unwrap_or_default());
            self.is_finished |= row.name.as_deref() == Some(RESULT);
        }
        Ok(())
    }

    /// Makes the log of a call; `token` is what the names of its working tables have in common.
    pub(super) fn create(place: &Place, caller: Oid, token: &str, arguments: Arguments) -> Result<()> {
        let name = place.qualified()?;
        statements::create(&name).run()?;
        let gone = || SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, format!("{name} is gone"));
        let Self { name, oid, .. } = Self::open(place, caller)?.ok_or_else(gone)?;
        let about = About { token: token.to_owned(), arguments };
        let about = json(&about)?;
        statements::write((&name, oid), 0, "arguments", 0, Some(&about))?.run().map(|_| ())
    }

    /// Drops it.
    pub(super) fn drop(&self) -> Result<()> {
        statements::drop(&self.name).run().map(|_| ())
    }

    /// Takes out what was done from a stage on.
    pub(super) fn forget(&self, keep: usize) -> Result<()> {
        statements::forget(&self.name, self.oid, keep as i64).run().map(|_| ())
    }

    /// Writes what was done; gives the number of the step, and its name.
    pub(super) fn write(&self, stage: Stage, rows: i64, noted: StageDetails) -> Result<(usize, String)> {
        let step = self.progress.rows.len() + 1;
        let name = match stage {
            Stage::Table(table) => table.name().to_owned(),
            Stage::Round(round) if self.progress.rounds > 1 => {
                format!("pairs, round {} of {}", round + 1, self.progress.rounds)
            }
            Stage::Round(_) => "pairs".to_owned(),
            Stage::Stars(round) => format!("stars, round {}", round + 1),
            Stage::Result => RESULT.to_owned(),
        };
        let noted = (noted != StageDetails::default()).then(|| json(&noted)).transpose()?;
        statements::write((&self.name, self.oid), step as i64, &name, rows, noted.as_deref())?.run()?;
        Ok((step, name))
    }
}

fn json(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value)
        .map_err(|error| SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, error.to_string()))
}
