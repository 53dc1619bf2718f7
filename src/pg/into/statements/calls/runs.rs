//! `neardup_into_calls()`: the calls of `near_duplicates_into` that have a log or working tables on
//! this server, on the servers that the caller's own logs name, and on the workers of Citus.
//!
//! Runs as the caller. Working tables are those of the log that belongs to the same role: any role
//! can make tables and logs with the token of another one.

use std::collections::BTreeSet;

use pgrx::pg_sys::{self, Oid};
use pgrx::{IntoDatum, PgSqlErrorCode, check_for_interrupts};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::known_log::{self, CallOnNode, KnownLog, LEFT};
use crate::pg::into::statements::servers::Requests;
use crate::pg::into::tables::own;
use crate::pg::procedure::citus;
use crate::pg::procedure::statement::{Statement, text};
use crate::pg::procedure::table::{OpenedTable, Patience, Table};
use crate::pg::query::as_user::as_user;
use crate::pg::server::call::sql_functions;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::notices::notice;
use crate::pg::server::set_returning::{self, Row, Rows};
use crate::pg::server::values;

const NAME: &str = "neardup_into_calls";

sql_functions! {
    /// `neardup_into_calls()`
    neardup_into_calls: |call| {
        // SAFETY: reads the state of the session.
        let caller = unsafe { pg_sys::GetUserId() };
        let runs = as_user(caller, || all(caller))?;
        set_returning::all(call, Rows(COLUMNS, runs.into_iter().map(CallOnNode::row)))
    };
}

/// The working tables of a call on one node that belong to one role. `parts` is the table of the
/// parts that are done.
#[derive(Debug, Deserialize)]
pub(crate) struct WorkingTables {
    pub run: String,
    pub owner: Option<String>,
    pub tables: i64,
    bytes: i64,
    #[serde(default)]
    parts: Option<u32>,
}

/// What a worker of Citus said.
#[derive(Debug, Deserialize)]
pub(crate) struct WorkerAnswer {
    pub node: String,
    pub success: bool,
    pub result: Option<String>,
}

/// Parses what a node answered. Anything may stand there.
fn parse<T: DeserializeOwned>(node: &str, json: Option<&str>) -> Result<T> {
    serde_json::from_str(json.unwrap_or("[]")).map_err(|error| {
        let message = format!("{node} answered what neardup does not ask for: {error}");
        SqlError::new(PgSqlErrorCode::ERRCODE_PROTOCOL_VIOLATION, message)
            .hint("Is that a server of PostgreSQL with neardup?")
    })
}

/// Returns all calls: those with a log, and the tables of those that have none; then what other
/// nodes have.
fn all(caller: Oid) -> Result<Vec<CallOnNode>> {
    let in_citus = citus::is_there().holds()?;
    let logs = known_log::all()?;
    let mut runs: Vec<CallOnNode> = logs.iter().map(|log| log.call.clone()).collect();
    // How many working tables each role has of each call, and how large they are. Citus counts
    // their shards on all nodes.
    let of_shards = "CASE WHEN EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = c.oid) \
         THEN citus_total_relation_size(c.oid::regclass, false) ELSE pg_total_relation_size(c.oid) END";
    let tables = tables(if in_citus { of_shards } else { SIZE });
    let all = Statement::new(format!(
        "SELECT COALESCE(jsonb_agg(to_jsonb(t)), '[]')::text FROM (SELECT t.run, t.owner, \
             count(*) FILTER (WHERE NOT t.relispartition) AS tables, sum(t.bytes)::int8 AS bytes, \
             max(t.oid::int8) FILTER (WHERE t.name ~ '_parts$' AND t.relkind = 'r') AS parts FROM ({tables}) t GROUP BY t.run, t.owner) t"
    ));
    for tables in all.json::<Vec<WorkingTables>>()? {
        check_for_interrupts!();
        let WorkingTables { run, owner, tables, bytes, parts } = tables;
        let place = match runs.iter().position(|known| known.run == run && known.owner == owner) {
            Some(n) => n,
            None => {
                runs.push(CallOnNode { run, owner, status: LEFT, ..CallOnNode::default() });
                runs.len() - 1
            }
        };
        let known = &mut runs[place];
        (known.tables, known.bytes) = (tables, bytes);
        // The calls with a log come first, in the order of the logs.
        if let (Some(parts), Some(log)) = (parts, logs.get(place)) {
            known.parts = parts_done(Oid::from(parts), log)?;
        }
    }
    let own: Vec<&KnownLog> = logs.iter().filter(|log| log.owner == caller).collect();
    let mut others = on_servers(&own)?;
    if in_citus {
        others.extend(on_workers(&runs)?);
    }
    runs.extend(others);
    Ok(runs)
}

