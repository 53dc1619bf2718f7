//! Clusters of similar sets, by large star and small star (Kiveris, Lattanzi, Mirrokni, Rastogi,
//! Vassilvitskii: *Connected components in MapReduce and beyond*, SoCC 2014). Each number of a set
//! finds the least number of its cluster, and the data about a cluster is computed on the node of
//! Citus that has that number. Large star and small star are one statement each, whose rows go from
//! node to node.
//!
//! The result of a round may contain edges more than once. The edges are made distinct when they
//! are read, because all copies of an edge are in the same place.

use crate::into::step::LoggedStage;
use crate::into::step::WorkingTable::{
    self, Clusters, Edges, Larger, Living, Members, Neighbours, Pairs, Vertices,
};
use crate::pg::functions::clusters::near_duplicate_clusters::Chains;
use crate::pg::into::work::CallWork;
use crate::pg::procedure::table::Table;
use crate::pg::server::error::Result;
use neardup_core::clusters::LARGEST_COUNTED;

/// The bytes of a row of two numbers.
const TWO_NUMBERS: i64 = 16;

/// Returns the SQL expression for the distinct edges.
fn once(edges: WorkingTable) -> String {
    format!("(SELECT DISTINCT e.u, e.v FROM {edges} e) e")
}

/// Large star: connects each greater neighbour of a number with the least of the number and its
/// neighbours. The log counts the edges that are made from these rows, not these rows themselves.
pub(crate) fn fill_larger(work: &mut CallWork) -> Result<()> {
    let once = once(Edges);
    let rows = work.execute(&format!(
        "INSERT INTO {Larger} SELECT x.v, x.least FROM \
             (SELECT e.u, e.v, LEAST(e.u, min(e.v) OVER (PARTITION BY e.u)) AS least FROM {once}) x WHERE x.v > x.u"
    ))?;
    work.moved += rows.saturating_mul(TWO_NUMBERS);
    Ok(())
}

/// Inserts the edges between similar sets, in both directions; in a round, makes them by small
/// star.
pub(crate) fn fill_edges(work: &mut CallWork) -> Result<i64> {
    let rows = if matches!(work.log()?.progress.next(true), LoggedStage::Stars(_)) {
        smaller(work)?
    } else if work.is_update() {
        between_living(work)?
    } else {
        work.execute(&format!(
            "INSERT INTO {Edges} SELECT e.u, e.v FROM {Pairs} p, LATERAL (VALUES (p.l, p.r), (p.r, p.l)) e(u, v)"
        ))?
    };
    work.moved += rows.saturating_mul(TWO_NUMBERS);
    Ok(rows)
}

/// Small star: connects a number and its lesser neighbours with the least of these, in both
/// directions. The table of larger ends has rows only for lesser neighbours.
fn smaller(work: &CallWork) -> Result<i64> {
    let once = once(Larger);
    work.execute(&format!(
        "INSERT INTO {Edges} SELECT y.u, y.v FROM \
             (SELECT e.u, e.v, min(e.v) OVER (PARTITION BY e.u) AS least FROM {once}) x, \
             LATERAL (SELECT CASE WHEN x.v = x.least THEN x.u ELSE x.v END AS far OFFSET 0) f, \
             LATERAL (VALUES (f.far, x.least), (x.least, f.far)) y(u, v)"
    ))
}

/// Inserts the edges between sets that documents have: stored pairs may be of other sets.
fn between_living(work: &CallWork) -> Result<i64> {
    let spread = work.spread()?;
    spread.make(Living)?;
    work.execute(&format!(
        "INSERT INTO {Living} SELECT p.l, p.r FROM {Pairs} p JOIN {Members} m ON m.n = p.r WHERE m.r = 1::int8"
    ))?;
    let rows = work.execute(&format!(
        "INSERT INTO {Edges} SELECT e.u, e.v FROM {Living} p JOIN {Members} m ON m.n = p.l, LATERAL (VALUES (p.l, p.r), (p.r, p.l)) e(u, v) WHERE m.r = 1::int8"
    ))?;
    spread.drop(Living)?;
    Ok(rows)
}

/// Counts the numbers that have a lesser neighbour and another neighbour. There are no such numbers
/// if all edges lead to the least number of a cluster.
pub(crate) fn count_unsettled(work: &mut CallWork) -> Result<()> {
    work.state.unsettled = Some(work.number(&format!(
        "SELECT count(*) FROM (SELECT e.u FROM {Edges} e GROUP BY e.u HAVING min(e.v) < e.u AND min(e.v) <> max(e.v)) e"
    ))?);
    Ok(())
}

/// Returns the SQL expression for the number of documents that have each set.
pub(super) fn counts() -> String {
    format!("(SELECT m.n, count(*) AS count FROM {Members} m GROUP BY m.n)")
}

