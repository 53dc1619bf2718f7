//! Statements that fill the working tables, each from earlier working tables.

use pgrx::pg_sys::Oid;

use crate::into::state::most_candidates;
use crate::into::step::Table;
use crate::pg::into::documents::Bands;
use crate::pg::procedure::statement::Statement;
use crate::pg::query::as_user::INTERNAL;
use neardup_core::joins::parts::token_set;

/// An existing table: its name, quoted for SQL text, and its OID.
pub(crate) type Named<'a> = (&'a str, Oid);

/// The parts of statements that describe the join.
#[derive(Debug, Clone)]
pub(crate) struct Join {
    /// The schema of the extension.
    pub schema: String,
    /// The last argument of internal functions, with a leading comma.
    pub internal: String,
    /// The measure as an SQL literal.
    pub measure: String,
    /// The threshold as an SQL literal.
    pub threshold: String,
    /// The number of parts.
    pub parts: i64,
    /// The bands, if the join is by bands and not by prefixes.
    pub bands: Option<Bands>,
}

impl Join {
    /// Makes a join with a measure and with a threshold that is exact to its last bit.
    pub(crate) fn new(
        (schema, internal): (&str, &str),
        (measure, threshold): (&str, f64),
        parts: i64,
        bands: Option<Bands>,
    ) -> Self {
        Self {
            schema: schema.to_owned(),
            internal: internal.to_owned(),
            measure: format!("'{measure}'::{schema}.set_measure"),
            threshold: format!("'{threshold}'::float8"),
            parts,
            bands,
        }
    }

    /// Returns the SQL expression for the rows that a set adds to parts, by the order `o.ranks`.
    pub(crate) fn groups(&self, set: &str) -> String {
        let Self { schema, internal, measure, threshold, parts, bands } = self;
        match bands {
            None => {
                format!("{schema}.prefix_groups({set}, o.ranks, {measure}, {threshold}, {parts}::int4)")
            }
            Some(Bands { bands, rows, seed }) => format!(
                "{INTERNAL}.neardup_band_groups({set}, {bands}::int4, {rows}::int4, '{seed}'::int8, {measure}, {threshold}, {parts}::int4{internal})"
            ),
        }
    }

    /// Returns the SQL expression for the candidates among the rows `p` of a part.
    pub(crate) fn joined(&self) -> String {
        let Self { internal, measure, threshold, bands, .. } = self;
        let join = if bands.is_some() { "neardup_join_bands" } else { "neardup_join_part" };
        format!("{INTERNAL}.{join}(p.n, p.size, p.bitmap, p.prefix, {measure}, {threshold}{internal})")
    }
}

/// Inserts the sets of the documents, which a query returns as `id` and `set`. Runs with the search
/// path of the caller, like all reading of documents, and so qualifies all names with their
/// schemas.
///
/// A set without tokens is similar to no other set. Equal sets are found by a digest for which
/// nobody can construct a collision.
pub(crate) fn sets(table: &str, documents: &str) -> String {
    let bytes = format!("{INTERNAL}.token_set_send(s.set)");
    let length = format!("pg_catalog.octet_length({bytes})");
    let empty = token_set::HEADER;
    format!(
        "INSERT INTO {table} SELECT pg_catalog.row_number() OVER (), s.id, {length}, \
         CASE WHEN {length} OPERATOR(pg_catalog.>) {empty} THEN pg_catalog.sha256({bytes}) END, s.set FROM ({documents} OFFSET 0) s"
    )
}

/// Chooses, for all documents with an equal set, the document that represents them.
pub(crate) fn members(members: Named<'_>, sets: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT s.n, min(s.n) OVER (PARTITION BY s.digest), s.id FROM {} s WHERE s.digest IS NOT NULL",
        members.0, sets.0
    ))
    .about([members.1, sets.1])
}

