//! `neardup_into_runs()`: the calls of `near_duplicates_into` that have a log or working tables;
//! and `neardup_into_clean(run)`: drops what such a call has left. Both look at this server, at the
//! servers of postgres_fdw that are declared to have the extension, and at the workers of Citus.
//!
//! Both run as the caller. Logs are read only if they are plain tables with just the columns of a
//! log, of roles of which the caller is a member.

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{IntoDatum, PgSqlErrorCode, check_for_interrupts};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::log::is_token;
use super::servers::{Dblink, Server, unanswered};
use super::statements::{remote, runs as statements};
use crate::pg::procedure::citus;
use crate::pg::procedure::statement::Statement;
use crate::pg::query::as_user::as_user;
use crate::pg::server::call::{Call, is_null, sql_function};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::{self, Rows};
use crate::pg::server::values;

const NAME: &str = "neardup_into_runs";
const EXAMPLE: &str = "SELECT neardup_into_clean(run) FROM neardup_into_runs() WHERE status = 'left over';";

sql_function! {
    /// `neardup_into_runs()`
    neardup_into_runs, pg_finfo_neardup_into_runs, |call| {
        // SAFETY: reads the state of the session.
        let caller = unsafe { pg_sys::GetUserId() };
        let runs = as_user(caller, all)?;
        set_returning::all(call, Listed { runs: runs.into_iter(), nulls: [false; COLUMNS] })
    }
}

sql_function! {
    /// `neardup_into_clean(run)`: returns the number of tables that were dropped.
    neardup_into_clean, pg_finfo_neardup_into_clean, within ItsCalls, |call| {
        let dropped = clean(call)?;
        Ok(call.give(Some(dropped)))
    }
}

/// A call, on one node.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Run {
    node: Option<String>,
    run: String,
    pairs: Option<String>,
    owner: Option<String>,
    status: Option<String>,
    step: Option<i32>,
    name: Option<String>,
    rows: Option<i64>,
    parts: Option<i64>,
    started: Option<i64>,
    noted: Option<i64>,
    tables: i64,
    bytes: i64,
    /// The log.
    #[serde(skip)]
    log: Option<String>,
}

/// The working tables of a call on one node. `parts` is the table of the parts that are done.
#[derive(Debug, Deserialize)]
struct Tables {
    run: String,
    owner: Option<String>,
    tables: i64,
    bytes: i64,
    #[serde(default)]
    parts: Option<u32>,
}

/// What a worker of Citus said.
#[derive(Debug, Deserialize)]
struct Answer {
    node: String,
    success: bool,
    result: Option<String>,
}

fn parse<T: DeserializeOwned>(json: Option<String>) -> Result<T> {
    serde_json::from_str(json.as_deref().unwrap_or("[]"))
        .map_err(|error| SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, error.to_string()))
}

fn read<T: DeserializeOwned>(statement: &Statement) -> Result<T> {
    parse(statement.text()?)
}

/// Returns all calls: those with a log, and the tables of those that have none; then what other
/// nodes have.
fn all() -> Result<Vec<Run>> {
    let in_citus = citus::is_there().holds()?;
    let mut runs = with_logs()?;
    for tables in read::<Vec<Tables>>(&statements::all_tables(in_citus))? {
        check_for_interrupts!();
        let Tables { run, owner, tables, bytes, parts } = tables;
        let known = match runs.iter().position(|known| known.run == run) {
            Some(n) => n,
            None => {
                runs.push(Run { run, owner, status: Some(LEFT.to_owned()), ..Run::default() });
                runs.len() - 1
            }
        };
        let known = &mut runs[known];
        (known.tables, known.bytes) = (tables, bytes);
        if let (Some(parts), Some(step)) = (parts, known.step) {
            let parts = Oid::from(parts);
            let name = crate::pg::query::names::name_of(parts)?;
            known.parts = statements::parts_done((&name, parts), i64::from(step) + 1).number()?;
        }
    }
    let mut others = on_servers(&runs)?;
    if in_citus {
        others.extend(on_workers(&runs)?);
    }
    runs.extend(others);
    Ok(runs)
}

/// The status of tables that no log knows.
const LEFT: &str = "left over";

/// Returns the calls that have a log.
fn with_logs() -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for (oid, name) in read::<Vec<(u32, String)>>(&statements::logs())? {
        check_for_interrupts!();
        let Some(json) = statements::log((&name, Oid::from(oid))).text()? else { continue };
        // The owner of a log can write anything into it.
        let Ok(run) = serde_json::from_str::<Run>(&json) else { continue };
        if is_token(&run.run) {
            runs.push(Run { log: Some(name), ..run });
        }
    }
    Ok(runs)
}

/// Returns the working tables on a node. Those of known calls have the status of the call.
fn there(node: &str, tables: Vec<Tables>, known: &[Run]) -> Vec<Run> {
    let of = |tables: Tables| {
        let known = known.iter().find(|known| known.run == tables.run);
        let status = known.map_or(Some(LEFT.to_owned()), |known| known.status.clone());
        let pairs = known.and_then(|known| known.pairs.clone());
        let Tables { run, owner, tables, bytes, .. } = tables;
        Run { node: Some(node.to_owned()), run, pairs, owner, status, tables, bytes, ..Run::default() }
    };
    tables.into_iter().map(of).collect()
}

/// Returns the servers, and what reaches them, if there are any.
fn servers() -> Result<Option<(Dblink, Vec<Server>)>> {
    let names: Vec<String> = read(&statements::servers())?;
    if names.is_empty() {
        return Ok(None);
    }
    let Ok(dblink) = Dblink::open() else { return Ok(None) };
    let servers = names.into_iter().map(|name| Server { name, schema: String::new() }).collect();
    Ok(Some((dblink, servers)))
}

