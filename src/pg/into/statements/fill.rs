//! Statements that fill the working tables, each from earlier working tables.

use pgrx::pg_sys::Oid;

use crate::into::state::most_candidates;
use crate::into::step::Table;
use crate::pg::into::documents::{Carried, Counted, Documents};
use crate::pg::procedure::statement::Statement;
use crate::pg::query::as_user::INTERNAL;
use crate::pg::request::example::literal;

/// An existing table: its name, quoted for SQL text, and its OID.
pub(crate) type Named<'a> = (&'a str, Oid);

/// The parts of statements that describe the join.
#[derive(Debug, Clone)]
pub(crate) struct Join {
    /// The last argument of internal functions, with a leading comma.
    pub internal: String,
    /// The method as an SQL literal.
    pub method: String,
    /// What the method counts before documents meet.
    pub counted: Counted,
    /// The number of parts.
    pub parts: i64,
    /// Set if passages are found.
    pub passages: bool,
    /// The least number of a new document, if the others are known to make no new candidates with
    /// each other.
    pub known_before: Option<i64>,
}

impl Join {
    /// Makes a join by a method in this number of parts.
    pub(crate) fn new(internal: &str, parts: i64, carried: &Carried) -> Self {
        Self {
            internal: internal.to_owned(),
            method: method(&carried.method),
            counted: carried.counted,
            parts,
            passages: carried.passages,
            known_before: None,
        }
    }

    /// Reports whether nothing is counted before documents meet.
    pub(crate) fn counts_nothing(&self) -> bool {
        self.counted == Counted::Nothing
    }

    /// Reports whether the comparison of two documents depends on what was counted.
    pub(crate) fn compares_by_ranks(&self) -> bool {
        self.counted == Counted::All
    }

    /// Returns the SQL expression for the rows that a carried document adds to parts, by what was
    /// counted, `o.ranks`.
    pub(crate) fn rows(&self, carried: &str) -> String {
        let Self { internal, method, parts, .. } = self;
        format!("{INTERNAL}.neardup_part_rows({carried}, o.ranks, {method}, {parts}::int4{internal})")
    }

    /// Returns the aggregate that packs the rows which carried documents `s.n`, `s.set` add to
    /// parts.
    pub(crate) fn packed(&self) -> String {
        let Self { internal, method, parts, .. } = self;
        format!("{INTERNAL}.neardup_part_pack(s.n, s.set, o.ranks, {method}, {parts}::int4{internal})")
    }

    /// Returns the SQL expression for the candidates among the packed rows `p` of a part.
    pub(crate) fn joined_packed(&self) -> String {
        let Self { internal, method, .. } = self;
        format!("{INTERNAL}.neardup_part_join_packed(p.rows, {method}{internal})")
    }

    /// Returns the SQL expression for the candidates among the rows `p` of a part.
    pub(crate) fn joined(&self) -> String {
        let Self { internal, method, known_before, .. } = self;
        let size = match known_before {
            None => "p.size".to_owned(),
            Some(first) => format!("CASE WHEN p.n >= {first}::int8 THEN p.size ELSE ~p.size END"),
        };
        format!("{INTERNAL}.neardup_part_join(p.n, {size}, p.bitmap, p.prefix, {method}{internal})")
    }

    /// Returns the SQL expression for the similarity of two carried documents, which is NULL if
    /// they are no pair; or for their passages, NULL if there are none. `o.ranks` has what was
    /// counted, if the comparison depends on it.
    pub(crate) fn similarity(&self, [left, right]: [&str; 2]) -> String {
        let Self { internal, method, passages, .. } = self;
        let ranks = if self.compares_by_ranks() { "o.ranks" } else { "NULL::bytea" };
        let compare = if *passages { "neardup_part_passages" } else { "neardup_part_similarity" };
        format!("{INTERNAL}.{compare}({left}, {right}, {ranks}, {method}{internal})")
    }

