//! Statements that take the steps of a call on a sample of the documents, which is a parameter, and
//! those that say where documents are.

use pgrx::pg_sys::Oid;

use super::join::{JoinStatements, NOTHING_COUNTED};
use crate::pg::into::statements::join::DocumentColumns;
use crate::pg::procedure::statement::{Statement, oid};
use crate::pg::query::Parameter;
use crate::pg::query::as_user::INTERNAL;

/// Reads the hashes, the lengths of the texts, and the sets of the documents whose hash is below a
/// limit. Runs with the search path of the caller, like all reading of documents. `text` is the SQL
/// expression for the text, if its length matters, and `parted` says that partitions matter.
pub(crate) fn sample(
    documents: &DocumentColumns,
    hash: &str,
    below: i64,
    text: Option<&str>,
    parted: bool,
) -> String {
    let DocumentColumns { table, set, .. } = documents;
    let length = text.map_or_else(
        || "0::pg_catalog.int4".to_owned(),
        |text| format!("pg_catalog.octet_length({text}::pg_catalog.text)"),
    );
    let partition = if parted { "d.tableoid" } else { "0::pg_catalog.oid" };
    format!(
        "SELECT {hash}, {length}, {partition}, {set} FROM {table} AS d WHERE {hash} OPERATOR(pg_catalog.<) {below}::pg_catalog.int8"
    )
}

/// Reads the texts of some documents into an array. Runs with the search path of the caller.
pub(crate) fn texts(table: &str, document: &str, hash: &str, below: i64) -> String {
    format!(
        "SELECT pg_catalog.array_agg(s.t) FROM (SELECT {document} AS t FROM {table} AS d \
         WHERE {hash} OPERATOR(pg_catalog.<) {below}::pg_catalog.int8 AND pg_catalog.octet_length({document}) OPERATOR(pg_catalog.<) 1000000 LIMIT 1000) s"
    )
}

/// Makes the sets of texts in an array, and returns the number of the texts and of their bytes.
/// `set` is the SQL expression for the set of `document`.
pub(crate) fn cut(set: &str, document: &str, texts: Parameter) -> Option<Statement> {
    let of_text = set.replace(document, "x.t");
    (of_text != set).then(|| {
        Statement::new(format!(
            "SELECT count(*) FROM (SELECT {of_text} AS set FROM unnest($1) x(t) OFFSET 0) s WHERE s.set IS NOT NULL"
        ))
        .with([texts])
    })
}

/// Makes the order of tokens.
pub(crate) fn ranks(join: &JoinStatements, sets: Parameter) -> Statement {
    Statement::new(format!("SELECT {} FROM unnest($1) s(set)", join.counted())).with([sets])
}

/// Returns what is counted of no documents.
pub(crate) fn no_ranks() -> Statement {
    Statement::new(format!("SELECT {NOTHING_COUNTED}"))
}

/// Returns the query for the rows of the parts, by the parameters: the sets, and their order.
fn routes(join: &JoinStatements) -> String {
    format!(
        "SELECT g.part, s.n, g.size, g.bitmap, g.prefix FROM unnest($1) WITH ORDINALITY s(set, n), (SELECT $2 AS ranks) o, {} g",
        join.rows("s.set")
    )
}

/// Returns the query for the candidates of the parts.
fn candidates(join: &JoinStatements) -> String {
    format!(
        "SELECT c.left_id, c.right_id FROM (SELECT {} AS ids FROM ({} OFFSET 0) p GROUP BY p.part) j, {INTERNAL}.neardup_part_candidates(j.ids{}) c",
        join.joined(),
        routes(join),
        join.internal
    )
}

/// Counts the rows of the parts, and the bytes of their values.
pub(crate) fn count_routes(join: &JoinStatements, sample: [Parameter; 2]) -> Statement {
    Statement::new(format!(
        "SELECT count(*), COALESCE(sum(octet_length(p.bitmap) + octet_length(p.prefix)), 0)::int8 FROM ({} OFFSET 0) p",
        routes(join)
    ))
    .with(sample)
}

