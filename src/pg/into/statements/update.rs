//! Statements that bring a result up to date: they find the documents that are new, have changed or
//! are gone, give new documents numbers above those of known ones, and change a table into another
//! one by their differences. `eq` is the equality operator of ids.

use pgrx::pg_sys::Oid;

use super::definitions::first_number;
use super::fill::{Join, Named, digest};
use crate::pg::into::documents::Documents;
use crate::pg::procedure::statement::{Statement, int8};

/// The number of documents whose texts are asked for at a time.
const BATCH: i64 = 10_000;

/// Returns the least number of a document that call `n` read, counted from 0.
pub(crate) fn first_of_call(n: i64) -> i64 {
    first_number(n)
}

/// Changes a setting until the end of the transaction, for a query of the caller.
pub(crate) fn set_for_query(name: &str, value: &str) -> String {
    format!("SELECT pg_catalog.set_config('{name}', '{value}', true)")
}

/// Inserts the ids of all documents, and a hash of what is compared of each. Runs with the search
/// path of the caller, like all reading of documents. If `grouped` is set, servers compute the
/// hashes, because only groups are computed there.
pub(crate) fn seen(table: &str, documents: &Documents, grouped: bool) -> String {
    let Documents { table: docs, id, hash, .. } = documents;
    if grouped {
        return format!(
            "INSERT INTO {table} SELECT {id}, {hash}, pg_catalog.count(*) FROM {docs} AS d GROUP BY {id}, {hash}"
        );
    }
    format!("INSERT INTO {table} SELECT {id}, {hash}, 1::pg_catalog.int8 FROM {docs} AS d")
}

/// Counts the documents without an id.
pub(crate) fn null_ids(seen: Named<'_>) -> Statement {
    Statement::new(format!("SELECT count(*) FROM {} s WHERE s.id IS NULL", seen.0)).about([seen.1])
}

/// Returns, as text, an id that two documents have, or no row if there is no such id.
pub(crate) fn double_id(seen: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT s.id::text FROM {} s GROUP BY s.id HAVING sum(s.rows) > 1::numeric LIMIT 1",
        seen.0
    ))
    .about([seen.1])
}

/// Inserts the documents that are new, have changed or are gone. They are numbered in batches if
/// `batched` is set.
pub(crate) fn changes(
    changes: Named<'_>,
    [seen, known]: [Named<'_>; 2],
    eq: &str,
    batched: bool,
) -> Statement {
    let batch =
        if batched { format!("(row_number() OVER () - 1) / {BATCH}::int8") } else { "0::int8".to_owned() };
    Statement::new(format!(
        "INSERT INTO {} SELECT COALESCE(s.id, k.id), s.hash, s.id IS NULL, {batch} \
         FROM {} s FULL JOIN {} k ON k.id {eq} s.id WHERE s.id IS NULL OR k.id IS NULL OR s.hash IS DISTINCT FROM k.hash",
        changes.0, seen.0, known.0
    ))
    .about([changes.1, seen.1, known.1])
}

/// Returns the condition that a document has changed or is new, for a query of the caller.
pub(crate) fn is_changed(id: &str, changes: &str, eq: &str) -> String {
    format!(" WHERE {id} {eq} ANY (SELECT c.id FROM {changes} AS c WHERE NOT c.gone)")
}

/// Returns the condition that a document is one of those in the first parameter, which is an array.
pub(crate) fn is_of_batch(id: &str, eq: &str) -> String {
    format!(" WHERE {id} {eq} ANY ($1)")
}

/// Returns the ids of a batch as an array.
pub(crate) fn batch(changes: Named<'_>, batch: i64) -> Statement {
    Statement::new(format!("SELECT array_agg(c.id) FROM {} c WHERE c.batch = $1 AND NOT c.gone", changes.0))
        .with([int8(batch)])
        .about([changes.1])
}

/// Counts the batches.
pub(crate) fn batches(changes: Named<'_>) -> Statement {
    Statement::new(format!("SELECT COALESCE(max(c.batch) + 1, 0)::int8 FROM {} c", changes.0))
        .about([changes.1])
}

/// Inserts the sets of documents with numbers from `first` on. Runs with the search path of the
/// caller.
pub(crate) fn sets(table: &str, documents: &Documents, first: i64, of: &str) -> String {
    let Documents { table: docs, id, set, .. } = documents;
    let digest = digest("s.set");
    format!(
        "INSERT INTO {table} SELECT {first}::pg_catalog.int8 OPERATOR(pg_catalog.+) pg_catalog.row_number() OVER (), s.id, \
             pg_catalog.octet_length(s.set), {digest}, s.set \
         FROM (SELECT {id} AS id, {set} AS set FROM {docs} AS d{of} OFFSET 0) s"
    )
}

/// Deletes the rows that a call left which did not come to the end of a step.
pub(crate) fn delete_from(table: Named<'_>, first: i64) -> Statement {
    Statement::new(format!("DELETE FROM {} t WHERE t.n >= $1", table.0)).with([int8(first)]).about([table.1])
}

/// Deletes all rows.
pub(crate) fn empty(table: Named<'_>) -> Statement {
    Statement::new(format!("DELETE FROM {} t", table.0)).about([table.1])
}

/// Inserts the new documents, each with the number of the document that represents all with an
/// equal set: a known one, or the first of the new ones.
pub(crate) fn members(members: Named<'_>, [sets, known]: [Named<'_>; 2], first: i64) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT s.n, COALESCE(k.r, min(s.n) OVER (PARTITION BY s.digest)), s.id \
         FROM (SELECT s.n, s.digest, s.id FROM {} s WHERE s.n >= $1 AND s.digest IS NOT NULL) s \
             LEFT JOIN (SELECT k.digest, min(k.r) AS r FROM {} k WHERE k.digest IS NOT NULL GROUP BY k.digest) k ON k.digest = s.digest",
        members.0, sets.0, known.0
    ))
    .with([int8(first)])
    .about([members.1, sets.1, known.1])
}

