//! Statements that ask the catalog of Citus how tables are distributed, and over which nodes.

use pgrx::pg_sys::Oid;

use crate::pg::procedure::statement::{Statement, oid, text};
use crate::pg::server::error::Result;

/// Reports whether a table is distributed by a column of the same type as a column of another
/// table.
pub(crate) fn is_spread_alike(docs: Oid, table: Oid, by: &str) -> Result<Statement> {
    Ok(Statement::new(
        "SELECT EXISTS (SELECT FROM pg_dist_partition p \
             JOIN pg_attribute d ON d.attrelid = p.logicalrelid AND d.attname = column_to_column_name(p.logicalrelid, p.partkey)::name \
             JOIN pg_attribute a ON a.attrelid = $2 AND a.attname = $3::name AND a.atttypid = d.atttypid AND a.attcollation = d.attcollation \
             WHERE p.logicalrelid = $1::regclass AND p.partmethod = 'h')",
    )
    .with([oid(docs), oid(table), text(by)?]))
}

/// Reports whether no two rows of a table in shards can have the same value in a column, because an
/// index forbids it. A row is in the shard of its value, and of each shard one snapshot is read.
pub(crate) fn is_unique(docs: Oid, column: i16) -> Statement {
    Statement::new(format!(
        "SELECT EXISTS (SELECT FROM pg_dist_partition p JOIN pg_index i ON i.indrelid = p.logicalrelid \
             WHERE p.logicalrelid = $1::regclass AND p.partmethod IN ('h', 'n') AND i.indisunique AND i.indisvalid AND i.indimmediate \
                 AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indnkeyatts = 1 AND i.indkey[0] = {column}::int2)"
    ))
    .with([oid(docs)])
}

/// Returns the number of nodes that have shards.
pub(crate) fn nodes() -> Statement {
    Statement::new("SELECT count(DISTINCT n.groupid) FROM pg_dist_node n WHERE n.shouldhaveshards")
}

/// Returns keys of a table that is distributed by an int4 or int8: as many keys as there are parts,
/// which belong to the shards in turn.
pub(crate) fn keys(table: Oid, parts: i64, shards: i64) -> Statement {
    let tried = 16 * parts + 32 * shards;
    Statement::new(format!(
        "SELECT array_agg(k.k ORDER BY k.nth, k.shard)::text FROM ( \
             SELECT k.k, k.shard, k.nth FROM (SELECT k.k, k.shard, row_number() OVER (PARTITION BY k.shard ORDER BY k.k) AS nth FROM ( \
                 SELECT k, get_shard_id_for_distribution_column('{}'::regclass, k::text) AS shard FROM generate_series(0, {tried}) k OFFSET 0) k) k \
             ORDER BY k.nth, k.shard LIMIT {parts}) k",
        table.to_u32()
    ))
}

/// Returns the names of the nodes that do not answer, or no row.
pub(crate) fn silent_nodes() -> Statement {
    Statement::new(
        "SELECT n.names FROM (SELECT string_agg(concat(n.nodename, ':', n.nodeport), ', ' ORDER BY n.nodename, n.nodeport) AS names FROM pg_dist_node n \
             WHERE n.noderole = 'primary' AND n.isactive AND NOT COALESCE(citus_check_connection_to_node(n.nodename, n.nodeport), false)) n \
         WHERE n.names IS NOT NULL",
    )
}

/// Reads the data that Citus has about a table, and about the schema of the result, as JSON; no row
/// for a table that Citus does not know.
pub(crate) fn layout(docs: Oid, home: Oid) -> Statement {
    Statement::new(
        "SELECT jsonb_build_object('method', p.partmethod, 'replication', p.repmodel, 'colocation', p.colocationid::int8, \
             'shards', (SELECT count(*) FROM pg_dist_shard s WHERE s.logicalrelid = p.logicalrelid), \
             'usual', current_setting('citus.shard_count')::int8, 'nodes', (SELECT count(DISTINCT n.groupid) FROM pg_dist_node n WHERE n.shouldhaveshards), \
             'schema_is_sharded', EXISTS (SELECT FROM pg_dist_schema s WHERE s.schemaid = c.relnamespace), \
             'home_is_sharded', EXISTS (SELECT FROM pg_dist_schema s WHERE s.schemaid = $2))::text \
         FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid WHERE p.logicalrelid = $1::regclass",
    )
    .with([oid(docs), oid(home)])
}

/// Returns the settings for the statements of a transaction. JIT compilation is off: nearly all
/// time is spent in functions, and compiling the code that calls them takes longer than it saves,
/// again on each connection. `kilobytes` is the memory for a sort, or for rows that come from other
/// nodes.
pub(crate) fn suited(kilobytes: usize) -> [Statement; 2] {
    [Statement::new("SET LOCAL jit = off"), Statement::new(format!("SET LOCAL work_mem = {kilobytes}"))]
}

/// Copies a table to all nodes.
pub(crate) fn to_all_nodes(table: Oid) -> Statement {
    Statement::new(format!("SELECT FROM create_reference_table('{}'::regclass)", table.to_u32()))
}

/// Reports whether Citus knows a table.
pub(crate) fn is_known(table: Oid) -> Statement {
    Statement::new("SELECT EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = $1::regclass)")
        .with([oid(table)])
}

/// Reports whether a table can be distributed by a column of this type.
pub(crate) fn is_hashable(by: Oid) -> Statement {
    Statement::new(
        "SELECT EXISTS (SELECT FROM pg_type t \
             JOIN pg_opclass o ON o.opcdefault AND (o.opcintype = t.oid OR o.opcintype = 'anyenum'::regtype AND t.typtype = 'e' \
                 OR o.opcintype = ANY ('{text,bpchar}'::regtype[]) AND t.typcategory = 'S') \
             JOIN pg_am m ON m.oid = o.opcmethod WHERE m.amname = 'hash' AND t.oid = $1)",
    )
    .with([oid(by)])
}

/// Returns the version of the extension on a node that has another version than the expected one.
pub(crate) fn other_version(schema: &str, expected: &str) -> Result<Statement> {
    let ask = format!(
        "SELECT pg_catalog.concat(v.library, ' ', pg_catalog.quote_ident(n.nspname::pg_catalog.text)) FROM {schema}.neardup_version() v, \
         pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace \
         WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name"
    );
    Ok(Statement::new(
        "SELECT concat(w.nodename, ':', w.nodeport, ': ', w.result) FROM run_command_on_workers($1) w \
         WHERE w.result IS DISTINCT FROM $2 LIMIT 1",
    )
    .with([text(&ask)?, text(expected)?]))
}
