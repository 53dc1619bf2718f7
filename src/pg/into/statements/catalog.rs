//! What the server's catalog says of the documents' servers, and of working tables.

use pgrx::pg_sys::Oid;

use crate::pg::jobs::statements::statement::{Statement, oid};

/// The servers of the partitions of a table, by their names, as JSON: the schema of the tables there, and whether the server is
/// said to have the extension.
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

/// The schema of an extension, as SQL text needs it; no row where it is not there.
pub(crate) fn schema_of_dblink() -> Statement {
    Statement::new(
        "SELECT quote_ident(n.nspname::text) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace \
         WHERE e.extname = 'dblink'",
    )
}

/// Numbers of relations as an array.
fn array(relations: &[Oid]) -> String {
    let numbers: Vec<String> = relations.iter().map(|relation| relation.to_u32().to_string()).collect();
    format!("'{{{}}}'::oid[]", numbers.join(","))
}

/// The number of a relation that is not a role's own, or that has rules, or is no table.
pub(crate) fn strange(relations: &[Oid], role: Oid) -> Statement {
    let relations = array(relations);
    let sql = format!(
        "SELECT c.oid::int8 FROM pg_class c WHERE c.oid = ANY ({relations}) \
         AND (c.relowner <> $1 OR c.relhasrules OR c.relrowsecurity OR c.relkind <> ALL ('{{r,p,f}}'::\"char\"[])) LIMIT 1"
    );
    Statement::new(sql).with([oid(role)])
}