/// Returns the SQL expression for the rows of the sets of this call, as a table.
pub(crate) fn new_sets(sets: &str, first: i64) -> String {
    format!("(SELECT s.n, s.id, s.bytes, s.digest, s.set FROM {sets} s WHERE s.n >= {first}::int8)")
}

/// Deletes what was known of documents that have changed or are gone.
pub(crate) fn forget(known: Named<'_>, changes: Named<'_>, eq: &str) -> Statement {
    Statement::new(format!(
        "DELETE FROM {} k WHERE EXISTS (SELECT 1 FROM {} c WHERE c.id {eq} k.id)",
        known.0, changes.0
    ))
    .about([known.1, changes.1])
}

/// Inserts what is known of new and changed documents: `n`, `r` and `digest` of their rows `m` in
/// another table or query.
pub(crate) fn know(known: Named<'_>, changes: Named<'_>, (of, oids): (&str, &[Oid]), eq: &str) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT DISTINCT ON (c.id) c.id, c.hash, m.n, m.r, m.digest FROM {} c LEFT JOIN {of} m ON m.id {eq} c.id WHERE NOT c.gone ORDER BY c.id",
        known.0, changes.0
    ))
    .about([&[known.1, changes.1], oids].concat())
}

/// Returns the query for `id`, `n`, `r` and `digest` of the new documents.
pub(crate) fn new_members([sets, members]: [&str; 2], first: i64) -> String {
    format!(
        "(SELECT m.id, m.n, m.r, s.digest FROM {members} m JOIN (SELECT s.n, s.digest FROM {sets} s WHERE s.n >= {first}::int8) s ON s.n = m.n)"
    )
}

/// Counts the documents that are known.
pub(crate) fn count(table: Named<'_>) -> Statement {
    Statement::new(format!("SELECT count(*) FROM {} t", table.0)).about([table.1])
}

/// The two statements that make a table equal to another one with the same columns, changing only
/// rows that differ. `is_same` compares a row `p` of the table with a row `f` of the other one.
fn become_equal(table: Named<'_>, other: Named<'_>, is_same: &str) -> [Statement; 2] {
    let oids = [table.1, other.1];
    [
        Statement::new(format!(
            "DELETE FROM {} p WHERE NOT EXISTS (SELECT 1 FROM {} f WHERE {is_same})",
            table.0, other.0
        ))
        .about(oids),
        Statement::new(format!(
            "INSERT INTO {} SELECT f.* FROM {} f WHERE NOT EXISTS (SELECT 1 FROM {} p WHERE {is_same})",
            table.0, other.0, table.0
        ))
        .about(oids),
    ]
}