    /// Returns the columns of the result behind the two ids, for what was found, and what is to be
    /// joined for them.
    pub(crate) fn found(&self, found: &str) -> (String, String) {
        if !self.passages {
            return (found.to_owned(), String::new());
        }
        let columns =
            "v.left_sentence, v.right_sentence, v.sentences, v.left_span, v.right_span, v.similarity";
        (columns.to_owned(), format!(", {INTERNAL}.neardup_part_passage_rows({found}{}) v", self.internal))
    }

    /// Returns the SQL expression for what the method counts.
    pub(crate) fn counted(&self) -> String {
        let Self { internal, method, .. } = self;
        format!("{INTERNAL}.neardup_part_ranks(s.set, {method}{internal})")
    }
}

/// The SQL expression for what is counted of no documents.
pub(crate) const NOTHING_COUNTED: &str = "''::bytea";

/// Returns a method as an SQL literal.
pub(crate) fn method(json: &str) -> String {
    // Backslashes mean the same whatever standard_conforming_strings says.
    let escape = if json.contains('\\') { "E" } else { "" };
    format!("{escape}{}::pg_catalog.jsonb", literal(json).replace('\\', "\\\\"))
}

/// Returns the SQL expression for the number by which documents are found that are equal as they
/// are carried in `set`: a digest for which nobody can construct a collision, or NULL if no
/// document is similar. Documents that are not similar to those with the same bytes have numbers of
/// their own.
pub(crate) fn digest(set: &str) -> String {
    format!(
        "CASE WHEN pg_catalog.octet_length({set}) OPERATOR(pg_catalog.>) 0 THEN pg_catalog.sha256(CASE WHEN pg_catalog.get_byte({set}, 0) OPERATOR(pg_catalog.=) 1 THEN {set} \
         ELSE {set} OPERATOR(pg_catalog.||) pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) END) END"
    )
}

/// Inserts the documents as they are carried, which a query returns as `id` and `set`. Runs with
/// the search path of the caller, like all reading of documents, and so qualifies all names with
/// their schemas.
///
/// A document of which nothing is carried is similar to no other one.
pub(crate) fn sets(table: &str, documents: &Documents) -> String {
    let (query, digest) = (documents.query(), digest("s.set"));
    let order = if documents.are_ordered { "ORDER BY s.id" } else { "" };
    format!(
        "INSERT INTO {table} SELECT pg_catalog.row_number() OVER ({order}), s.id, pg_catalog.octet_length(s.set), {digest}, s.set \
         FROM ({query} OFFSET 0) s"
    )
}

/// Chooses, for all documents with an equal set, the document that represents them: for the
/// documents of one of some parts of the digests, or of all digests.
pub(crate) fn members(members: Named<'_>, sets: Named<'_>, part: Option<(usize, usize)>) -> Statement {
    let of = part
        .map_or_else(String::new, |(part, parts)| format!(" AND get_byte(s.digest, 0) % {parts} = {part}"));
    Statement::new(format!(
        "INSERT INTO {} SELECT s.n, min(s.n) OVER (PARTITION BY s.digest), s.id FROM {} s WHERE s.digest IS NOT NULL{of}",
        members.0, sets.0
    ))
    .about([members.1, sets.1])
}

/// Makes the order of tokens from a sample of the sets, of which there are `count`.
pub(crate) fn ranks(join: &Join, ranks: Named<'_>, sets: Named<'_>, count: i64) -> Statement {
    const SAMPLE: i64 = 20_000;
    if join.counts_nothing() {
        return no_ranks(ranks);
    }
    let each = if join.compares_by_ranks() { 1 } else { (count / SAMPLE).max(1) };
    Statement::new(format!(
        "INSERT INTO {} SELECT {} FROM {} s WHERE s.n % {each}::int8 = 0::int8",
        ranks.0,
        join.counted(),
        sets.0
    ))
    .about([ranks.1, sets.1])
}

