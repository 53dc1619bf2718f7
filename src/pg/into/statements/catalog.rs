//! Statements that read the server's catalog for the documents' servers and for working tables.

use pgrx::pg_sys::Oid;

use crate::pg::procedure::statement::{Statement, oid, oid_array, text};
use crate::pg::server::error::Result;

/// Returns the servers of the partitions of a table, ordered by name, as JSON: for each server its
/// name, the schema of the tables there, and whether the server is declared to have the extension.
pub(crate) fn servers(docs: Oid) -> Statement {
    let sql = "SELECT COALESCE(jsonb_agg(jsonb_build_object('name', f.server, 'schema', f.home, 'listed', f.listed) ORDER BY f.server), '[]')::text \
               FROM (SELECT s.srvname::text AS server, \
                       min(COALESCE((SELECT substr(o, 13) FROM unnest(t.ftoptions) o WHERE o LIKE 'schema\\_name=%'), n.nspname::text)) AS home, \
                       bool_and(EXISTS (SELECT FROM unnest(s.srvoptions) o WHERE o ~ '^extensions=(.*,)? *neardup *(,|$)')) AS listed \
                   FROM pg_partition_tree($1::regclass) p \
                       JOIN pg_foreign_table t ON t.ftrelid = p.relid \
                       JOIN pg_class c ON c.oid = t.ftrelid \
                       JOIN pg_namespace n ON n.oid = c.relnamespace \
                       JOIN pg_foreign_server s ON s.oid = t.ftserver \
                       JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw \
                   WHERE w.fdwname = 'postgres_fdw' GROUP BY s.srvname) f";
    Statement::new(sql).with([oid(docs)])
}

/// Reports whether the partitions of a table are exactly these.
pub(crate) fn has_partitions(table: Oid, partitions: &[Oid]) -> Statement {
    let partitions = oid_array(partitions);
    let sql = format!(
        "SELECT NOT EXISTS (SELECT FROM (SELECT i.inhrelid FROM pg_inherits i WHERE i.inhparent = $1) i \
         FULL JOIN unnest({partitions}) p(oid) ON p.oid = i.inhrelid WHERE i.inhrelid IS NULL OR p.oid IS NULL)"
    );
    Statement::new(sql).with([oid(table)])
}

/// Reports whether a foreign table refers to the table with this name and schema on this server of
/// postgres_fdw.
pub(crate) fn stands_for(foreign: Oid, server: &str, schema: &str, table: &str) -> Result<Statement> {
    let sql = "SELECT EXISTS (SELECT FROM pg_foreign_table t JOIN pg_foreign_server s ON s.oid = t.ftserver \
         JOIN pg_foreign_data_wrapper w ON w.oid = s.srvfdw \
         WHERE t.ftrelid = $1 AND w.fdwname = 'postgres_fdw' AND s.srvname = $2::name \
         AND concat('schema_name=', $3) = ANY (t.ftoptions) AND concat('table_name=', $4) = ANY (t.ftoptions))";
    Ok(Statement::new(sql).with([oid(foreign), text(server)?, text(schema)?, text(table)?]))
}

/// Reports whether the role has a user mapping for a server, or everybody has.
pub(crate) fn has_mapping(server: &str) -> Result<Statement> {
    let sql = "SELECT EXISTS (SELECT FROM pg_user_mappings m \
         WHERE m.srvname::text = $1 AND m.usename IN ('public'::name, CURRENT_USER))";
    Ok(Statement::new(sql).with([text(server)?]))
}
