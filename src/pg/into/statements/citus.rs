//! Statements on tables that Citus spreads over nodes. They are written so that it makes them where the rows are: each join and
//! each group is by the column that tables are spread by, and what goes elsewhere is an `INSERT … SELECT`, whose rows go from
//! node to node.
//!
//! A number `n` of a set is a hash of it, so that equal sets are in one place, and all numbers are known without a coordinator.

use pgrx::pg_sys::Oid;

use super::fill::{Join, Named};
use crate::into::step::Table;
use crate::joins::parts::token_set;
use crate::pg::into::columns::{Column, Type};
use crate::pg::into::documents::Documents;
use crate::pg::procedure::statement::{Statement, oid, text};
use crate::pg::request::example::literal;
use crate::pg::server::error::Result;

/// Bits of a number that is not negative.
const POSITIVE: &str = "9223372036854775807::int8";

/// What Citus knows of a table, and of the schema of the result, as JSON; no row of a table that it does not know.
pub(crate) fn layout(docs: Oid, home: Oid) -> Statement {
    Statement::new(
        "SELECT jsonb_build_object('method', p.partmethod, 'replication', p.repmodel, 'colocation', p.colocationid::int8, \
             'shards', (SELECT count(*) FROM pg_dist_shard s WHERE s.logicalrelid = p.logicalrelid), \
             'usual', LEAST(current_setting('citus.shard_count')::int8, 4 * (SELECT count(DISTINCT n.groupid) FROM pg_dist_node n WHERE n.shouldhaveshards)), \
             'schema_is_sharded', EXISTS (SELECT FROM pg_dist_schema s WHERE s.schemaid = c.relnamespace), \
             'home_is_sharded', EXISTS (SELECT FROM pg_dist_schema s WHERE s.schemaid = $2))::text \
         FROM pg_dist_partition p JOIN pg_class c ON c.oid = p.logicalrelid WHERE p.logicalrelid = $1::regclass",
    )
    .with([oid(docs), oid(home)])
}

/// What suits the statements of a transaction. No plan is compiled: nearly all time is spent in functions, and to compile what calls
/// these takes longer than it saves, anew on each connection. And so many kilobytes are for a sort, or for the rows that come from
/// elsewhere.
pub(crate) fn suited(kilobytes: usize) -> [Statement; 2] {
    [Statement::new("SET LOCAL jit = off"), Statement::new(format!("SET LOCAL work_mem = {kilobytes}"))]
}

/// Copies a table to all nodes.
pub(crate) fn to_all_nodes(table: Oid) -> Statement {
    Statement::new(format!("SELECT FROM create_reference_table('{}'::regclass)", table.to_u32()))
}

/// Whether Citus knows a table.
pub(crate) fn is_known(table: Oid) -> Statement {
    Statement::new("SELECT EXISTS (SELECT FROM pg_dist_partition p WHERE p.logicalrelid = $1::regclass)")
        .with([oid(table)])
}

/// Whether a table can be spread by a column of a type.
pub(crate) fn is_hashable(by: Oid) -> Statement {
    Statement::new(
        "SELECT EXISTS (SELECT FROM pg_type t \
             JOIN pg_opclass o ON o.opcdefault AND (o.opcintype = t.oid OR o.opcintype = 'anyenum'::regtype AND t.typtype = 'e' \
                 OR o.opcintype = ANY ('{text,bpchar}'::regtype[]) AND t.typcategory = 'S') \
             JOIN pg_am m ON m.oid = o.opcmethod WHERE m.amname = 'hash' AND t.oid = $1)",
    )
    .with([oid(by)])
}

/// Whether a table is spread by a column of the type of that one.
pub(crate) fn is_spread_alike(docs: Oid, table: Oid, by: &str) -> Result<Statement> {
    Ok(Statement::new(
        "SELECT EXISTS (SELECT FROM pg_dist_partition p \
             JOIN pg_attribute d ON d.attrelid = p.logicalrelid AND d.attname = column_to_column_name(p.logicalrelid, p.partkey)::name \
             JOIN pg_attribute a ON a.attrelid = $2 AND a.attname = $3::name AND a.atttypid = d.atttypid AND a.attcollation = d.attcollation \
             WHERE p.logicalrelid = $1::regclass AND p.partmethod = 'h')",
    )
    .with([oid(docs), oid(table), text(by)?]))
}