/// Counts the parts of the step of a call that are done, in a table of the same owner.
fn parts_done(parts: Oid, log: &KnownLog) -> Result<Option<i64>> {
    let lock = pg_sys::AccessShareLock;
    let opened = Table::open_with(Patience::Skip, parts, lock, |owner| owner == log.owner)?;
    let OpenedTable::Table(table) = opened else { return Ok(None) };
    let columns = ["step", "part", "rows"].map(|name| (name, pg_sys::INT8OID));
    if table.differs(&own::TABLE, &columns).is_some() || !table.is_readable() {
        return Ok(None);
    }
    let mut done = 0;
    table.each_row(["step", "part"], |[step, part]| {
        let [step, part] = [step, part].map(|number| number.map(|number| number.value() as i64));
        done += i64::from(
            step == log.call.step.map(|step| i64::from(step) + 1) && part.is_some_and(|part| part >= 0),
        );
        Ok(())
    })?;
    Ok(Some(done))
}

/// Returns the working tables on a node. Those of known calls have the status of the call.
fn there<'a>(
    node: &str,
    tables: Vec<WorkingTables>,
    known: impl Fn(&WorkingTables) -> Option<&'a CallOnNode>,
) -> Vec<CallOnNode> {
    let of = |tables: WorkingTables| {
        let (status, pairs) = known(&tables).map_or((LEFT, None), |call| (call.status, call.pairs.clone()));
        let WorkingTables { run, owner, tables, bytes, .. } = tables;
        let node = Some(node.to_owned());
        CallOnNode { node, run, pairs, owner, status, tables, bytes, ..CallOnNode::default() }
    };
    tables.into_iter().map(of).collect()
}

/// Tells the caller that a node did not answer.
pub(crate) fn tell(node: &str, message: &str) {
    notice(format!("{NAME}: {node} did not say what it has: {message}"));
}

/// Asks servers for JSON; tells the caller which of them do not answer.
pub(crate) fn ask_servers<'a, T: DeserializeOwned>(
    servers: impl IntoIterator<Item = &'a str>,
    sql: &str,
) -> Result<Vec<(&'a str, T)>> {
    let requests = Requests::default();
    let mut answers = Vec::new();
    for server in servers {
        let node = format!("server \"{server}\"");
        match requests.ask_for_seconds(server, sql)? {
            Ok(json) => answers.push((server, parse(&node, json.as_deref())?)),
            Err(message) => tell(&node, &message),
        }
    }
    Ok(answers)
}

/// Asks the servers that the caller's own logs name.
fn on_servers(own: &[&KnownLog]) -> Result<Vec<CallOnNode>> {
    let servers: BTreeSet<&str> = own.iter().flat_map(|log| log.servers.iter().map(String::as_str)).collect();
    let mut runs = Vec::new();
    for (server, tables) in ask_servers(servers, &tables_there())? {
        // The role there may have another name.
        let of = |tables: &WorkingTables| own.iter().map(|log| &log.call).find(|call| call.run == tables.run);
        runs.extend(there(server, tables, of));
    }
    Ok(runs)
}

