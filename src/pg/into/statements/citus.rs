//! Statements on tables that Citus distributes over nodes. They are written so that Citus runs them
//! where the rows are: each join and each group is by the column by which tables are distributed,
//! and rows that go elsewhere are moved by an `INSERT … SELECT` from node to node.
//!
//! The number `n` of a set is a hash of the set, so that equal sets are in one place, and all
//! numbers are known without a coordinator.

use pgrx::pg_sys::Oid;

use super::fill::{Join, Named};
use crate::into::step::Table;
use crate::pg::into::columns::{Column, Type};
use crate::pg::into::documents::Documents;
use crate::pg::procedure::statement::{Statement, oid, text};
use crate::pg::query::as_user::INTERNAL;
use crate::pg::request::example::literal;
use crate::pg::server::error::Result;

/// The bits of a number that is not negative.
pub(super) const POSITIVE: &str = "9223372036854775807::int8";

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

/// Returns the column by which a working table is distributed, or None for a table that all nodes
/// have.
pub(crate) fn spread_by(table: Table) -> Option<&'static str> {
    match table {
        Table::Sets | Table::Members | Table::Neighbours | Table::Clusters => Some("n"),
        Table::Larger | Table::Edges => Some("u"),
        Table::Routes | Table::Routed => Some("part"),
        Table::Stored => Some("n"),
        Table::Seen | Table::Changes | Table::Known => Some("id"),
        Table::Candidates => Some("l"),
        Table::Halves | Table::Pairs => Some("r"),
        Table::Ranks => None,
    }
}

/// Returns the columns of a working table. `members_have_sets` says that the sets are moved to
/// where the members are.
pub(crate) fn columns(table: Table, members_have_sets: bool) -> &'static [Column] {
    match table {
        // Which of two documents has the lesser id may matter.
        Table::Halves => &[("l", Type::Int8), ("r", Type::Int8), ("id", Type::Id), ("set", Type::Bytea)],
        // Only the first of the documents with an equal set stores the set.
        Table::Members if members_have_sets => {
            &[("n", Type::Int8), ("r", Type::Int8), ("id", Type::Id), ("set", Type::Bytea)]
        }
        table => super::definitions::columns(table),
    }
}

/// Returns the columns of a working table whose values cannot be compressed further.
pub(crate) fn incompressible(table: Table) -> &'static [&'static str] {
    match table {
        Table::Routes | Table::Routed => &["bitmap", "prefix"],
        Table::Sets | Table::Halves | Table::Stored => &["set"],
        _ => &[],
    }
}

/// Makes a table that is to be distributed, whose rows are kept after a crash of a node. Rows that
/// fit into a page are stored in one piece: all rows are read again and again, and assembling a set
/// from pieces takes longer than reading it. Nobody updates its rows, and it is dropped soon, so
/// that it is not to be vacuumed.
pub(crate) fn create(name: &str, columns: &str) -> Statement {
    Statement::new(format!(
        "CREATE TABLE {name} ({columns}) WITH (toast_tuple_target = 8160, autovacuum_enabled = false)"
    ))
}

/// Turns off compression for columns of a table that is not distributed yet.
pub(crate) fn uncompressed(table: &str, columns: &[&str]) -> Vec<Statement> {
    let set = |column| format!("ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL");
    columns.iter().map(|column| Statement::new(set(column))).collect()
}

/// Inserts the keys of an array, one key for each shard, with numbers that start at 0.
pub(crate) fn slots(slots: Named<'_>, keys: &str) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT k.key, k.nth - 1 FROM unnest({}::int8[]) WITH ORDINALITY k(key, nth)",
        slots.0,
        literal(keys)
    ))
    .about([slots.1])
}

