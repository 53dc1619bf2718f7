//! The logs of calls of all roles, read by whoever lists calls or cleans up.
//!
//! The owner of a log can write anything into it, plant what runs as its reader, and change it
//! meanwhile. So a log is opened by [`Table`], without waiting for its owner, and its rows are read
//! without a query. What it says is shown; nothing is done because of it, except that a role's own
//! log names that role's servers. Whose a call is, and whether it is running, follows from the
//! catalogue and from a lock.

use pgrx::pg_sys::{self, Datum, Oid};
use serde::Deserialize;

use crate::pg::into::place::TablePlace;
use crate::pg::into::statements::log::{LogTable, RESULT, is_token};
use crate::pg::procedure::session_lock::SessionLock;
use crate::pg::procedure::statement::{Statement, oid, read_text, text};
use crate::pg::procedure::table::{OpenedTable, Patience, Table};
use crate::pg::query::as_user::acts_for;
use crate::pg::query::catalog::role_name;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::Result;
use crate::pg::server::notices::notice;

/// The status of tables that no log knows.
pub(crate) const LEFT: &str = "left over";

/// A call, on one node, as `neardup_into_calls` shows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallOnNode {
    /// The node, unless it is this server.
    pub node: Option<String>,
    /// The common part of the names of the working tables.
    pub run: String,
    /// The table that the call makes.
    pub pairs: Option<String>,
    /// The owner.
    pub owner: Option<String>,
    /// What the call is doing.
    pub status: &'static str,
    /// The last step that is done, its name and the number of its rows.
    pub step: Option<i32>,
    pub name: Option<String>,
    pub rows: Option<i64>,
    /// The number of parts of the next step that are done.
    pub parts: Option<i64>,
    /// When the call began, and when the last step was done, in microseconds since 2000.
    pub started: Option<i64>,
    pub noted: Option<i64>,
    /// The number of working tables, and their bytes.
    pub tables: i64,
    pub bytes: i64,
}

/// A call, as its log describes it.
#[derive(Debug)]
pub(crate) struct KnownLog {
    /// The OID of the log.
    pub oid: Oid,
    /// The owner of the log, whose working tables are those of the call.
    pub owner: Oid,
    /// The lock that the call holds while it runs.
    pub lock: SessionLock,
    /// The servers that the call works on.
    pub servers: Vec<String>,
    /// What is shown.
    pub call: CallOnNode,
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

#[derive(Debug, Deserialize)]
struct NamedLog {
    name: String,
}

/// Reads all logs of roles of which the caller is a member. Runs as the caller.
pub(crate) fn all() -> Result<Vec<KnownLog>> {
    let mut found = Vec::new();
    // The tables that may be logs of such roles.
    let logs = Statement::new(
        "SELECT COALESCE(jsonb_agg(c.oid::int8 ORDER BY c.oid), '[]')::text FROM pg_class c \
         WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND c.relname::text ~ '_log$' AND pg_has_role(c.relowner, 'USAGE')",
    );
    for oid in logs.json::<Vec<u32>>()? {
        let lock = pg_sys::AccessShareLock;
        match Table::open_with(Patience::Skip, Oid::from(oid), lock, acts_for)? {
            OpenedTable::Table(table) => found.extend(read(&table)?),
            OpenedTable::Busy => {
                let name = TablePlace::find(Oid::from(oid))?.map(|place| place.qualified()).transpose()?;
                notice(format!(
                    "neardup_into_calls: {} is locked by another session, so it is not looked into",
                    name.unwrap_or_default()
                ));
            }
            OpenedTable::Gone | OpenedTable::Others(_) => {}
        }
    }
    Ok(found)
}

/// Reads a table, if it is a log.
fn read(table: &Table) -> Result<Option<KnownLog>> {
    if !LogTable::is_log(table) || !table.is_readable() {
        return Ok(None);
    }
    let Some(place) = TablePlace::find(table.oid)? else { return Ok(None) };
    let mut first = None;
    let mut call = CallOnNode { owner: role_name(table.owner), ..CallOnNode::default() };
    let columns = ["step", "name", "rows", "started", "finished", "about"];
    table.each_row(columns, |[step, name, rows, started, finished, about]| {
        let Some(step) = step.map(|step| step.value() as i32) else { return Ok(()) };
        let [rows, started, noted] =
            [rows, started, finished].map(|number| number.map(|number| number.value() as i64));
        if step == 0 && first.is_none() {
            first = about.and_then(json);
            call.started = started;
        }
        if call.step.is_none_or(|known| known <= step) {
            let name = name.filter(|&name| is_short(name)).map(read_text).transpose()?;
            (call.step, call.rows, call.noted) = (Some(step), rows, noted);
            call.name = name.map(|name| name.into_owned());
        }
        Ok(())
    })?;
    let Some(AboutKnown { token, pairs, servers, update }) = first.filter(|about| is_token(&about.token))
    else {
        return Ok(None);
    };
    let lock = place.lock();
    let is_there = || pairs.as_deref().map_or(Ok(false), is_there);
    // Whether a session holds the lock of the call.
    let is_held = Statement::new(
        "SELECT EXISTS (SELECT FROM pg_locks k WHERE k.locktype = 'object' AND k.granted AND k.classid = $1 AND k.objid = $2 AND k.objsubid = 0 \
         AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))",
    );
    call.status = if is_held.with([oid(lock.class), oid(lock.object)]).holds()? {
        "running"
    } else if call.name.as_deref() != Some(RESULT) {
        "waiting"
    } else if update.is_none() {
        "done"
    } else if is_there()? {
        "kept"
    } else {
        LEFT
    };
    (call.run, call.pairs) = (token, pairs);
    let servers = servers.into_iter().map(|server| server.name).collect();
    Ok(Some(KnownLog { oid: table.oid, owner: table.owner, lock, servers, call }))
}

/// Reports whether a relation has this name with its schema, both quoted for SQL text.
fn is_there(name: &str) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE format('%I.%I', n.nspname, c.relname) = $1)";
    Statement::new(sql).with([text(name)?]).holds()
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