/// Returns the tables on workers that the coordinator does not know.
fn on_workers(known: &[CallOnNode]) -> Result<Vec<CallOnNode>> {
    let mut runs = Vec::new();
    for (node, tables) in tables_of_workers()? {
        let is_new = |tables: &WorkingTables| {
            !known.iter().any(|known| known.run == tables.run && known.owner == tables.owner)
        };
        runs.extend(there(&node, tables.into_iter().filter(is_new).collect(), |_| None));
    }
    Ok(runs)
}

/// Asks the workers of Citus which working tables they have.
pub(crate) fn tables_of_workers() -> Result<Vec<(String, Vec<WorkingTables>)>> {
    let mut found = Vec::new();
    for WorkerAnswer { node, success, result } in ask_workers(&tables_there())? {
        if success {
            let tables = parse(&node, result.as_deref())?;
            found.push((node, tables));
        } else {
            tell(&node, result.as_deref().unwrap_or_default());
        }
    }
    Ok(found)
}

/// The names of working tables, without partitions and without the shards of Citus.
const NAMES: &str = "'^neardup_[0-9a-f]{12}_[a-z]{3,10}(_[0-9]{1,5})?$'::pg_catalog.text";

/// Returns a query for the token, the owner and the name of each working table `c` in a schema `n`,
/// and for its size by the function `size`. It runs on other servers, too, so all names are
/// qualified with their schemas. Partitions are part of their table.
pub(super) fn tables(size: &str) -> String {
    format!(
        "SELECT pg_catalog.substr(c.relname::pg_catalog.text, 9, 12) AS run, pg_catalog.pg_get_userbyid(c.relowner)::pg_catalog.text AS owner, \
             c.oid, c.relname::pg_catalog.text AS name, c.relkind, c.relispartition, \
             pg_catalog.format('%I.%I', n.nspname, c.relname) AS full_name, COALESCE({size}, 0)::pg_catalog.int8 AS bytes \
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace \
         WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{{r,p,f}}'::\"char\"[]) AND c.relname::pg_catalog.text OPERATOR(pg_catalog.~) {NAMES}"
    )
}

const SIZE: &str = "pg_catalog.pg_total_relation_size(c.oid)";

/// Returns, as JSON, the same of a server or of a worker.
fn tables_there() -> String {
    format!(
        "SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.to_jsonb(t)), '[]'::pg_catalog.jsonb)::pg_catalog.text \
         FROM (SELECT t.run, t.owner, pg_catalog.count(*) AS tables, \
             pg_catalog.sum(t.bytes)::pg_catalog.int8 AS bytes FROM ({}) t GROUP BY t.run, t.owner) t",
        tables(SIZE).replace("(_[0-9]{1,5})?", "(_[0-9]{1,12})?")
    )
}

/// Asks all workers of Citus: as JSON, the name and the port of each, whether it answered, and what
/// it said.
pub(super) fn ask_workers(ask: &str) -> Result<Vec<WorkerAnswer>> {
    Statement::new(
        "SELECT COALESCE(jsonb_agg(jsonb_build_object('node', concat(w.nodename, ':', w.nodeport), 'success', w.success, 'result', w.result)), '[]')::text \
         FROM run_command_on_workers($1) w",
    )
    .with([text(ask)?])
    .json()
}

const COLUMNS: [&str; 13] = [
    "node", "run", "pairs", "owner", "status", "step", "name", "rows", "parts", "started", "noted", "tables",
    "bytes",
];

impl CallOnNode {
    fn row(self) -> Result<Row<{ COLUMNS.len() }>> {
        let text = |text: Option<String>| text.map(|text| values::text(&text)).transpose();
        Ok([
            text(self.node)?,
            text(Some(self.run))?,
            text(self.pairs)?,
            text(self.owner)?,
            text(Some(self.status.to_owned()))?,
            self.step.and_then(IntoDatum::into_datum),
            text(self.name)?,
            self.rows.and_then(IntoDatum::into_datum),
            self.parts.and_then(IntoDatum::into_datum),
            self.started.and_then(IntoDatum::into_datum),
            self.noted.and_then(IntoDatum::into_datum),
            self.tables.into_datum(),
            self.bytes.into_datum(),
        ])
    }
}