/// Makes the table of pairs equal to another one.
pub(crate) fn pairs_become(pairs: Named<'_>, other: Named<'_>, eq: &str) -> [Statement; 2] {
    become_equal(
        pairs,
        other,
        &format!("f.left_id {eq} p.left_id AND f.right_id {eq} p.right_id AND f.similarity = p.similarity"),
    )
}

/// Makes the table of clusters equal to another one.
pub(crate) fn clusters_become(clusters: Named<'_>, other: Named<'_>, eq: &str) -> [Statement; 2] {
    become_equal(
        clusters,
        other,
        &format!(
            "f.id {eq} p.id AND f.cluster_id {eq} p.cluster_id AND f.representative = p.representative AND f.size = p.size \
             AND f.similarity IS NOT DISTINCT FROM p.similarity"
        ),
    )
}

/// In Citus, inserts the new documents, of which the first of a new set has the set and number 1.
pub(crate) fn shard_members(members: Named<'_>, [sets, stored]: [Named<'_>; 2]) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT s.n, row_number() OVER w + CASE WHEN k.n IS NULL THEN 0::int8 ELSE 1::int8 END, s.id, \
             CASE WHEN k.n IS NULL AND row_number() OVER w = 1::int8 THEN s.set END \
         FROM {} s LEFT JOIN {} k ON k.n = s.n WHERE s.digest IS NOT NULL WINDOW w AS (PARTITION BY s.n ORDER BY s.id)",
        members.0, sets.0, stored.0
    ))
    .about([members.1, sets.1, stored.1])
}

/// Counts the new sets with the number of another stored set.
pub(crate) fn shard_collisions(sets: Named<'_>, stored: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT count(*) FROM {} s JOIN {} k ON k.n = s.n WHERE s.digest IS NOT NULL AND s.set <> k.set",
        sets.0, stored.0
    ))
    .about([sets.1, stored.1])
}

/// Stores the new sets.
pub(crate) fn store(stored: Named<'_>, members: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT m.n, m.r, NULL, m.set FROM {} m WHERE m.r = 1::int8",
        stored.0, members.0
    ))
    .about([stored.1, members.1])
}

/// Returns the rows of all parts as a table, those of stored sets as known ones.
pub(crate) fn all_routes([routed, routes]: [&str; 2]) -> String {
    format!(
        "(SELECT k.part, k.n, ~k.size AS size, k.bitmap, k.prefix FROM {routed} k \
         UNION ALL SELECT n.part, n.n, n.size, n.bitmap, n.prefix FROM {routes} n)"
    )
}

/// Stores the new rows of the parts.
pub(crate) fn store_routes(routed: Named<'_>, routes: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT p.part, p.n, p.size, p.bitmap, p.prefix FROM {} p",
        routed.0, routes.0
    ))
    .about([routed.1, routes.1])
}

/// Inserts the pairs of sets whose right one some document has.
pub(crate) fn with_right(to: Named<'_>, pairs: Named<'_>, members: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT p.l, p.r FROM {} p JOIN {} m ON m.n = p.r WHERE m.r = 1::int8",
        to.0, pairs.0, members.0
    ))
    .about([to.1, pairs.1, members.1])
}

/// Inserts the edges, in both directions, between the sets of those pairs whose left one some
/// document has, too.
pub(crate) fn edges(edges: Named<'_>, pairs: Named<'_>, members: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT e.u, e.v FROM {} p JOIN {} m ON m.n = p.l, LATERAL (VALUES (p.l, p.r), (p.r, p.l)) e(u, v) WHERE m.r = 1::int8",
        edges.0, pairs.0, members.0
    ))
    .about([edges.1, pairs.1, members.1])
}

/// Moves the numbers of new documents to where their ids are.
pub(crate) fn numbers(numbers: Named<'_>, members: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT m.id, m.n, NULL::int8, NULL::bytea FROM {} m",
        numbers.0, members.0
    ))
    .about([numbers.1, members.1])
}

/// Moves all known documents to where their sets are.
pub(crate) fn known_sets(sets: Named<'_>, known: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT k.n, k.id, 0, ''::bytea, NULL FROM {} k WHERE k.n IS NOT NULL",
        sets.0, known.0
    ))
    .about([sets.1, known.1])
}

/// Returns the pairs of the join of a call, for which the numbers of known documents are below
/// `first`.
pub(crate) fn knowing(join: Join, first: i64) -> Join {
    Join { known_before: Some(first), ..join }
}
