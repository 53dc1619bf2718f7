//! Clusters of sets that are similar, by large star and small star (Kiveris, Lattanzi, Mirrokni, Rastogi, Vassilvitskii: *Connected
//! components in MapReduce and beyond*, SoCC 2014), each of which is one statement whose rows go from node to node.
//!
//! What comes of one round may have edges more than once: they are taken once where they are read, which is where both are.

use super::fill::Named;
use crate::pg::functions::clusters::Chains;
use crate::pg::procedure::statement::Statement;

/// The edges between similar sets, from both ends.
pub(crate) fn edges(edges: Named<'_>, pairs: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT e.u, e.v FROM {} p, LATERAL (VALUES (p.l, p.r), (p.r, p.l)) e(u, v)",
        edges.0, pairs.0
    ))
    .about([edges.1, pairs.1])
}

/// Each end with each end that it is connected with.
fn once(edges: &str) -> String {
    format!("(SELECT DISTINCT e.u, e.v FROM {edges} e) e")
}

/// Large star: each greater neighbour of a number goes to the least one beside it.
pub(crate) fn larger(larger: Named<'_>, edges: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT x.v, x.least FROM \
             (SELECT e.u, e.v, LEAST(e.u, min(e.v) OVER (PARTITION BY e.u)) AS least FROM {}) x WHERE x.v > x.u",
        larger.0,
        once(edges.0)
    ))
    .about([larger.1, edges.1])
}

/// Small star: a number and its lesser neighbours, of which alone there are rows, go to the least of these; from both ends.
pub(crate) fn smaller(edges: Named<'_>, larger: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT y.u, y.v FROM \
             (SELECT e.u, e.v, min(e.v) OVER (PARTITION BY e.u) AS least FROM {}) x, \
             LATERAL (SELECT CASE WHEN x.v = x.least THEN x.u ELSE x.v END AS far OFFSET 0) f, \
             LATERAL (VALUES (f.far, x.least), (x.least, f.far)) y(u, v)",
        edges.0,
        once(larger.0)
    ))
    .about([edges.1, larger.1])
}

/// How many numbers have a lesser neighbour, and another one: none where all edges lead to the least number of a cluster.
pub(crate) fn unsettled(edges: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT count(*) FROM (SELECT e.u FROM {} e GROUP BY e.u HAVING min(e.v) < e.u AND min(e.v) <> max(e.v)) e",
        edges.0
    ))
    .about([edges.1])
}

/// How many documents have each set.
fn counts(members: &str) -> String {
    format!("(SELECT m.n, count(*) AS count FROM {members} m GROUP BY m.n)")
}

/// The right neighbours of sets.
pub(crate) fn right_neighbours(neighbours: Named<'_>, [pairs, members]: [Named<'_>; 2]) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT p.l, p.r, p.similarity, c.count FROM {} p JOIN {} c ON c.n = p.r",
        neighbours.0,
        pairs.0,
        counts(members.0)
    ))
    .about([neighbours.1, pairs.1, members.1])
}

/// The left ones, of these.
pub(crate) fn left_neighbours(neighbours: Named<'_>, members: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {0} SELECT k.other, k.n, k.similarity, c.count FROM {0} k JOIN {1} c ON c.n = k.n",
        neighbours.0,
        counts(members.0)
    ))
    .about([neighbours.1, members.1])
}

/// The sets that are in a cluster, each with its first document, and what counts where one is to represent all: how many pairs
/// its documents have, and the sum of their similarities, in the units of [`Degrees`](crate::clusters::leaders::Degrees).
pub(crate) fn vertices(vertices: Named<'_>, [members, neighbours, edges]: [Named<'_>; 3]) -> Statement {
    const UNIT: &str = "2147483648";
    Statement::new(format!(
        "INSERT INTO {} SELECT COALESCE(e.least, m.n), m.n, m.id, c.count, c.count - 1::int8 + COALESCE(k.pairs, 0::int8), \
             (c.count - 1::int8)::numeric * {UNIT}::numeric + COALESCE(k.weight, 0::numeric) \
         FROM {} m JOIN {} c ON c.n = m.n \
             LEFT JOIN (SELECT k.n, sum(k.count)::int8 AS pairs, sum(k.count::numeric * floor(k.similarity * {UNIT}::float8)::int8::numeric) AS weight \
                 FROM {} k GROUP BY k.n) k ON k.n = m.n \
             LEFT JOIN (SELECT e.u, LEAST(e.u, min(e.v)) AS least FROM {} e GROUP BY e.u) e ON e.u = m.n \
         WHERE m.r = 1::int8 AND (c.count > 1::int8 OR k.n IS NOT NULL)",
        vertices.0,
        members.0,
        counts(members.0),
        neighbours.0,
        edges.0
    ))
    .about([vertices.1, members.1, neighbours.1, edges.1])
}

/// How many clusters there are; how many of these are large of which most are no pairs with the one that
/// represents them; and how large they get.
pub(crate) fn chains(vertices: Named<'_>) -> Statement {
    const LARGE: usize = Chains::LARGE;
    // The representative is the one that has the most pairs.
    Statement::new(format!(
        "SELECT count(*), count(*) FILTER (WHERE c.chain), COALESCE(max(c.size) FILTER (WHERE c.chain), 0::int8) \
         FROM (SELECT v.root, sum(v.count)::int8 AS size, \
                 sum(v.count) >= {LARGE}::numeric AND sum(v.count) - 1::numeric - max(v.pairs)::numeric > div(sum(v.count), 2::numeric) AS chain \
             FROM {} v GROUP BY v.root) c",
        vertices.0
    ))
    .about([vertices.1])
}

/// What there is to tell of each set: the first document of its cluster, how many documents that has, and the set of the one that
/// represents it.
pub(crate) fn clusters(clusters: Named<'_>, vertices: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT v.n, first_value(v.id) OVER (PARTITION BY v.root ORDER BY v.id), (sum(v.count) OVER (PARTITION BY v.root))::int8, \
             first_value(v.n) OVER (PARTITION BY v.root ORDER BY v.pairs DESC, v.weight DESC, v.id) FROM {} v",
        clusters.0, vertices.0
    ))
    .about([clusters.1, vertices.1])
}

/// The clusters of documents. Of those with one set the first one stands for all.
pub(crate) fn result(result: Named<'_>, [clusters, members, neighbours]: [Named<'_>; 3]) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT c.id, m.id, m.n = c.representative AND m.r = 1::int8, c.size, \
             CASE WHEN m.n = c.representative THEN 1::float8 ELSE k.similarity END \
         FROM {} c JOIN {} m ON m.n = c.n LEFT JOIN {} k ON k.n = c.n AND k.other = c.representative",
        result.0, clusters.0, members.0, neighbours.0
    ))
    .about([result.1, clusters.1, members.1, neighbours.1])
}