/// Inserts the sets of the documents, which are cut into tokens where they are stored. Runs with
/// the search path of the caller, like all reading of documents, and so qualifies all names with
/// their schemas. If all nodes have the documents, each shard of `slots` reads a share of them.
///
/// A function whose result is needed more than once for a row is called in a subquery that unnests
/// an array of one value: the planner does not merge such a subquery into its query, so the
/// function is called once. Nobody knows the salt beforehand, so nobody can make sets with the same
/// number. `of` is a condition for the documents, or empty. Sets that are similar to no other one
/// are stored only if `keeps_empty` is set.
pub(crate) fn sets(
    table: &str,
    documents: &Documents,
    (salt, id_bytes, keeps_empty): (i64, IdBytes, bool),
    slots: Option<(&str, i64)>,
    of: &str,
) -> String {
    let Documents { table: docs, id, set, .. } = documents;
    let has_some = "g.bytes OPERATOR(pg_catalog.>) 0";
    let (from, set) = match slots {
        None => (format!("{docs} AS d"), format!("ARRAY[{set}]")),
        // The test of the slot comes first, so that only one shard cuts a document into tokens.
        Some((slots, shards)) => (
            format!("{slots} AS o, {docs} AS d"),
            format!(
                "CASE WHEN (pg_catalog.hash_array_extended(ARRAY[{id}], 0::pg_catalog.int8) OPERATOR(pg_catalog.&) 9223372036854775807::pg_catalog.int8) \
                     OPERATOR(pg_catalog.%) {shards}::pg_catalog.int8 OPERATOR(pg_catalog.=) o.slot THEN ARRAY[{set}] END"
            ),
        ),
    };
    let digest = digest(&match id_bytes {
        IdBytes::Hash => format!(
            "pg_catalog.int8send(pg_catalog.hash_array_extended(ARRAY[t.id], {salt}::pg_catalog.int8))"
        ),
        IdBytes::Sent => "pg_catalog.array_send(ARRAY[t.id])".to_owned(),
    });
    let stored = if keeps_empty { "g.set" } else { &format!("CASE WHEN {has_some} THEN g.set END") };
    format!(
        "INSERT INTO {table} SELECT pg_catalog.hash_array_extended(ARRAY[g.digest], {salt}::pg_catalog.int8), g.id, \
             g.bytes, CASE WHEN {has_some} THEN g.digest END, {stored} \
         FROM (SELECT t.id, t.set, pg_catalog.octet_length(t.set) AS bytes, pg_catalog.unnest(ARRAY[{digest}]) AS digest \
             FROM (SELECT {id} AS id, pg_catalog.unnest({set}) AS set FROM {from}{of}) AS t) AS g"
    )
}

/// The bytes that distinguish an id.
#[derive(Debug, Clone, Copy)]
pub(crate) enum IdBytes {
    /// A salted hash. It is immutable, which a statement on a single shard has to be.
    Hash,
    /// The bytes that are sent, for types that have no hash.
    Sent,
}

/// Returns the SQL expression for the digest of a carried document `t.set`. A document that is not
/// similar to those with the same bytes has one of its own, made with the bytes of its id: volatile
/// functions would pass all rows to the coordinator.
fn digest(id: &str) -> String {
    format!(
        "CASE WHEN pg_catalog.octet_length(t.set) OPERATOR(pg_catalog.=) 0 THEN t.set \
             WHEN pg_catalog.get_byte(t.set, 0) OPERATOR(pg_catalog.=) 1 THEN pg_catalog.sha256(t.set) \
             ELSE pg_catalog.sha256(pg_catalog.decode('02', 'hex') OPERATOR(pg_catalog.||) pg_catalog.sha256(t.set) \
                 OPERATOR(pg_catalog.||) {id}) END"
    )
}

/// Returns the SQL expression for the size in bytes of these columns of a row `t`.
fn size_of_row(columns: &[Column]) -> String {
    let fixed = |of: Type| match of {
        Type::Int4 => 4,
        Type::Int8 | Type::Float8 => 8,
        _ => 0,
    };
    let sum: i32 = columns.iter().map(|&(_, of)| fixed(of)).sum();
    let others = columns.iter().filter(|&&(_, of)| fixed(of) == 0);
    let others = others.map(|(name, _)| format!(" + pg_column_size(t.{name})"));
    format!("{sum}{}", others.collect::<String>())
}

