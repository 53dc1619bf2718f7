//! Statements on what calls have left: their logs and working tables, on this server, on servers of
//! postgres_fdw, and on workers of Citus.

use super::fill::Named;
use crate::pg::procedure::statement::{Statement, int8, text};
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

/// Returns, as JSON, how many working tables each call has, and how large they are. Citus counts
/// their shards on all nodes, if `in_citus` is set.
pub(crate) fn all_tables(in_citus: bool) -> Statement {
    let of_shards = "CASE WHEN EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = c.oid) \
         THEN citus_total_relation_size(c.oid::regclass, false) ELSE pg_total_relation_size(c.oid) END";
    let tables = tables(if in_citus { of_shards } else { SIZE });
    Statement::new(format!(
        "SELECT COALESCE(jsonb_agg(to_jsonb(t)), '[]')::text FROM (SELECT t.run, min(t.owner) AS owner, \
             count(*) FILTER (WHERE NOT t.relispartition) AS tables, sum(t.bytes)::int8 AS bytes, \
             max(t.oid::int8) FILTER (WHERE t.name ~ '_parts$' AND t.relkind = 'r' AND {}) AS parts FROM ({tables}) t GROUP BY t.run) t",
        has_columns("t.oid", &["step 20", "part 20", "rows 20"])
    ))
}

/// Returns, as JSON, the same of a server or of a worker.
pub(crate) fn tables_there() -> String {
    format!(
        "SELECT COALESCE(pg_catalog.jsonb_agg(pg_catalog.to_jsonb(t)), '[]'::pg_catalog.jsonb)::pg_catalog.text \
         FROM (SELECT t.run, pg_catalog.min(t.owner) AS owner, pg_catalog.count(*) AS tables, \
             pg_catalog.sum(t.bytes)::pg_catalog.int8 AS bytes FROM ({}) t GROUP BY t.run) t",
        tables(SIZE).replace("(_[0-9]{1,5})?", "(_[0-9]{1,12})?")
    )
}

/// Returns the SQL condition that a table that the caller may read has exactly these columns, of
/// types of the server, and nothing that would run code when it is read.
fn has_columns(table: &str, columns: &[&str]) -> String {
    format!(
        "(SELECT array_agg(a.attname::text || ' ' || a.atttypid ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = {table} AND a.attnum > 0) \
             = '{{{}}}'::text[] AND has_table_privilege({table}, 'SELECT') AND NOT (SELECT r.relrowsecurity FROM pg_class r WHERE r.oid = {table})",
        columns.join(",")
    )
}

/// Returns, as JSON, the OIDs and the names of all logs of roles of which the caller is a member.
pub(crate) fn logs() -> Statement {
    let columns = ["step 23", "name 25", "rows 20", "started 1184", "finished 1184", "about 3802"];
    Statement::new(format!(
        "SELECT COALESCE(jsonb_agg(jsonb_build_array(c.oid::int8, format('%I.%I', n.nspname, c.relname)) ORDER BY c.oid), '[]')::text \
         FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND c.relname::text ~ '_log$' AND pg_has_role(c.relowner, 'USAGE') AND {}",
        has_columns("c.oid", &columns)
    ))
}

