//! Statements on what calls have left: their logs and working tables, on this server, on servers of
//! postgres_fdw, and on workers of Citus.

use crate::pg::procedure::session_lock::SessionLock;
use crate::pg::procedure::statement::{Statement, oid, text};
use crate::pg::request::example::literal;
use crate::pg::server::error::Result;

/// The names of working tables, without partitions and without the shards of Citus.
const NAMES: &str = "'^neardup_[0-9a-f]{12}_[a-z]{3,10}(_[0-9]{1,5})?$'::pg_catalog.text";

/// Returns a query for the token, the owner and the name of each working table `c` in a schema `n`,
/// and for its size by the function `size`. It runs on other servers, too, so all names are
/// qualified with their schemas. Partitions are part of their table.
fn tables(size: &str) -> String {
    format!(
        "SELECT pg_catalog.substr(c.relname::pg_catalog.text, 9, 12) AS run, pg_catalog.pg_get_userbyid(c.relowner)::pg_catalog.text AS owner, \
             c.oid, c.relname::pg_catalog.text AS name, c.relkind, c.relispartition, \
             pg_catalog.format('%I.%I', n.nspname, c.relname) AS full_name, COALESCE({size}, 0)::pg_catalog.int8 AS bytes \
         FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace \
         WHERE c.relkind OPERATOR(pg_catalog.=) ANY ('{{r,p,f}}'::\"char\"[]) AND c.relname::pg_catalog.text OPERATOR(pg_catalog.~) {NAMES}"
    )
}

const SIZE: &str = "pg_catalog.pg_total_relation_size(c.oid)";

/// Returns, as JSON, how many working tables each role has of each call, and how large they are.
/// Citus counts their shards on all nodes, if `in_citus` is set.
pub(crate) fn all_tables(in_citus: bool) -> Statement {
    let of_shards = "CASE WHEN EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = c.oid) \
         THEN citus_total_relation_size(c.oid::regclass, false) ELSE pg_total_relation_size(c.oid) END";
    let tables = tables(if in_citus { of_shards } else { SIZE });
    Statement::new(format!(
        "SELECT COALESCE(jsonb_agg(to_jsonb(t)), '[]')::text FROM (SELECT t.run, t.owner, \
             count(*) FILTER (WHERE NOT t.relispartition) AS tables, sum(t.bytes)::int8 AS bytes, \
             max(t.oid::int8) FILTER (WHERE t.name ~ '_parts$' AND t.relkind = 'r') AS parts FROM ({tables}) t GROUP BY t.run, t.owner) t"
    ))
}

/// Returns, as JSON, the same of a server or of a worker.
pub(crate) fn tables_there() -> String {
    format!(
        "SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.to_jsonb(t)), '[]'::pg_catalog.jsonb)::pg_catalog.text \
         FROM (SELECT t.run, t.owner, pg_catalog.count(*) AS tables, \
             pg_catalog.sum(t.bytes)::pg_catalog.int8 AS bytes FROM ({}) t GROUP BY t.run, t.owner) t",
        tables(SIZE).replace("(_[0-9]{1,5})?", "(_[0-9]{1,12})?")
    )
}

/// Returns, as JSON, the OIDs of the tables that may be logs of roles of which the caller is a
/// member.
pub(crate) fn logs() -> Statement {
    Statement::new(
        "SELECT COALESCE(jsonb_agg(c.oid::int8 ORDER BY c.oid), '[]')::text FROM pg_class c \
         WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND c.relname::text ~ '_log$' AND pg_has_role(c.relowner, 'USAGE')",
    )
}

/// Reports whether a session holds the lock of a call.
pub(crate) fn is_held(lock: SessionLock) -> Statement {
    Statement::new(
        "SELECT EXISTS (SELECT FROM pg_locks k WHERE k.locktype = 'object' AND k.granted AND k.classid = $1 AND k.objid = $2 AND k.objsubid = 0 \
         AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()))",
    )
    .with([oid(lock.class), oid(lock.object)])
}

/// Reports whether a relation has this name with its schema, both quoted for SQL text.
pub(crate) fn is_there(name: &str) -> Result<Statement> {
    let sql = "SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE format('%I.%I', n.nspname, c.relname) = $1)";
    Ok(Statement::new(sql).with([text(name)?]))
}

/// Returns, as JSON, the OIDs of the working tables of a call with the OIDs of their owners;
/// partitions go with their tables.
pub(crate) fn tables_of(run: &str) -> Result<Statement> {
    Ok(Statement::new(format!(
        "SELECT COALESCE(jsonb_agg(jsonb_build_array(c.relowner::int8, t.oid::int8) ORDER BY t.oid), '[]')::text \
         FROM ({}) t JOIN pg_class c ON c.oid = t.oid WHERE t.run = $1 AND NOT t.relispartition",
        tables("0")
    ))
    .with([text(run)?]))
}

/// Drops a table, which is locked.
pub(crate) fn drop(name: &str, is_foreign: bool) -> Statement {
    let foreign = if is_foreign { "FOREIGN " } else { "" };
    Statement::new(format!("DROP {foreign}TABLE {name}"))
}

/// Returns, as JSON, the names of the role's own working tables of a call on a server. The token
/// has hexadecimal digits.
pub(crate) fn names_there(run: &str) -> String {
    format!(
        "SELECT COALESCE(pg_catalog.jsonb_agg(t.full_name), '[]'::pg_catalog.jsonb)::pg_catalog.text FROM ({}) t \
         WHERE t.run OPERATOR(pg_catalog.=) '{run}'::pg_catalog.text AND t.owner OPERATOR(pg_catalog.=) CURRENT_USER::pg_catalog.text",
        tables("0")
    )
}

/// Asks all workers of Citus: as JSON, the name and the port of each, whether it answered, and what
/// it said.
pub(crate) fn workers(ask: &str) -> Result<Statement> {
    Ok(Statement::new(
        "SELECT COALESCE(jsonb_agg(jsonb_build_object('node', concat(w.nodename, ':', w.nodeport), 'success', w.success, 'result', w.result)), '[]')::text \
         FROM run_command_on_workers($1) w",
    )
    .with([text(ask)?]))
}

/// Drops those tables of a call on a worker that the coordinator does not know and that belong to
/// one of these roles.
pub(crate) fn drop_there(run: &str, owners: &[String]) -> String {
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