/// Inserts the right neighbours of sets, and the left ones, which follow from these.
pub(crate) fn fill_neighbours(work: &mut CallWork) -> Result<i64> {
    let counts = counts();
    let right = format!(
        "INSERT INTO {Neighbours} SELECT p.l, p.r, p.similarity, c.count FROM {Pairs} p JOIN {counts} c ON c.n = p.r"
    );
    let left = format!(
        "INSERT INTO {Neighbours} SELECT k.other, k.n, k.similarity, c.count FROM {Neighbours} k JOIN {counts} c ON c.n = k.n"
    );
    let rows = work.execute(&right)? + work.execute(&left)?;
    work.moved += rows.saturating_mul(2 * TWO_NUMBERS);
    Ok(rows)
}

/// Inserts the sets of clusters: the first document of the cluster of a set, the number of
/// documents in the cluster, and the set of the representative. Warns of clusters that are chains.
pub(crate) fn fill_clusters(work: &mut CallWork) -> Result<i64> {
    let spread = work.spread()?;
    spread.make(Vertices)?;
    fill_vertices(work)?;
    chains(work)?.warn();
    let rows = work.execute(&format!(
        "INSERT INTO {Clusters} SELECT v.n, first_value(v.id) OVER (PARTITION BY v.root ORDER BY v.id), v.size, \
             first_value(v.n) OVER (PARTITION BY v.root ORDER BY CASE WHEN v.size <= {LARGEST_COUNTED}::int8 THEN v.pairs END DESC NULLS LAST, \
                 CASE WHEN v.size <= {LARGEST_COUNTED}::int8 THEN v.weight END DESC NULLS LAST, v.id) \
         FROM (SELECT v.*, (sum(v.count) OVER (PARTITION BY v.root))::int8 AS size FROM {Vertices} v) v"
    ))?;
    let moved = work.bytes_in(Vertices)? + work.bytes_in(Clusters)?;
    spread.drop(Vertices)?;
    work.moved += moved;
    Ok(rows)
}

/// Inserts, for each set in a cluster, its first document and the values that decide which set has
/// the representative: the number of pairs of its documents, and the sum of their similarities, in
/// the units of [`Degrees`](neardup_core::clusters::leaders::Degrees).
fn fill_vertices(work: &CallWork) -> Result<i64> {
    const UNIT: &str = "2147483648";
    let counts = counts();
    work.execute(&format!(
        "INSERT INTO {Vertices} SELECT COALESCE(e.least, m.n), m.n, m.id, c.count, c.count - 1::int8 + COALESCE(k.pairs, 0::int8), \
             (c.count - 1::int8)::numeric * {UNIT}::numeric + COALESCE(k.weight, 0::numeric) \
         FROM {Members} m JOIN {counts} c ON c.n = m.n \
             LEFT JOIN (SELECT k.n, sum(k.count)::int8 AS pairs, sum(k.count::numeric * floor(k.similarity * {UNIT}::float8)::int8::numeric) AS weight \
                 FROM {Neighbours} k GROUP BY k.n) k ON k.n = m.n \
             LEFT JOIN (SELECT e.u, LEAST(e.u, min(e.v)) AS least FROM {Edges} e GROUP BY e.u) e ON e.u = m.n \
         WHERE m.r = 1::int8 AND (c.count > 1::int8 OR k.n IS NOT NULL)"
    ))
}

/// Counts the clusters, and the large clusters in which most documents form no pair with the
/// representative. Also returns the size of the largest of these large clusters.
fn chains(work: &CallWork) -> Result<Chains> {
    const LARGE: usize = Chains::LARGE;
    // The representative is the set with the most pairs, or in a very large cluster the first one.
    let sql = format!(
        "SELECT count(*), count(*) FILTER (WHERE c.chain), COALESCE(max(c.size) FILTER (WHERE c.chain), 0::int8) \
         FROM (SELECT v.root, sum(v.count)::int8 AS size, \
                 sum(v.count) >= {LARGE}::numeric AND sum(v.count) - 1::numeric - (CASE WHEN sum(v.count) > {LARGEST_COUNTED}::numeric THEN (array_agg(v.pairs ORDER BY v.id))[1] ELSE max(v.pairs) END)::numeric > div(sum(v.count), 2::numeric) AS chain \
             FROM {Vertices} v GROUP BY v.root) c"
    );
    let [clusters, chains, largest] = work.statement(&sql)?.numbers()?.map(|number| number as usize);
    Ok(Chains { clusters, chains, largest })
}

/// Inserts the clusters of documents. Only the first of the documents with the same set can be the
/// representative.
pub(crate) fn fill_result(work: &CallWork, result: &Table) -> Result<i64> {
    work.nodes()?.reach(None);
    let sql = format!(
        "INSERT INTO {result} SELECT c.id, m.id, m.n = c.representative AND m.r = 1::int8, c.size, \
             CASE WHEN m.n = c.representative THEN 1::float8 ELSE k.similarity END \
         FROM {Clusters} c JOIN {Members} m ON m.n = c.n LEFT JOIN {Neighbours} k ON k.n = c.n AND k.other = c.representative"
    );
    work.statement(&sql)?.about([result.oid]).run()
}