/// Keys of a table that is spread by an int4 or int8: as many as there are parts, of each shard in turn.
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

/// What a node says that has another version of the extension.
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

/// The column by which a working table is spread; none of what all nodes have.
pub(crate) fn spread_by(table: Table) -> Option<&'static str> {
    match table {
        Table::Sets | Table::Members | Table::Neighbours | Table::Clusters => Some("n"),
        Table::Larger | Table::Edges => Some("u"),
        Table::Routes => Some("part"),
        Table::Candidates => Some("l"),
        Table::Halves | Table::Pairs => Some("r"),
        Table::Ranks => None,
    }
}

/// The columns of a working table.
pub(crate) fn columns(table: Table) -> &'static [Column] {
    match table {
        // The first of those with an equal set has it.
        Table::Members => &[("n", Type::Int8), ("r", Type::Int8), ("id", Type::Id), ("set", Type::Set)],
        table => super::definitions::columns(table),
    }
}

/// The columns of a working table in which there is nothing to be compressed.
pub(crate) fn incompressible(table: Table) -> &'static [&'static str] {
    match table {
        Table::Routes => &["bitmap", "prefix"],
        Table::Sets | Table::Members | Table::Halves => &["set"],
        _ => &[],
    }
}

/// Makes a table that is to be spread. Rows that fit into a page stay in one piece: all that is there is read again and again, and
/// to put a set together from pieces takes longer than to read it.
pub(crate) fn create(name: &str, columns: &str) -> Statement {
    Statement::new(format!("CREATE UNLOGGED TABLE {name} ({columns}) WITH (toast_tuple_target = 8160)"))
}

/// Says that columns are not compressed, of a table that is not spread yet.
pub(crate) fn uncompressed(table: &str, columns: &[&str]) -> Vec<Statement> {
    let set = |column| format!("ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL");
    columns.iter().map(|column| Statement::new(set(column))).collect()
}

/// Numbers the shards by the keys of an array.
pub(crate) fn slots(slots: Named<'_>, keys: &str) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT k.key, k.nth - 1 FROM unnest({}::int8[]) WITH ORDINALITY k(key, nth)",
        slots.0,
        literal(keys)
    ))
    .about([slots.1])
}

/// The sets of the documents, cut where these are. It runs where the search path is that of the caller, as all reading of documents
/// does, and so names all with its schema. What all nodes have, each shard of `slots` reads a share of.
///
/// Each function of a row that is needed more than once is one of `FROM`, so that it is called once. The salt is known to nobody
/// beforehand, so that nobody makes sets of one number.
pub(crate) fn sets(
    table: &str,
    documents: &Documents,
    schema: &str,
    salt: i64,
    slots: Option<(&str, i64)>,
) -> String {
    let Documents { table: docs, id, set } = documents;
    let empty = token_set::HEADER;
    let (from, set) = match slots {
        None => (format!("{docs} AS d"), format!("ARRAY[{set}]")),
        // Before the document is cut.
        Some((slots, shards)) => (
            format!("{slots} AS o, {docs} AS d"),
            format!(
                "CASE WHEN (pg_catalog.hash_array_extended(ARRAY[{id}], 0::pg_catalog.int8) OPERATOR(pg_catalog.&) 9223372036854775807::pg_catalog.int8) \
                     OPERATOR(pg_catalog.%) {shards}::pg_catalog.int8 OPERATOR(pg_catalog.=) o.slot THEN ARRAY[{set}] END"
            ),
        ),
    };
    format!(
        "INSERT INTO {table} SELECT pg_catalog.hash_array_extended(ARRAY[g.digest], {salt}::pg_catalog.int8), {id}, \
             pg_catalog.octet_length(b.bytes), \
             CASE WHEN pg_catalog.octet_length(b.bytes) OPERATOR(pg_catalog.>) {empty} THEN g.digest END, t.set \
         FROM {from}, pg_catalog.unnest({set}) AS t(set), pg_catalog.unnest(ARRAY[{schema}.token_set_send(t.set)]) AS b(bytes), \
             pg_catalog.unnest(ARRAY[pg_catalog.sha256(b.bytes)]) AS g(digest)"
    )
}

/// The bytes of the columns of a row `t`.
fn size_of_row(columns: &[&str]) -> String {
    let sizes: Vec<String> = columns.iter().map(|column| format!("pg_column_size(t.{column})")).collect();
    sizes.join(" + ")
}

