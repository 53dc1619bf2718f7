//! Statements on tables of this server whose rows are in parts, which sessions share. A document
//! has a number in the range of its part ([`first_number`]); a set is found by the number of its
//! document.

use pgrx::pg_sys::Oid;

use super::definitions::first_number;
use super::fill::{Join, Named, digest};
use crate::pg::into::documents::Documents;
use crate::pg::procedure::statement::{Statement, int8, oid};
use crate::pg::query::as_user::INTERNAL;

/// The part number of the row that says that the tables of a stage are made.
pub(crate) const OPEN: i64 = -1;

/// Returns about how many pages a relation has.
pub(crate) fn pages(docs: Oid) -> Statement {
    Statement::new(
        "SELECT (COALESCE(sum(pg_relation_size(p.relid)), pg_relation_size($1)) / current_setting('block_size')::int8)::int8 \
         FROM (SELECT t.relid FROM pg_partition_tree($1::regclass) t WHERE t.isleaf) p",
    )
    .with([oid(docs)])
}

/// Reads the ids at which these shares of the rows begin, as an array, from a sample of the pages.
/// Runs with the search path of the caller, like all reading of documents, and so qualifies all
/// names with their schemas.
pub(crate) fn ranges(table: &str, key: &str, parts: i64, percent: f64) -> String {
    let shares: Vec<String> = (1..parts).map(|part| (part as f64 / parts as f64).to_string()).collect();
    format!(
        "SELECT pg_catalog.percentile_disc(ARRAY[{}]::pg_catalog.float8[]) WITHIN GROUP (ORDER BY {key}::pg_catalog.int8)::pg_catalog.text \
         FROM {table} AS d TABLESAMPLE pg_catalog.system({percent}) REPEATABLE (0)",
        shares.join(", ")
    )
}

/// A range of the documents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range<'a> {
    /// The SQL expression for the id in a form that indexes can use.
    pub key: &'a str,
    /// The number of the range.
    pub number: i64,
    /// The first id of the range, if it is not the first range.
    pub from: Option<i64>,
    /// The first id after the range, if it is not the last range.
    pub to: Option<i64>,
}

/// Inserts the sets of the documents: of a range of them, whose numbers are in the part of the
/// range, or of all of them, whose numbers are in `parts` parts in turn. Runs with the search path
/// of the caller.
pub(crate) fn sets(table: &str, documents: &Documents, range: Option<Range<'_>>, parts: i64) -> String {
    let Documents { table: docs, id, set, are_ordered, .. } = documents;
    let order = if *are_ordered { format!("ORDER BY {id}") } else { String::new() };
    let digest = digest("s.set");
    let (number, of) = match range {
        None => {
            let length = first_number(1);
            let part = format!("s.i OPERATOR(pg_catalog.%) {parts}::pg_catalog.int8");
            let first = format!("({part}) OPERATOR(pg_catalog.*) {length}::pg_catalog.int8");
            (format!("({first}) OPERATOR(pg_catalog.+) s.i"), String::new())
        }
        Some(Range { key, number, from, to }) => {
            let first = first_number(number);
            let bound = |how: &str, at: Option<i64>| {
                at.map(|at| format!("{key} OPERATOR(pg_catalog.{how}) '{at}'::pg_catalog.int8"))
            };
            let bounds: Vec<String> = bound(">=", from).into_iter().chain(bound("<", to)).collect();
            let of =
                if bounds.is_empty() { String::new() } else { format!(" WHERE {}", bounds.join(" AND ")) };
            (format!("{first}::pg_catalog.int8 OPERATOR(pg_catalog.+) s.i"), of)
        }
    };
    format!(
        "INSERT INTO {table} SELECT {number}, s.id, pg_catalog.octet_length(s.set), {digest}, s.set \
         FROM (SELECT pg_catalog.row_number() OVER ({order}) AS i, {id} AS id, {set} AS set FROM {docs} AS d{of} OFFSET 0) s"
    )
}

/// Returns the last numbers of blocks of sets, as an array: each block has about this number of
/// bytes, or one set.
pub(crate) fn blocks(sets: Named<'_>, bytes: i64) -> Statement {
    /// The bytes of a row of a part besides the tokens, and a bit more.
    const ROW: i64 = 64;
    Statement::new(format!(
        "SELECT COALESCE(array_agg(b.last ORDER BY b.last), '{{}}'::int8[])::text \
         FROM (SELECT max(s.n) AS last \
             FROM (SELECT s.n, (sum(s.bytes + {ROW}::int8) OVER (ORDER BY s.n))::int8 / $1 AS block FROM {} s) s GROUP BY s.block) b",
        sets.0
    ))
    .with([int8(bytes)])
    .about([sets.1])
}

