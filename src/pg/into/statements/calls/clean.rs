//! `neardup_into_clean(run)`: drops what a call of `near_duplicates_into` has left.
//!
//! Runs as the caller. What is dropped follows from the catalogue: the working tables with the name
//! of the call, and of one owner at a time, since any role can make tables and logs with the token
//! of another one. The lock of the call is taken first, which a session that runs it holds.

use std::collections::BTreeSet;

use pgrx::pg_sys::{self, Oid};
use pgrx::{PgSqlErrorCode, check_for_interrupts};

use super::known_log::{self, KnownLog};
use super::runs::{WorkerAnswer, ask_servers, ask_workers, tables, tables_of_workers, tell};
use crate::pg::into::statements::log::is_token;
use crate::pg::into::statements::servers::{Requests, Server, drop_if_there};
use crate::pg::procedure::citus;
use crate::pg::procedure::session_lock::LockedShare;
use crate::pg::procedure::statement::{Statement, text};
use crate::pg::procedure::table::{OpenedTable, Table};
use crate::pg::query::as_user::{acts_for, as_user};
use crate::pg::query::names::name_of;
use crate::pg::request::example::literal;
use crate::pg::server::call::{FunctionCall, is_null, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::notices::notice;

const EXAMPLE: &str = "SELECT neardup_into_clean(run) FROM neardup_into_calls() WHERE status = 'left over';";

sql_functions! {
    /// `neardup_into_clean(run)`: returns the number of tables that were dropped.
    neardup_into_clean, within ItsCalls: |call| {
        let dropped = clean(call)?;
        Ok(call.give(Some(dropped)))
    };
}

/// Drops the working tables of a call, and its log unless the call is finished.
fn clean(call: FunctionCall) -> Result<i64> {
    let run = call.name(0)?.ok_or_else(|| is_null("run").hint(EXAMPLE))?;
    if !is_token(&run) {
        let message = format!("run must be twelve hexadecimal digits, not \"{run}\"");
        return Err(SqlError::parameter(message).hint(EXAMPLE));
    }
    // SAFETY: reads the state of the session.
    let caller = unsafe { pg_sys::GetUserId() };
    as_user(caller, || drop_all(&run, caller))
}

fn drop_all(run: &str, caller: Oid) -> Result<i64> {
    let logs: Vec<KnownLog> = known_log::all()?.into_iter().filter(|log| log.call.run == run).collect();
    // The working tables with their owners; partitions go with their tables.
    let of_call = Statement::new(format!(
        "SELECT COALESCE(jsonb_agg(jsonb_build_array(c.relowner::int8, t.oid::int8) ORDER BY t.oid), '[]')::text \
         FROM ({}) t JOIN pg_class c ON c.oid = t.oid WHERE t.run = $1 AND NOT t.relispartition",
        tables("0")
    ));
    let tables: Vec<(u32, u32)> = of_call.with([text(run)?]).json()?;
    let tables: Vec<(Oid, Oid)> =
        tables.into_iter().map(|(owner, table)| (Oid::from(owner), Oid::from(table))).collect();
    let mut owners: Vec<Oid> =
        tables.iter().map(|&(owner, _)| owner).chain(logs.iter().map(|log| log.owner)).collect();
    owners.sort_by_key(|owner| owner.to_u32());
    owners.dedup();
    let mut dropped = 0;
    let mut left = None;
    for owner in owners {
        let of_owner = || tables.iter().filter(move |&&(of, _)| of == owner).map(|&(_, table)| table);
        let logs: Vec<&KnownLog> = logs.iter().filter(|log| log.owner == owner).collect();
        if !acts_for(owner) {
            left = left.or(Some(not_owner(&of_owner().map(name_of).collect::<Result<Vec<_>>>()?)));
        } else if let Some(log) = logs.iter().find(|log| !LockedShare::All.take(log.lock)) {
            left = left.or(Some(running(log)));
        } else {
            if owner == caller {
                dropped += logs.iter().map(|log| on_servers(run, log)).sum::<Result<i64>>()?;
            }
            let working: Vec<Oid> = of_owner().collect();
            let further = logs.iter().filter(|log| log.call.status != "done").map(|log| log.oid);
            for table in working.into_iter().chain(further) {
                dropped += drop_one(table, owner)?;
            }
        }
    }
    // Shards of tables that are dropped here are dropped by Citus.
    if tables.is_empty() && citus::is_there().holds()? {
        dropped += on_workers(run, &logs)?;
    }
    match left {
        Some(error) if dropped == 0 => Err(error),
        Some(SqlError::Own { message, .. }) => {
            notice(format!("neardup_into_clean: {message}, so its tables are left"));
            Ok(dropped)
        }
        _ => Ok(dropped),
    }
}

/// Returns the error for the tables of roles for which the caller may not act.
fn not_owner(names: &[String]) -> SqlError {
    let message = format!("must be owner of table {}", names.join(", "));
    SqlError::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, message)
}

