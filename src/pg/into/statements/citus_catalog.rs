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