/// Makes the order of tokens from a sample of the sets, of which there are `count`.
pub(crate) fn ranks(join: &Join, ranks: Named<'_>, sets: Named<'_>, count: i64) -> Statement {
    const SAMPLE: i64 = 20_000;
    if join.bands.is_some() {
        return no_ranks(join, ranks);
    }
    let each = (count / SAMPLE).max(1);
    let schema = &join.schema;
    Statement::new(format!(
        "INSERT INTO {} SELECT {schema}.token_order(s.set, 200000::int4) FROM {} s WHERE s.n % {each}::int8 = 0::int8",
        ranks.0, sets.0
    ))
    .about([ranks.1, sets.1])
}

/// Makes an empty order for joins that need none.
pub(crate) fn no_ranks(join: &Join, ranks: Named<'_>) -> Statement {
    let schema = &join.schema;
    let sql =
        format!("INSERT INTO {} SELECT {schema}.token_order(NULL::{schema}.token_set, 1::int4)", ranks.0);
    Statement::new(sql).about([ranks.1])
}

/// Makes the rows of the parts, with each distinct set once. Sets and members are distributed
/// alike, so that the servers join them.
pub(crate) fn routes(join: &Join, routes: Named<'_>, [sets, members, ranks]: [Named<'_>; 3]) -> Statement {
    let groups = join.groups("s.set");
    Statement::new(format!(
        "INSERT INTO {} SELECT g.part, s.n, g.size, g.bitmap, g.prefix \
         FROM (SELECT s.n, s.set FROM {} s JOIN {} m ON m.n = s.n WHERE m.r = m.n OFFSET 0) s, {} o, {groups} g",
        routes.0, sets.0, members.0, ranks.0
    ))
    .about([routes.1, sets.1, members.1, ranks.1])
}

/// Finds the candidates among this number of documents, up to one candidate more than is allowed.
/// The join of the parts is planned separately: it costs least if each server joins its own parts.
pub(crate) fn candidates(join: &Join, candidates: Named<'_>, routes: Named<'_>, documents: i64) -> Statement {
    let internal = &join.internal;
    let (joined, most) = (join.joined(), most_candidates(documents).saturating_add(1));
    Statement::new(format!(
        "WITH j AS MATERIALIZED (SELECT {joined} AS ids FROM {} p GROUP BY p.part) \
         INSERT INTO {} SELECT DISTINCT c.left_id, c.right_id FROM j, {INTERNAL}.neardup_candidate_pairs(j.ids{internal}) c LIMIT {most}",
        routes.0, candidates.0
    ))
    .about([routes.1, candidates.1])
}

/// Inserts the candidates of a round with their left sets, which are on the same servers.
pub(crate) fn halves(
    halves: Named<'_>,
    [candidates, sets]: [Named<'_>; 2],
    (round, rounds): (i64, i64),
) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT c.l, c.r, s.set FROM {} c JOIN {} s ON s.n = c.l WHERE (c.l + c.r) % {rounds}::int8 = {round}::int8",
        halves.0, candidates.0, sets.0
    ))
    .about([halves.1, candidates.1, sets.1])
}

/// Inserts the similar pairs of a round.
pub(crate) fn pairs(join: &Join, pairs: Named<'_>, [halves, sets]: [Named<'_>; 2]) -> Statement {
    let Join { schema, measure, threshold, .. } = join;
    let similarity = format!("{schema}.token_similarity(h.set, s.set, {measure})");
    Statement::new(format!(
        "INSERT INTO {} SELECT h.l, h.r, {similarity} FROM {} h JOIN {} s ON s.n = h.r WHERE {similarity} >= {threshold}",
        pairs.0, halves.0, sets.0
    ))
    .about([pairs.1, halves.1, sets.1])
}

/// Reports whether the servers must run the joins that fill a table, even if the planner expects
/// few rows.
pub(crate) fn joins_on_servers(table: Table) -> bool {
    matches!(table, Table::Routes | Table::Halves | Table::Pairs)
}