/// Returns the number of bytes of the rows that were moved into a table.
pub(crate) fn moved(table: Named<'_>, columns: &[Column]) -> Statement {
    let bytes = size_of_row(columns);
    Statement::new(format!("SELECT COALESCE(sum({bytes}), 0)::int8 FROM {} t", table.0)).about([table.1])
}

/// Reports what is to be known of the sets, in one pass: the number of documents without an id, the
/// bytes of all rows, the bytes of all sets and of the largest one, and the number of numbers that
/// more than one set has. Digests are told apart by another hash, whose 64 bits are as unlikely to
/// be equal by chance as those of the numbers.
pub(crate) fn check_sets(sets: Named<'_>) -> Statement {
    let moved = size_of_row(columns(Table::Sets, false));
    let digest = "(hash_array_extended(ARRAY[t.digest], 1::int8)) FILTER (WHERE t.digest IS NOT NULL)";
    Statement::new(format!(
        "SELECT COALESCE(sum(s.nulls), 0)::int8, COALESCE(sum(s.moved), 0)::int8, COALESCE(sum(s.bytes), 0)::int8, \
             COALESCE(max(s.largest), 0)::int8, count(*) FILTER (WHERE s.least <> s.greatest) \
         FROM (SELECT count(*) FILTER (WHERE t.id IS NULL) AS nulls, sum({moved}) AS moved, sum(t.bytes) AS bytes, \
             max(t.bytes) AS largest, bit_and{digest} AS least, bit_or{digest} AS greatest FROM {} t GROUP BY t.n) s",
        sets.0
    ))
    .about([sets.1])
}

/// Counts the numbers that more than one set has.
pub(crate) fn collisions(sets: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT count(*) FROM (SELECT s.n FROM {} s WHERE s.digest IS NOT NULL GROUP BY s.n HAVING count(DISTINCT s.digest) > 1) s",
        sets.0
    ))
    .about([sets.1])
}

/// Copies the ids to a table of their own.
pub(crate) fn ids(ids: Named<'_>, sets: Named<'_>) -> Statement {
    Statement::new(format!("INSERT INTO {} SELECT s.id FROM {} s", ids.0, sets.0)).about([ids.1, sets.1])
}

/// Inserts all documents that have tokens, by the number of their set. Documents with the same set
/// are numbered in the order of their ids; the first one has the set, if members have sets.
pub(crate) fn members(members: Named<'_>, sets: Named<'_>, have_sets: bool) -> Statement {
    let set = if have_sets { ", CASE WHEN row_number() OVER w = 1::int8 THEN s.set END" } else { "" };
    Statement::new(format!(
        "INSERT INTO {} SELECT s.n, row_number() OVER w, s.id{set} \
         FROM {} s WHERE s.digest IS NOT NULL WINDOW w AS (PARTITION BY s.n ORDER BY s.id)",
        members.0, sets.0
    ))
    .about([members.1, sets.1])
}

/// Removes the sets of all documents but the first one of those with the same set, so that each set
/// is there once. Ids are compared as arrays, whose operator is in `pg_catalog` for any type.
pub(crate) fn keep_one_each(sets: Named<'_>, members: Named<'_>) -> Statement {
    Statement::new(format!(
        "UPDATE {} s SET set = NULL FROM {} m WHERE m.n = s.n AND ARRAY[m.id] = ARRAY[s.id] AND m.r > 1::int8",
        sets.0, members.0
    ))
    .about([sets.1, members.1])
}

/// Counts the distinct sets.
pub(crate) fn distinct(sets: Named<'_>) -> Statement {
    Statement::new(format!("SELECT count(*) FROM {} m WHERE m.{IS_FIRST}", sets.0)).about([sets.1])
}