/// Makes the rows of the parts, with each distinct set once: of the sets whose numbers are greater
/// than the first number and not greater than the second one. Many rows of a part are one row.
pub(crate) fn routes(
    join: &Join,
    routes: Named<'_>,
    [sets, members, ranks]: [Named<'_>; 3],
    block: (i64, i64),
) -> Statement {
    let packed = join.packed();
    Statement::new(format!(
        "INSERT INTO {} \
         SELECT (get_byte(r.rows, 0) << 16) + (get_byte(r.rows, 1) << 8) + get_byte(r.rows, 2), r.rows \
         FROM (SELECT {packed} AS packed FROM {} s JOIN {} m ON m.n = s.n, {} o \
             WHERE m.r = m.n AND s.n > $1 AND s.n <= $2 AND m.n > $1 AND m.n <= $2) g, unnest(g.packed) AS r(rows)",
        routes.0, sets.0, members.0, ranks.0
    ))
    .with([int8(block.0), int8(block.1)])
    .about([routes.1, sets.1, members.1, ranks.1])
}

/// Finds the candidates of one part, up to `most`. A candidate may come from several parts.
pub(crate) fn candidates(join: &Join, candidates: Named<'_>, part: Named<'_>, most: i64) -> Statement {
    let (internal, joined) = (&join.internal, join.joined_packed());
    Statement::new(format!(
        "WITH j AS MATERIALIZED (SELECT {joined} AS ids FROM {} p HAVING count(*) > 0) \
         INSERT INTO {} SELECT c.left_id, c.right_id FROM j, {INTERNAL}.neardup_part_candidates(j.ids{internal}) c LIMIT {most}",
        part.0, candidates.0
    ))
    .about([part.1, candidates.1])
}

/// Inserts the similar pairs among the candidates of one part, whose left sets are in one part. The
/// right sets are read in the order of their numbers.
pub(crate) fn pairs(
    join: &Join,
    pairs: Named<'_>,
    [candidates, left, sets]: [Named<'_>; 3],
    ranks: Option<Named<'_>>,
) -> Statement {
    let similarity = join.similarity(["a.set", "b.set"]);
    let of_ranks = ranks.map(|ranks| format!(", {} o", ranks.0)).unwrap_or_default();
    Statement::new(format!(
        "INSERT INTO {} SELECT c.l, c.r, v.similarity \
         FROM (SELECT DISTINCT c.l, c.r FROM {} c ORDER BY c.r, c.l OFFSET 0) c JOIN {} a ON a.n = c.l JOIN {} b ON b.n = c.r{of_ranks}, \
             LATERAL (SELECT {similarity} AS similarity OFFSET 0) v \
         WHERE v.similarity IS NOT NULL",
        pairs.0, candidates.0, left.0, sets.0
    ))
    .about([pairs.1, candidates.1, left.1, sets.1].into_iter().chain(ranks.map(|ranks| ranks.1)).collect::<Vec<Oid>>())
}

/// Returns the numbers of the parts of a step that are done, as an array, and the number of their
/// rows.
pub(crate) fn parts_done(parts: Named<'_>, step: i64) -> Statement {
    Statement::new(format!(
        "SELECT COALESCE(array_agg(p.part), '{{}}'::int8[])::text, COALESCE(sum(p.rows), 0)::int8 FROM {} p WHERE p.step = $1",
        parts.0
    ))
    .with([int8(step)])
    .about([parts.1])
}

/// Reports whether a part of a step is done.
pub(crate) fn is_done(parts: Named<'_>, step: i64, part: i64) -> Statement {
    Statement::new(format!("SELECT EXISTS (SELECT FROM {} p WHERE p.step = $1 AND p.part = $2)", parts.0))
        .with([int8(step), int8(part)])
        .about([parts.1])
}

/// Notes that a part of a step is done.
pub(crate) fn note_part(parts: Named<'_>, step: i64, part: i64, rows: i64) -> Statement {
    Statement::new(format!("INSERT INTO {} SELECT $1, $2, $3", parts.0))
        .with([int8(step), int8(part), int8(rows)])
        .about([parts.1])
}

/// Deletes what is noted of the steps from `step` on.
pub(crate) fn forget_parts(parts: Named<'_>, step: i64) -> Statement {
    Statement::new(format!("DELETE FROM {} p WHERE p.step >= $1", parts.0))
        .with([int8(step)])
        .about([parts.1])
}
