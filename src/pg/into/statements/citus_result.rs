//! Statements that compare candidates and make the result, on tables that Citus distributes over
//! nodes: first the right sets of pairs are found where they are, then the left ones.

use pgrx::pg_sys::Oid;

use super::citus::{IS_FIRST, POSITIVE};
use super::fill::{Join, Named};
use crate::pg::procedure::statement::Statement;

/// Inserts the distinct candidates of a round, with their left sets.
pub(crate) fn halves(
    halves: Named<'_>,
    [candidates, sets]: [Named<'_>; 2],
    (round, rounds): (i64, i64),
) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT c.l, c.r, m.id, m.set FROM (SELECT DISTINCT c.l, c.r FROM {} c \
             WHERE ((c.l # c.r) & {POSITIVE}) % {rounds}::int8 = {round}::int8) c JOIN {} m ON m.n = c.l WHERE m.{IS_FIRST}",
        halves.0, candidates.0, sets.0
    ))
    .about([halves.1, candidates.1, sets.1])
}

/// Inserts the similar pairs of a round. If the order of two documents matters, the one with the
/// lesser id comes first; the type of the ids need not have operators in `pg_catalog`, but the type
/// of their arrays has.
pub(crate) fn pairs(
    join: &Join,
    pairs: Named<'_>,
    [halves, sets]: [Named<'_>; 2],
    (ranks, are_ordered): (Option<Named<'_>>, bool),
) -> Statement {
    let mut similarity = join.similarity(["h.set", "m.set"]);
    if are_ordered {
        let turned = join.similarity(["m.set", "h.set"]);
        similarity = format!("CASE WHEN ARRAY[h.id] < ARRAY[m.id] THEN {similarity} ELSE {turned} END");
    }
    let of_ranks = ranks.map(|ranks| format!(", {} o", ranks.0)).unwrap_or_default();
    // A comparison may take long, so each is made once.
    Statement::new(format!(
        "INSERT INTO {} SELECT h.l, h.r, v.similarity FROM {} h JOIN {} m ON m.n = h.r{of_ranks}, unnest(ARRAY[{similarity}]) v(similarity) \
         WHERE m.{IS_FIRST} AND v.similarity IS NOT NULL",
        pairs.0, halves.0, sets.0
    ))
    .about([pairs.1, halves.1, sets.1].into_iter().chain(ranks.map(|ranks| ranks.1)).collect::<Vec<Oid>>())
}

/// Counts the pairs of documents with equal sets.
pub(crate) fn equal(members: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT LEAST(COALESCE(sum(m.pairs), 0), 9223372036854775807)::int8 \
         FROM (SELECT count(*)::numeric * (count(*)::numeric - 1) / 2 AS pairs FROM {} m GROUP BY m.n HAVING count(*) > 1) m",
        members.0
    ))
    .about([members.1])
}

/// Inserts the pairs of sets, with the number of documents that have the right set, or with the
/// number of passages: then each document is a record.
pub(crate) fn count_right(named: Named<'_>, [pairs, members]: [Named<'_>; 2], passages: bool) -> Statement {
    let count = if passages { "octet_length(p.similarity) / 36" } else { "b.count" };
    Statement::new(format!(
        "INSERT INTO {} SELECT p.l, {count} FROM {} p JOIN (SELECT m.n, count(*) AS count FROM {} m GROUP BY m.n) b ON b.n = p.r",
        named.0, pairs.0, members.0
    ))
    .about([named.1, pairs.1, members.1])
}

/// Counts the pairs of documents in the pairs of sets that [`count_right`] inserted.
pub(crate) fn count_both(named: Named<'_>, members: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT LEAST(COALESCE(sum(x.count::numeric * a.count::numeric), 0), 9223372036854775807)::int8 \
         FROM {} x JOIN (SELECT m.n, count(*) AS count FROM {} m GROUP BY m.n) a ON a.n = x.l",
        named.0, members.0
    ))
    .about([named.1, members.1])
}

/// Inserts each pair of sets once for each document that has the right set.
pub(crate) fn name_right(named: Named<'_>, [pairs, members]: [Named<'_>; 2]) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT p.l, b.id, p.similarity FROM {} p JOIN {} b ON b.n = p.r",
        named.0, pairs.0, members.0
    ))
    .about([named.1, pairs.1, members.1])
}

/// Inserts the pairs of documents for the pairs of [`name_right`] and, if `equal` is set, those of
/// documents that have equal sets, with the lesser id first.
pub(crate) fn name_both(
    join: &Join,
    result: Named<'_>,
    [named, members]: [Named<'_>; 2],
    equal: bool,
) -> Statement {
    let (found, rows) = join.found("u.similarity");
    // Both queries have the number by which they are where the rows are.
    let equal = if equal {
        format!(
            " UNION ALL SELECT a.n, a.id, b.id, 1::float8 FROM {0} a JOIN {0} b ON b.n = a.n WHERE b.r > 1::int8 AND a.r < b.r",
            members.0
        )
    } else {
        String::new()
    };
    Statement::new(format!(
        "INSERT INTO {} SELECT LEAST(u.a, u.b), GREATEST(u.a, u.b), {found} \
         FROM (SELECT a.n, a.id AS a, x.id AS b, x.similarity FROM {} x JOIN {} a ON a.n = x.l{equal}) u{rows}",
        result.0, named.0, members.0
    ))
    .about([result.1, named.1, members.1])
}