/// Counts the candidates, as parts give them and distinct ones.
pub(crate) fn count_candidates(join: &JoinStatements, sample: [Parameter; 2]) -> Statement {
    Statement::new(format!(
        "SELECT COALESCE(sum(x.count), 0)::int8, count(*) FROM (SELECT count(*) AS count FROM ({}) c GROUP BY c.left_id, c.right_id) x",
        candidates(join)
    ))
    .with(sample)
}

/// Returns one of `each` distinct candidates, as two arrays.
pub(crate) fn some_candidates(join: &JoinStatements, sample: [Parameter; 2], each: i64) -> Statement {
    Statement::new(format!(
        "SELECT array_agg(c.left_id), array_agg(c.right_id) FROM (SELECT DISTINCT c.left_id, c.right_id FROM ({}) c \
         WHERE (c.left_id * 31 + c.right_id) % {each}::int8 = 0::int8) c",
        candidates(join)
    ))
    .with(sample)
}

/// Compares candidates so many times, and counts the comparisons and the pairs among them. The
/// parameters are the sets, their order, and the candidates as two arrays.
pub(crate) fn compare(join: &JoinStatements, sample: [Parameter; 4], times: i64) -> Statement {
    let similarity = join.similarity(["a.set", "b.set"]);
    Statement::new(format!(
        "WITH s AS MATERIALIZED (SELECT s.set, s.n FROM unnest($1) WITH ORDINALITY s(set, n)), o AS MATERIALIZED (SELECT $2 AS ranks) \
         SELECT count(*), count(*) FILTER (WHERE {similarity} IS NOT NULL) FROM unnest($3, $4) c(l, r) JOIN s a ON a.n = c.l JOIN s b ON b.n = c.r, o, \
             generate_series(1, {times}::int8)"
    ))
    .with(sample)
}

/// Returns a query that counts the rows of all partitions of a table, each where it is; no row if
/// the caller may not read them all.
pub(crate) fn counts(docs: Oid) -> Statement {
    Statement::new(
        "SELECT concat('SELECT (', string_agg(format('(SELECT pg_catalog.count(*) FROM %I.%I)', n.nspname, c.relname), ' OPERATOR(pg_catalog.+) '), ')::pg_catalog.int8') \
         FROM pg_partition_tree($1::regclass) p JOIN pg_class c ON c.oid = p.relid JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE p.isleaf HAVING bool_and(has_table_privilege(c.oid, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE'))",
    )
    .with([oid(docs)])
}

/// Returns, as JSON, the server of each partition of a table that is a foreign table.
pub(crate) fn servers_of_partitions(docs: Oid) -> Statement {
    Statement::new(
        "SELECT COALESCE(jsonb_agg(jsonb_build_array(p.relid::oid::int8, s.srvname)), '[]')::text \
         FROM pg_partition_tree($1::regclass) p JOIN pg_foreign_table t ON t.ftrelid = p.relid JOIN pg_foreign_server s ON s.oid = t.ftserver",
    )
    .with([oid(docs)])
}

/// Returns, as JSON, the name of each node of Citus that has shards, and the size of the shards of
/// a table there.
pub(crate) fn nodes_of_shards(docs: Oid) -> Statement {
    Statement::new(
        "SELECT COALESCE(jsonb_agg(jsonb_build_array(concat(n.nodename, ':', n.nodeport), COALESCE(s.bytes, 0)::int8, n.shouldhaveshards) ORDER BY n.nodename, n.nodeport), '[]')::text \
         FROM pg_dist_node n LEFT JOIN (SELECT c.nodename, c.nodeport, sum(c.shard_size) AS bytes FROM citus_shards c \
             WHERE c.table_name IN (SELECT $1::regclass UNION ALL SELECT p.relid FROM pg_partition_tree($1::regclass) p) GROUP BY c.nodename, c.nodeport) s USING (nodename, nodeport) \
         WHERE n.noderole = 'primary' AND (n.shouldhaveshards OR s.bytes > 0)",
    )
    .with([oid(docs)])
}
