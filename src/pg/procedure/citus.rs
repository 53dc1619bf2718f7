//! Statements that ask Citus how a relation is distributed, and that distribute tables.

use pgrx::pg_sys::Oid;

use super::statement::{Statement, int8, oid};
use crate::pg::request::example::literal;
use crate::pg::server::error::Result;

/// Reports whether Citus is installed in a version that has everything these statements need.
pub(crate) fn is_there() -> Statement {
    Statement::new(
        "SELECT EXISTS (SELECT FROM pg_extension e WHERE e.extname = 'citus') \
         AND to_regclass('pg_catalog.pg_dist_partition') IS NOT NULL AND to_regclass('pg_catalog.pg_dist_schema') IS NOT NULL",
    )
}

/// Distributes a table by the column `by` or, without a column, on a single node. The table is
/// colocated with the table `like` or, without such a table, has `shards` shards.
pub(crate) fn distribute(table: Oid, by: Option<&str>, like: Option<&str>, shards: i64) -> Result<Statement> {
    let by = by.map_or("NULL".to_owned(), literal);
    let how = match like {
        Some(like) => format!("colocate_with => {}", literal(like)),
        None => format!("colocate_with => 'none', shard_count => {shards}::int4"),
    };
    Ok(Statement::new(format!(
        "SELECT FROM create_distributed_table('{}'::regclass, {by}::text, {how})",
        table.to_u32()
    )))
}

/// Returns true if a relation is distributed by the column with this number, and the column has
/// exactly this type and not a domain over it. Returns false if the relation is on a single node,
/// and no row if neither is the case. Also returns no row if the whole schema of the relation is on
/// a single node: a function can make no tables in such a schema, nor tables elsewhere that are
/// colocated with the relation.
pub(crate) fn home(docs: Oid, column: i16, of: Oid) -> Statement {
    Statement::new(
        "SELECT p.partmethod = 'h' FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid \
         WHERE p.logicalrelid = $1::regclass AND p.repmodel = 's' AND p.colocationid > 0 AND CASE p.partmethod \
             WHEN 'h' THEN EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = $1 AND a.attnum = $2 AND a.atttypid = $3 \
                 AND a.attname = column_to_column_name(p.logicalrelid, p.partkey)::name) \
             WHEN 'n' THEN NOT EXISTS (SELECT FROM pg_dist_schema s WHERE s.schemaid = c.relnamespace) \
             ELSE false END",
    )
    .with([oid(docs), int8(column.into()), oid(of)])
}

/// Reports whether a table is colocated with a relation, and is distributed by its ids or is on a
/// single node.
pub(crate) fn is_beside(docs: Oid, table: Oid) -> Statement {
    Statement::new(
        "SELECT EXISTS (SELECT FROM pg_dist_partition d JOIN pg_dist_partition t USING (colocationid, partmethod, repmodel) \
         WHERE d.logicalrelid = $1::regclass AND t.logicalrelid = $2::regclass AND d.colocationid > 0 \
         AND (t.partkey IS NULL OR column_to_column_name(t.logicalrelid, t.partkey) = 'id'))",
    )
    .with([oid(docs), oid(table)])
}