/// The bytes of the rows that went to where they are.
pub(crate) fn moved(table: Named<'_>, columns: &[&str]) -> Statement {
    let bytes = size_of_row(columns);
    Statement::new(format!("SELECT COALESCE(sum({bytes}), 0)::int8 FROM {} t", table.0)).about([table.1])
}

/// How many documents have no id, and the bytes of all rows.
pub(crate) fn null_ids(sets: Named<'_>) -> Statement {
    let bytes = size_of_row(&["n", "id", "bytes", "digest", "set"]);
    Statement::new(format!(
        "SELECT count(*) FILTER (WHERE t.id IS NULL), COALESCE(sum({bytes}), 0)::int8 FROM {} t",
        sets.0
    ))
    .about([sets.1])
}

/// How many numbers stand for more than one set.
pub(crate) fn collisions(sets: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT count(*) FROM (SELECT s.n FROM {} s WHERE s.digest IS NOT NULL GROUP BY s.n HAVING count(DISTINCT s.digest) > 1) s",
        sets.0
    ))
    .about([sets.1])
}

/// The ids by themselves.
pub(crate) fn ids(ids: Named<'_>, sets: Named<'_>) -> Statement {
    Statement::new(format!("INSERT INTO {} SELECT s.id FROM {} s", ids.0, sets.0)).about([ids.1, sets.1])
}

/// All documents that have tokens, by the number of their set, and numbered within that in the order of their ids.
pub(crate) fn members(members: Named<'_>, sets: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT s.n, row_number() OVER w, s.id, CASE WHEN row_number() OVER w = 1::int8 THEN s.set END \
         FROM {} s WHERE s.digest IS NOT NULL WINDOW w AS (PARTITION BY s.n ORDER BY s.id)",
        members.0, sets.0
    ))
    .about([members.1, sets.1])
}

/// How many sets there are.
pub(crate) fn distinct(members: Named<'_>) -> Statement {
    Statement::new(format!("SELECT count(*) FROM {} m WHERE m.r = 1::int8", members.0)).about([members.1])
}

/// A sample of so many sets, on one shard.
pub(crate) fn samples(samples: Named<'_>, members: Named<'_>, count: i64) -> Statement {
    const SAMPLE: i64 = 20_000;
    let each = (count / SAMPLE).max(1);
    Statement::new(format!(
        "INSERT INTO {} SELECT 0::int8, m.set FROM {} m WHERE m.r = 1::int8 AND (m.n & {POSITIVE}) % {each}::int8 = 0::int8",
        samples.0, members.0
    ))
    .about([samples.1, members.1])
}

/// The order of tokens of the sample: one value, which all nodes get.
pub(crate) fn ranks(join: &Join, ranks: Named<'_>, samples: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT {}.token_order(s.set, 200000::int4) FROM {} s WHERE s.k = 0::int8 GROUP BY s.k",
        ranks.0, join.schema, samples.0
    ))
    .about([ranks.1, samples.1])
}

/// The rows of the parts, each part by the key of a shard.
pub(crate) fn routes(
    join: &Join,
    routes: Named<'_>,
    [members, ranks]: [Named<'_>; 2],
    keys: Option<&str>,
) -> Statement {
    let groups = join.groups("m.set");
    let part = keys.map_or("g.part".to_owned(), |keys| format!("({}::int4[])[g.part + 1]", literal(keys)));
    Statement::new(format!(
        "INSERT INTO {} SELECT {part}, m.n, g.size, g.bitmap, g.prefix \
         FROM {} m, {} o, {groups} g WHERE m.r = 1::int8",
        routes.0, members.0, ranks.0
    ))
    .about([routes.1, members.1, ranks.1])
}

/// What may be similar, as it is found in each part, which is where it stays.
pub(crate) fn joined(join: &Join, joined: Named<'_>, routes: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT p.part, {} FROM {} p GROUP BY p.part",
        joined.0,
        join.joined(),
        routes.0
    ))
    .about([joined.1, routes.1])
}

/// How many that are.
pub(crate) fn count_joined(joined: Named<'_>) -> Statement {
    Statement::new(format!("SELECT COALESCE(sum(cardinality(j.ids) / 2), 0)::int8 FROM {} j", joined.0))
        .about([joined.1])
}