/// Returns the error for a call that a session is running.
fn running(log: &KnownLog) -> SqlError {
    let message = format!("a session is making {}", log.call.pairs.as_deref().unwrap_or_default());
    SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_IN_USE, message)
        .hint("Cancel it first: SELECT pid, call FROM neardup_activity;")
}

/// Drops a table if it still belongs to this role.
fn drop_one(table: Oid, owner: Oid) -> Result<i64> {
    check_for_interrupts!();
    let may = |of| of == owner && acts_for(of);
    let OpenedTable::Table(table) = Table::open(table, pg_sys::AccessExclusiveLock, may)? else {
        return Ok(0);
    };
    let foreign = if table.is_foreign() { "FOREIGN " } else { "" };
    Statement::new(format!("DROP {foreign}TABLE {table}")).run()?;
    Ok(1)
}

/// Drops the tables on the servers of a call. They go first, because the rest can be rolled back.
fn on_servers(run: &str, log: &KnownLog) -> Result<i64> {
    let mut dropped = 0;
    let servers = log.servers.iter().map(String::as_str);
    for (name, names) in ask_servers::<Vec<String>>(servers, &names_there(run))? {
        if !names.is_empty() {
            let server = Server { name: name.to_owned(), schema: String::new() };
            Requests::default().run(&server, &drop_if_there(&names))?;
            dropped += names.len() as i64;
        }
    }
    Ok(dropped)
}

/// Drops the tables of a call on workers of Citus that the coordinator does not know.
fn on_workers(run: &str, logs: &[KnownLog]) -> Result<i64> {
    let is_left = |owner: &str| {
        !logs.iter().any(|log| log.call.owner.as_deref() == Some(owner) && log.call.status == "running")
    };
    let (mut dropped, mut owners) = (0, BTreeSet::new());
    for (_, tables) in tables_of_workers()? {
        for of in tables.into_iter().filter(|of| of.run == run) {
            if let Some(owner) = of.owner.filter(|owner| is_left(owner)) {
                dropped += of.tables;
                owners.insert(owner);
            }
        }
    }
    if owners.is_empty() {
        return Ok(0);
    }
    let owners: Vec<String> = owners.into_iter().collect();
    for WorkerAnswer { node, success, result } in ask_workers(&drop_there(run, &owners))? {
        if !success {
            tell(&node, result.as_deref().unwrap_or_default());
        }
    }
    Ok(dropped)
}

/// Returns, as JSON, the names of the role's own working tables of a call on a server. The token
/// has hexadecimal digits.
fn names_there(run: &str) -> String {
    format!(
        "SELECT COALESCE(pg_catalog.jsonb_agg(t.full_name), '[]'::pg_catalog.jsonb)::pg_catalog.text FROM ({}) t \
         WHERE t.run OPERATOR(pg_catalog.=) '{run}'::pg_catalog.text AND t.owner OPERATOR(pg_catalog.=) CURRENT_USER::pg_catalog.text",
        tables("0")
    )
}

/// Drops those tables of a call on a worker that the coordinator does not know and that belong to
/// one of these roles.
fn drop_there(run: &str, owners: &[String]) -> String {
    let tables = tables("0").replace("(_[0-9]{1,5})?", "(_[0-9]{1,12})?");
    let owners: Vec<String> = owners.iter().map(|owner| literal(owner)).collect();
    format!(
        "DO $neardup$ DECLARE of pg_catalog.text; BEGIN \
             PERFORM pg_catalog.set_config('citus.enable_manual_changes_to_shards', 'on', true); \
             FOR of IN SELECT t.full_name FROM ({tables}) t WHERE t.run OPERATOR(pg_catalog.=) '{run}'::pg_catalog.text \
                     AND t.owner OPERATOR(pg_catalog.=) ANY (ARRAY[{}]::pg_catalog.text[]) LOOP \
                 EXECUTE pg_catalog.concat('DROP TABLE IF EXISTS ', of); \
             END LOOP; \
         END $neardup$",
        owners.join(", ")
    )
}