/// Makes an empty order for joins that need none.
pub(crate) fn no_ranks(ranks: Named<'_>) -> Statement {
    Statement::new(format!("INSERT INTO {} SELECT {NOTHING_COUNTED}", ranks.0)).about([ranks.1])
}

/// Makes the rows of the parts, with each distinct set once. Sets and members are distributed
/// alike, so that the servers join them.
pub(crate) fn routes(join: &Join, routes: Named<'_>, [sets, members, ranks]: [Named<'_>; 3]) -> Statement {
    let rows = join.rows("s.set");
    Statement::new(format!(
        "INSERT INTO {} SELECT g.part, s.n, g.size, g.bitmap, g.prefix \
         FROM (SELECT s.n, s.set FROM {} s JOIN {} m ON m.n = s.n WHERE m.r = m.n OFFSET 0) s, {} o, {rows} g",
        routes.0, sets.0, members.0, ranks.0
    ))
    .about([routes.1, sets.1, members.1, ranks.1])
}

/// Finds the candidates among this number of documents, up to one candidate more than is allowed,
/// in parts that a condition names. The join of the parts is planned separately: it costs least if
/// each server joins its own parts. If parts that were joined before may have the same candidates,
/// `besides` is set, and these are left out.
pub(crate) fn candidates(
    join: &Join,
    candidates: Named<'_>,
    routes: Named<'_>,
    documents: i64,
    (parts, besides): (&str, bool),
) -> Statement {
    let internal = &join.internal;
    let (joined, most) = (join.joined(), most_candidates(documents).saturating_add(1));
    let known =
        if besides { format!(" EXCEPT SELECT k.l, k.r FROM {} k", candidates.0) } else { String::new() };
    Statement::new(format!(
        "WITH j AS MATERIALIZED (SELECT {joined} AS ids FROM {} p{parts} GROUP BY p.part) \
         INSERT INTO {} SELECT f.left_id, f.right_id FROM (SELECT DISTINCT c.left_id, c.right_id FROM j, {INTERNAL}.neardup_part_candidates(j.ids{internal}) c{known}) f LIMIT {most}",
        routes.0, candidates.0
    ))
    .about([routes.1, candidates.1])
}

/// Returns the condition that a row `p` of the parts is in one of these.
pub(crate) fn of_parts(parts: &[i64]) -> String {
    let parts: Vec<String> = parts.iter().map(i64::to_string).collect();
    format!(" WHERE p.part = ANY ('{{{}}}'::int4[])", parts.join(","))
}

/// Returns the numbers of all parts that have rows, as an array.
pub(crate) fn parts_of(routes: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT COALESCE(array_agg(p.part ORDER BY p.part), '{{}}'::int4[])::text FROM (SELECT p.part FROM {} p GROUP BY p.part) p",
        routes.0
    ))
    .about([routes.1])
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
pub(crate) fn pairs(
    join: &Join,
    pairs: Named<'_>,
    [halves, sets]: [Named<'_>; 2],
    ranks: Option<Named<'_>>,
) -> Statement {
    let similarity = join.similarity(["h.set", "s.set"]);
    let of_ranks = ranks.map(|ranks| format!(", {} o", ranks.0)).unwrap_or_default();
    Statement::new(format!(
        "INSERT INTO {} SELECT h.l, h.r, {similarity} FROM {} h JOIN {} s ON s.n = h.r{of_ranks} WHERE {similarity} IS NOT NULL",
        pairs.0, halves.0, sets.0
    ))
    .about([pairs.1, halves.1, sets.1].into_iter().chain(ranks.map(|ranks| ranks.1)).collect::<Vec<Oid>>())
}

/// Reports whether the servers must run the joins that fill a table, even if the planner expects
/// few rows.
pub(crate) fn joins_on_servers(table: Table) -> bool {
    matches!(table, Table::Routes | Table::Halves | Table::Pairs)
}