/// Tells the caller that a node did not answer.
fn tell(node: &str, message: &str) {
    pgrx::notice!("{NAME}: {node} did not say what it has: {message}");
}

fn on_servers(known: &[Run]) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    let Some((dblink, servers)) = servers()? else { return Ok(runs) };
    for server in &servers {
        match dblink.ask(server, &statements::tables_there()).map_err(unanswered) {
            Ok(json) => runs.extend(there(&server.name, parse(json)?, known)),
            Err(Ok(message)) => tell(&format!("server \"{}\"", server.name), &message),
            Err(Err(error)) => return Err(error),
        }
    }
    Ok(runs)
}

/// Returns the tables on workers that the coordinator does not know.
fn on_workers(known: &[Run]) -> Result<Vec<Run>> {
    let mut runs = Vec::new();
    for Answer { node, success, result } in
        read::<Vec<Answer>>(&statements::workers(&statements::tables_there())?)?
    {
        if !success {
            tell(&node, result.as_deref().unwrap_or_default());
            continue;
        }
        let tables: Vec<Tables> = parse(result)?;
        let is_new = |tables: &Tables| !known.iter().any(|known| known.run == tables.run);
        runs.extend(there(&node, tables.into_iter().filter(is_new).collect(), known));
    }
    Ok(runs)
}

/// Drops the working tables of a call, and its log unless the call is finished.
fn clean(call: Call) -> Result<i64> {
    let run = call.name(0)?.ok_or_else(|| is_null("run").hint(EXAMPLE))?;
    if !is_token(&run) {
        let message = format!("run must be twelve hexadecimal digits, not \"{run}\"");
        return Err(SqlError::parameter(message).hint(EXAMPLE));
    }
    // SAFETY: reads the state of the session.
    let caller = unsafe { pg_sys::GetUserId() };
    as_user(caller, || drop_all(&run))
}

fn drop_all(run: &str) -> Result<i64> {
    let log = with_logs()?.into_iter().find(|known| known.run == run);
    let has = |status: &str| log.as_ref().is_some_and(|log| log.status.as_deref() == Some(status));
    if has("running") {
        let pairs = log.as_ref().and_then(|log| log.pairs.as_deref()).unwrap_or_default();
        let message = format!("a session is making {pairs}");
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_IN_USE, message)
            .hint("Cancel it first: SELECT pid, call FROM neardup_activity;"));
    }
    let mut dropped = 0;
    // What is on servers goes first, because the rest can be rolled back.
    if let Some((dblink, servers)) = servers()? {
        for server in &servers {
            let names = || -> Result<Vec<String>> {
                let names: Vec<String> = parse(dblink.ask(server, &statements::names_there(run))?)?;
                if !names.is_empty() {
                    dblink.run(server, &remote::drop(&names))?;
                }
                Ok(names)
            };
            match names().map_err(unanswered) {
                Ok(names) => dropped += names.len() as i64,
                Err(Ok(message)) => tell(&format!("server \"{}\"", server.name), &message),
                Err(Err(error)) => return Err(error),
            }
        }
    }
    let commands: Vec<String> = read(&statements::drops(run)?)?;
    for command in &commands {
        check_for_interrupts!();
        statements::command(command).run()?;
    }
    dropped += commands.len() as i64;
    if commands.is_empty() && citus::is_there().holds()? {
        dropped +=
            on_workers(&[])?.iter().filter(|there| there.run == run).map(|there| there.tables).sum::<i64>();
        for Answer { node, success, result } in
            read::<Vec<Answer>>(&statements::workers(&statements::drop_there(run))?)?
        {
            if !success {
                tell(&node, result.as_deref().unwrap_or_default());
            }
        }
    }
    let is_done = has("done");
    if let Some(log) = log.filter(|_| !is_done).and_then(|log| log.log) {
        statements::command(&format!("DROP TABLE {log}")).run()?;
        dropped += 1;
    }
    Ok(dropped)
}

/// The number of columns.
const COLUMNS: usize = 13;

/// The calls as rows.
struct Listed {
    runs: std::vec::IntoIter<Run>,
    nulls: [bool; COLUMNS],
}

impl Rows<COLUMNS> for Listed {
    fn columns(&self) -> [&'static str; COLUMNS] {
        [
            "node", "run", "pairs", "owner", "status", "step", "name", "rows", "parts", "started", "noted",
            "tables", "bytes",
        ]
    }

    fn next(&mut self) -> Result<Option<[Datum; COLUMNS]>> {
        let Some(run) = self.runs.next() else { return Ok(None) };
        let text = |text: Option<String>| text.map(|text| values::text(&text)).transpose();
        let row = [
            text(run.node)?,
            text(Some(run.run))?,
            text(run.pairs)?,
            text(run.owner)?,
            text(run.status)?,
            run.step.and_then(IntoDatum::into_datum),
            text(run.name)?,
            run.rows.and_then(IntoDatum::into_datum),
            run.parts.and_then(IntoDatum::into_datum),
            run.started.and_then(IntoDatum::into_datum),
            run.noted.and_then(IntoDatum::into_datum),
            run.tables.into_datum(),
            run.bytes.into_datum(),
        ];
        self.nulls = row.map(|value| value.is_none());
        Ok(Some(row.map(|value| value.unwrap_or(Datum::null()))))
    }

    fn nulls(&self) -> [bool; COLUMNS] {
        self.nulls
    }
}