/// The condition, behind the name of a table that has sets, that a document with tokens is the
/// first one of those with the same set: only that one has the set.
pub(super) const IS_FIRST: &str = "set IS NOT NULL";

/// Moves a sample of the distinct sets to one shard. `count` is the number of distinct sets.
pub(crate) fn samples(samples: Named<'_>, sets: Named<'_>, count: i64) -> Statement {
    const SAMPLE: i64 = 20_000;
    // Of few documents a small part is enough: to count it takes one processor.
    let each = (count / SAMPLE).max((count / 2_500).clamp(1, 8));
    Statement::new(format!(
        "INSERT INTO {} SELECT 0::int8, m.set FROM {} m WHERE m.{IS_FIRST} AND (m.n & {POSITIVE}) % {each}::int8 = 0::int8",
        samples.0, sets.0
    ))
    .about([samples.1, sets.1])
}

/// Moves the terms of all documents to one shard.
pub(crate) fn all_terms(samples: Named<'_>, sets: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT 0::int8, s.set FROM {} s WHERE s.set IS NOT NULL",
        samples.0, sets.0
    ))
    .about([samples.1, sets.1])
}

/// Makes the order of tokens from the sample, or what the method counts of the terms: a single
/// value, which all nodes get.
pub(crate) fn ranks(join: &Join, ranks: Named<'_>, samples: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT {} FROM {} s WHERE s.k = 0::int8 GROUP BY s.k",
        ranks.0,
        join.counted(),
        samples.0
    ))
    .about([ranks.1, samples.1])
}

/// Makes the rows of the parts. Each part has a key, which determines its shard.
pub(crate) fn routes(
    join: &Join,
    routes: Named<'_>,
    [sets, ranks]: [Named<'_>; 2],
    keys: Option<&str>,
) -> Statement {
    let rows = join.rows("m.set");
    let part = keys.map_or("g.part".to_owned(), |keys| format!("({}::int4[])[g.part + 1]", literal(keys)));
    Statement::new(format!(
        "INSERT INTO {} SELECT {part}, m.n, g.size, g.bitmap, g.prefix \
         FROM {} m, {} o, {rows} g WHERE m.{IS_FIRST}",
        routes.0, sets.0, ranks.0
    ))
    .about([routes.1, sets.1, ranks.1])
}

/// Finds candidates in each part. The candidates stay where the part is. `routes` is a table or a
/// query, with the relations that it reads.
pub(crate) fn joined(join: &Join, joined: Named<'_>, routes: (&str, &[Oid])) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT p.part, {} FROM {} p GROUP BY p.part",
        joined.0,
        join.joined(),
        routes.0
    ))
    .about([&[joined.1], routes.1].concat())
}

/// Counts the candidates that [`joined`] found.
pub(crate) fn count_joined(joined: Named<'_>) -> Statement {
    Statement::new(format!("SELECT COALESCE(sum(cardinality(j.ids) / 2), 0)::int8 FROM {} j", joined.0))
        .about([joined.1])
}

/// Moves the candidates, pair by pair, to where the left set of the pair is. A pair may come from
/// several parts.
pub(crate) fn candidates(join: &Join, candidates: Named<'_>, joined: Named<'_>) -> Statement {
    let internal = &join.internal;
    Statement::new(format!(
        "INSERT INTO {} SELECT c.left_id, c.right_id FROM {} j, {INTERNAL}.neardup_part_candidates(j.ids{internal}) c",
        candidates.0, joined.0
    ))
    .about([candidates.1, joined.1])
}

/// Counts the distinct candidates.
pub(crate) fn distinct_candidates(candidates: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT COALESCE(sum(c.count), 0)::int8 FROM (SELECT c.l, count(DISTINCT c.r) AS count FROM {} c GROUP BY c.l) c",
        candidates.0
    ))
    .about([candidates.1])
}