/// Returns, as JSON, what a log says: of which call it is, and what was done last. Times are in
/// microseconds since 2000.
pub(crate) fn log((name, oid): Named<'_>) -> Statement {
    // Also of times that are infinite.
    let since = |time: &str| {
        format!(
            "CASE WHEN {time} IS NOT NULL THEN concat('x', encode(timestamptz_send({time}), 'hex'))::bit(64)::int8 END"
        )
    };
    Statement::new(format!(
        "SELECT jsonb_build_object('run', f.about->>'token', 'pairs', f.about->>'pairs', 'owner', (SELECT pg_get_userbyid(c.relowner) FROM pg_class c WHERE c.oid = {}), \
             'step', l.step, 'name', l.name, 'rows', l.rows, 'started', {}, 'noted', {}, \
             'status', CASE WHEN EXISTS (SELECT FROM pg_locks k WHERE k.locktype = 'object' AND k.granted AND k.classid = 'pg_class'::regclass \
                     AND k.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AND k.objid::text = f.about->>'lock') THEN 'running' \
                 WHEN f.about ? 'update' AND l.name = 'result' AND NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
                     WHERE format('%I.%I', n.nspname, c.relname) = f.about->>'pairs') THEN 'left over' \
                 WHEN l.name = 'result' AND f.about ? 'update' THEN 'kept' WHEN l.name = 'result' THEN 'done' ELSE 'waiting' END)::text \
         FROM ONLY {name} f, LATERAL (SELECT l.step, l.name, l.rows, l.finished FROM ONLY {name} l WHERE l.step IS NOT NULL ORDER BY l.step DESC LIMIT 1) l \
         WHERE f.step = 0 LIMIT 1",
        oid.to_u32(),
        since("f.started"),
        since("l.finished")
    ))
    .about([oid])
}

/// Counts the parts of a step that are done, by the OID and the name of their table.
pub(crate) fn parts_done((name, oid): Named<'_>, step: i64) -> Statement {
    Statement::new(format!("SELECT count(*) FROM ONLY {name} p WHERE p.step = $1 AND p.part >= 0"))
        .with([int8(step)])
        .about([oid])
}

/// Returns, as JSON, the commands that drop the working tables of a call; partitions go with their
/// tables.
pub(crate) fn drops(run: &str) -> Result<Statement> {
    Ok(Statement::new(format!(
        "SELECT COALESCE(jsonb_agg(concat('DROP ', CASE t.relkind WHEN 'f' THEN 'FOREIGN ' END, 'TABLE ', t.full_name)), '[]')::text \
         FROM ({}) t WHERE t.run = $1 AND NOT t.relispartition",
        tables("0")
    ))
    .with([text(run)?]))
}

/// A command.
pub(crate) fn command(sql: &str) -> Statement {
    Statement::new(sql)
}

/// Returns, as JSON, the names of the working tables of a call on a server. The token has
/// hexadecimal digits.
pub(crate) fn names_there(run: &str) -> String {
    format!(
        "SELECT COALESCE(pg_catalog.jsonb_agg(t.full_name), '[]'::pg_catalog.jsonb)::pg_catalog.text FROM ({}) t WHERE t.run OPERATOR(pg_catalog.=) '{run}'::pg_catalog.text",
        tables("0")
    )
}

/// Returns, as JSON, the names of the servers of postgres_fdw that are declared to have the
/// extension and for which the caller has a user mapping.
pub(crate) fn servers() -> Statement {
    Statement::new(
        "SELECT COALESCE(jsonb_agg(s.srvname ORDER BY s.srvname), '[]')::text \
         FROM pg_foreign_server s JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw \
         WHERE w.fdwname = 'postgres_fdw' AND EXISTS (SELECT FROM unnest(s.srvoptions) o WHERE o ~ '^extensions=(.*,)? *neardup *(,|$)') \
             AND EXISTS (SELECT FROM pg_user_mappings m WHERE m.srvid = s.oid AND m.umuser = ANY (ARRAY[0, (SELECT r.oid FROM pg_roles r WHERE r.rolname = current_user)]::oid[]))",
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

/// Drops tables on a worker that the coordinator does not know, and counts them.
pub(crate) fn drop_there(run: &str) -> String {
    let tables = tables("0").replace("(_[0-9]{1,5})?", "(_[0-9]{1,12})?");
    format!(
        "DO $neardup$ DECLARE of pg_catalog.text; BEGIN \
             PERFORM pg_catalog.set_config('citus.enable_manual_changes_to_shards', 'on', true); \
             FOR of IN SELECT t.full_name FROM ({tables}) t WHERE t.run OPERATOR(pg_catalog.=) '{run}'::pg_catalog.text LOOP \
                 EXECUTE pg_catalog.concat('DROP TABLE IF EXISTS ', of); \
             END LOOP; \
         END $neardup$"
    )
}