/// The same pair by pair, to where the set of the first of both is; one may come from several parts.
pub(crate) fn candidates(join: &Join, candidates: Named<'_>, joined: Named<'_>) -> Statement {
    let Join { schema, internal, .. } = join;
    Statement::new(format!(
        "INSERT INTO {} SELECT c.left_id, c.right_id FROM {} j, {schema}.neardup_candidate_pairs(j.ids{internal}) c",
        candidates.0, joined.0
    ))
    .about([candidates.1, joined.1])
}

/// How many they are, each once.
pub(crate) fn distinct_candidates(candidates: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT COALESCE(sum(c.count), 0)::int8 FROM (SELECT c.l, count(DISTINCT c.r) AS count FROM {} c GROUP BY c.l) c",
        candidates.0
    ))
    .about([candidates.1])
}

/// The candidates of a round, each once, with the set of the first of both.
pub(crate) fn halves(
    halves: Named<'_>,
    [candidates, members]: [Named<'_>; 2],
    (round, rounds): (i64, i64),
) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT c.l, c.r, m.set FROM (SELECT DISTINCT c.l, c.r FROM {} c \
             WHERE ((c.l # c.r) & {POSITIVE}) % {rounds}::int8 = {round}::int8) c JOIN {} m ON m.n = c.l WHERE m.r = 1::int8",
        halves.0, candidates.0, members.0
    ))
    .about([halves.1, candidates.1, members.1])
}

/// Those of a round that are similar.
pub(crate) fn pairs(join: &Join, pairs: Named<'_>, [halves, members]: [Named<'_>; 2]) -> Statement {
    let Join { schema, measure, threshold, .. } = join;
    let similarity = format!("{schema}.token_similarity(h.set, m.set, {measure})");
    Statement::new(format!(
        "INSERT INTO {} SELECT h.l, h.r, {similarity} FROM {} h JOIN {} m ON m.n = h.r WHERE m.r = 1::int8 AND {similarity} >= {threshold}",
        pairs.0, halves.0, members.0
    ))
    .about([pairs.1, halves.1, members.1])
}

/// How many pairs documents with equal sets make.
pub(crate) fn equal(members: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT LEAST(COALESCE(sum(m.pairs), 0), 9223372036854775807)::int8 \
         FROM (SELECT count(*)::numeric * (count(*)::numeric - 1) / 2 AS pairs FROM {} m GROUP BY m.n HAVING count(*) > 1) m",
        members.0
    ))
    .about([members.1])
}

/// Pairs of sets, with how many documents have the right one.
pub(crate) fn count_right(named: Named<'_>, [pairs, members]: [Named<'_>; 2]) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT p.l, b.count FROM {} p JOIN (SELECT m.n, count(*) AS count FROM {} m GROUP BY m.n) b ON b.n = p.r",
        named.0, pairs.0, members.0
    ))
    .about([named.1, pairs.1, members.1])
}

/// How many pairs of documents these are.
pub(crate) fn count_both(named: Named<'_>, members: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT LEAST(COALESCE(sum(x.count::numeric * a.count::numeric), 0), 9223372036854775807)::int8 \
         FROM {} x JOIN (SELECT m.n, count(*) AS count FROM {} m GROUP BY m.n) a ON a.n = x.l",
        named.0, members.0
    ))
    .about([named.1, members.1])
}

/// Pairs of sets, for each document that has the right one.
pub(crate) fn name_right(named: Named<'_>, [pairs, members]: [Named<'_>; 2]) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT p.l, b.id, p.similarity FROM {} p JOIN {} b ON b.n = p.r",
        named.0, pairs.0, members.0
    ))
    .about([named.1, pairs.1, members.1])
}

/// The pairs of documents of which these are, the lesser id first.
pub(crate) fn name_both(result: Named<'_>, [named, members]: [Named<'_>; 2]) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT LEAST(a.id, x.id), GREATEST(a.id, x.id), x.similarity FROM {} x JOIN {} a ON a.n = x.l",
        result.0, named.0, members.0
    ))
    .about([result.1, named.1, members.1])
}

/// The pairs of documents that have equal sets.
pub(crate) fn name_equal(result: Named<'_>, members: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT LEAST(a.id, b.id), GREATEST(a.id, b.id), 1::float8 FROM {} a JOIN {} b ON b.n = a.n WHERE a.r < b.r",
        result.0, members.0, members.0
    ))
    .about([result.1, members.1])
}
