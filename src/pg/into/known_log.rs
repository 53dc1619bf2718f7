//! The logs of calls of all roles, read by whoever lists calls or cleans up.
//!
//! The owner of a log can write anything into it, plant what runs as its reader, and change it
//! meanwhile. So a log is opened by [`Table`], without waiting for its owner, and its rows are read
//! without a query. What it says is shown; nothing is done because of it, except that a role's own
//! log names that role's servers. Whose a call is, and whether it is running, follows from the
//! catalogue and from a lock.

use pgrx::pg_sys::{self, Datum, Oid};
use serde::Deserialize;

use super::log::{LogTable, RESULT, is_token};
use super::place::TablePlace;
use super::statements::runs as statements;
use crate::pg::procedure::session_lock::SessionLock;
use crate::pg::procedure::statement::read_text;
use crate::pg::procedure::table::{OpenedTable, Patience, Table};
use crate::pg::query::as_user::acts_for;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::Result;

/// The status of tables that no log knows.
pub(super) const LEFT: &str = "left over";

/// A call, as its log describes it.
#[derive(Debug)]
pub(super) struct KnownLog {
    /// The OID of the log.
    pub oid: Oid,
    /// The owner of the log, whose working tables are those of the call.
    pub owner: Oid,
    /// The common part of the names of the working tables.
    pub token: String,
    /// The table that the call makes, for display.
    pub pairs: Option<String>,
    /// What the call is doing.
    pub status: &'static str,
    /// The last step that is done, its name and the number of its rows.
    pub step: i32,
    pub name: Option<String>,
    pub rows: Option<i64>,
    /// When the call began, and when the last step was done, in microseconds since 2000.
    pub started: Option<i64>,
    pub noted: Option<i64>,
    /// The lock that the call holds while it runs.
    pub lock: SessionLock,
    /// The servers that the call works on.
    pub servers: Vec<String>,
}

/// What is read of the first row.
#[derive(Debug, Deserialize)]
struct AboutKnown {
    token: String,
    pairs: Option<String>,
    #[serde(default)]
    servers: Vec<NamedLog>,
    #[serde(default)]
    update: Option<String>,
}

/// What is read of the last row.
struct LastRow {
    step: i32,
    name: Option<String>,
    rows: Option<i64>,
    noted: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct NamedLog {
    name: String,
}

/// Reads all logs of roles of which the caller is a member. Runs as the caller.
pub(super) fn all() -> Result<Vec<KnownLog>> {
    let mut found = Vec::new();
    for oid in statements::logs().json::<Vec<u32>>()? {
        let lock = pg_sys::AccessShareLock;
        match Table::open_with(Patience::Skip, Oid::from(oid), lock, acts_for)? {
            OpenedTable::Table(table) => found.extend(read(&table)?),
            OpenedTable::Busy => {
                let name = TablePlace::find(Oid::from(oid))?.map(|place| place.qualified()).transpose()?;
                pgrx::notice!(
                    "neardup_into_calls: {} is locked by another session, so it is not looked into",
                    name.unwrap_or_default()
                );
            }
            OpenedTable::Gone | OpenedTable::Others(_) => {}
        }
    }
    Ok(found)
}

/// Reads a table, if it is a log.
fn read(table: &Table) -> Result<Option<KnownLog>> {
    if table.differs(&LogTable::FORM, &LogTable::COLUMNS).is_some() || !table.is_readable() {
        return Ok(None);
    }
    let Some(place) = TablePlace::find(table.oid)? else { return Ok(None) };
    let mut first: Option<(AboutKnown, Option<i64>)> = None;
    let mut last: Option<LastRow> = None;
    let columns = ["step", "name", "rows", "started", "finished", "about"];
    table.each_row(columns, |[step, name, rows, started, finished, about]| {
        let Some(step) = step.map(|step| step.value() as i32) else { return Ok(()) };
        if step == 0 && first.is_none() {
            let about = about.and_then(json);
            first = about.map(|about| (about, started.map(|time| time.value() as i64)));
        }
        if last.as_ref().is_none_or(|known| known.step <= step) {
            let name = name.filter(|&name| is_short(name)).map(read_text).transpose()?;
            let [rows, noted] = [rows, finished].map(|number| number.map(|number| number.value() as i64));
            last = Some(LastRow { step, name: name.map(|name| name.into_owned()), rows, noted });
        }
        Ok(())
    })?;
    let (Some((about, started)), Some(LastRow { step, name, rows, noted })) = (first, last) else {
        return Ok(None);
    };
    if !is_token(&about.token) {
        return Ok(None);
    }
    let lock = place.lock();
    let AboutKnown { token, pairs, servers, update } = about;
    let is_there = || pairs.as_deref().map_or(Ok(false), |pairs| statements::is_there(pairs)?.holds());
    let status = if statements::is_held(lock).holds()? {
        "running"
    } else if name.as_deref() != Some(RESULT) {
        "waiting"
    } else if update.is_none() {
        "done"
    } else if is_there()? {
        "kept"
    } else {
        LEFT
    };
    let servers = servers.into_iter().map(|server| server.name).collect();
    let (oid, owner) = (table.oid, table.owner);
    Ok(Some(KnownLog { oid, owner, token, pairs, status, step, name, rows, started, noted, lock, servers }))
}

/// Reports whether a value is not longer than what a call writes.
fn is_short(value: Datum) -> bool {
    const MOST: usize = 1 << 20;
    // SAFETY: a value of variable length, which may be stored elsewhere: its size is written in its
    // place.
    unsafe { pg_sys::toast_raw_datum_size(value) <= MOST }
}

/// Reads JSON of the server, if it is as it should be.
fn json(value: Datum) -> Option<AboutKnown> {
    // SAFETY: a jsonb of the server, whose text is a C string.
    let text = is_short(value)
        .then(|| unsafe { c_string(pg_sys::OidOutputFunctionCall(pg_sys::F_JSONB_OUT.into(), value)) })?;
    serde_json::from_str(&text).ok()
}
