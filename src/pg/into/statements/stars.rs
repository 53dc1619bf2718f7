//! Clusters of similar sets, by large star and small star (Kiveris, Lattanzi, Mirrokni, Rastogi,
//! Vassilvitskii: *Connected components in MapReduce and beyond*, SoCC 2014). Large star and small
//! star are one statement each, whose rows go from node to node.
//!
//! The result of a round may contain edges more than once. The edges are made distinct when they
//! are read, because all copies of an edge are in the same place.

use super::fill::Named;
use crate::pg::functions::clusters::Chains;
use crate::pg::procedure::statement::Statement;
use neardup_core::clusters::LARGEST_COUNTED;

/// Inserts the edges between similar sets, in both directions.
pub(crate) fn edges(edges: Named<'_>, pairs: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT e.u, e.v FROM {} p, LATERAL (VALUES (p.l, p.r), (p.r, p.l)) e(u, v)",
        edges.0, pairs.0
    ))
    .about([edges.1, pairs.1])
}

/// Returns the SQL expression for the distinct edges.
fn once(edges: &str) -> String {
    format!("(SELECT DISTINCT e.u, e.v FROM {edges} e) e")
}

/// Large star: connects each greater neighbour of a number with the least of the number and its
/// neighbours.
pub(crate) fn larger(larger: Named<'_>, edges: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT x.v, x.least FROM \
             (SELECT e.u, e.v, LEAST(e.u, min(e.v) OVER (PARTITION BY e.u)) AS least FROM {}) x WHERE x.v > x.u",
        larger.0,
        once(edges.0)
    ))
    .about([larger.1, edges.1])
}

/// Small star: connects a number and its lesser neighbours with the least of these, in both
/// directions. The table `larger` has rows only for lesser neighbours.
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

/// Counts the numbers that have a lesser neighbour and another neighbour. There are no such numbers
/// if all edges lead to the least number of a cluster.
pub(crate) fn unsettled(edges: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT count(*) FROM (SELECT e.u FROM {} e GROUP BY e.u HAVING min(e.v) < e.u AND min(e.v) <> max(e.v)) e",
        edges.0
    ))
    .about([edges.1])
}

/// Returns the SQL expression for the number of documents that have each set.
fn counts(members: &str) -> String {
    format!("(SELECT m.n, count(*) AS count FROM {members} m GROUP BY m.n)")
}

/// Inserts the right neighbours of sets.
pub(crate) fn right_neighbours(neighbours: Named<'_>, [pairs, members]: [Named<'_>; 2]) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT p.l, p.r, p.similarity, c.count FROM {} p JOIN {} c ON c.n = p.r",
        neighbours.0,
        pairs.0,
        counts(members.0)
    ))
    .about([neighbours.1, pairs.1, members.1])
}

/// Inserts the left neighbours of sets, which follow from the right neighbours.
pub(crate) fn left_neighbours(neighbours: Named<'_>, members: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {0} SELECT k.other, k.n, k.similarity, c.count FROM {0} k JOIN {1} c ON c.n = k.n",
        neighbours.0,
        counts(members.0)
    ))
    .about([neighbours.1, members.1])
}

/// Inserts the sets of clusters, and for each set its first document and the values that decide
/// which set has the representative: the number of pairs of its documents, and the sum of their
/// similarities, in the units of [`Degrees`](neardup_core::clusters::leaders::Degrees).
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

/// Counts the clusters, and the large clusters in which most documents form no pair with the
/// representative. Also returns the size of the largest of these large clusters.
pub(crate) fn chains(vertices: Named<'_>) -> Statement {
    const LARGE: usize = Chains::LARGE;
    // The representative is the set with the most pairs, or in a very large cluster the first one.
    Statement::new(format!(
        "SELECT count(*), count(*) FILTER (WHERE c.chain), COALESCE(max(c.size) FILTER (WHERE c.chain), 0::int8) \
         FROM (SELECT v.root, sum(v.count)::int8 AS size, \
                 sum(v.count) >= {LARGE}::numeric AND sum(v.count) - 1::numeric - (CASE WHEN sum(v.count) > {LARGEST_COUNTED}::numeric THEN (array_agg(v.pairs ORDER BY v.id))[1] ELSE max(v.pairs) END)::numeric > div(sum(v.count), 2::numeric) AS chain \
             FROM {} v GROUP BY v.root) c",
        vertices.0
    ))
    .about([vertices.1])
}

/// Inserts the data about each set: the first document of its cluster, the number of documents in
/// the cluster, and the set of the representative.
pub(crate) fn clusters(clusters: Named<'_>, vertices: Named<'_>) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT v.n, first_value(v.id) OVER (PARTITION BY v.root ORDER BY v.id), v.size, \
             first_value(v.n) OVER (PARTITION BY v.root ORDER BY CASE WHEN v.size <= {LARGEST_COUNTED}::int8 THEN v.pairs END DESC NULLS LAST, \
                 CASE WHEN v.size <= {LARGEST_COUNTED}::int8 THEN v.weight END DESC NULLS LAST, v.id) \
         FROM (SELECT v.*, (sum(v.count) OVER (PARTITION BY v.root))::int8 AS size FROM {} v) v",
        clusters.0, vertices.0
    ))
    .about([clusters.1, vertices.1])
}

/// Inserts the clusters of documents. Only the first of the documents with the same set can be the
/// representative.
pub(crate) fn result(result: Named<'_>, [clusters, members, neighbours]: [Named<'_>; 3]) -> Statement {
    Statement::new(format!(
        "INSERT INTO {} SELECT c.id, m.id, m.n = c.representative AND m.r = 1::int8, c.size, \
             CASE WHEN m.n = c.representative THEN 1::float8 ELSE k.similarity END \
         FROM {} c JOIN {} m ON m.n = c.n LEFT JOIN {} k ON k.n = c.n AND k.other = c.representative",
        result.0, clusters.0, members.0, neighbours.0
    ))
    .about([result.1, clusters.1, members.1, neighbours.1])
}
