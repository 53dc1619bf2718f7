//! Statements on the table of clusters.

use super::names::Names;
use crate::pg::procedure::statement::Statement;
use crate::pg::query::Parameter;
use crate::pg::request::example::literal;

/// Adds the mark `mark` to the rows whose marks are in `from` and to all rows that pairs connect
/// with these.
pub(crate) fn reach(names: &Names, mark: i16, from: &[i16]) -> Statement {
    let (state, pairs, equals) = (&names.tables.state, &names.tables.pairs, &names.equals);
    let from: Vec<String> = from.iter().map(i16::to_string).collect();
    let sql = format!(
        "INSERT INTO {state} (id, change) SELECT DISTINCT ON (r.id) r.id, {mark} FROM (WITH RECURSIVE reach(id) AS ( \
             SELECT id FROM {state} WHERE change = ANY ('{{{from}}}'::int2[]) \
         UNION \
             SELECT n.id FROM reach, LATERAL (SELECT p.right_id FROM {pairs} p WHERE p.left_id {equals} reach.id \
                 UNION ALL SELECT p.left_id FROM {pairs} p WHERE p.right_id {equals} reach.id) n(id) \
         ) SELECT id FROM reach) r",
        state = state.name,
        pairs = pairs.name,
        from = from.join(","),
    );
    Statement::new(sql).about([state.oid, pairs.oid])
}

/// Returns the clusters that the library makes: from the pairs that a query returns, if there is
/// one, or else from signatures. The text of the query is an SQL expression.
fn supplied(names: &Names, query: Option<&str>) -> String {
    let id = &names.id;
    names.supplied(query, &format!("cluster_id {id}, id {id}, representative bool"))
}

/// Inserts the clusters that a call makes.
fn put(names: &Names, call: &str) -> Statement {
    let clusters = &names.tables.clusters;
    let sql = format!(
        "INSERT INTO {} (cluster_id, id, representative) SELECT cluster_id, id, representative FROM {call}",
        clusters.name
    );
    Statement::new(sql).about([clusters.oid])
}

/// Inserts the clusters that the method makes of the signatures of all rows.
pub(crate) fn of_signatures(names: &Names) -> Statement {
    put(names, &supplied(names, None))
}

/// Inserts the clusters of all pairs.
pub(crate) fn of_pairs(names: &Names) -> Statement {
    let pairs = &names.tables.pairs.name;
    let query = literal(&format!("SELECT left_id, right_id, similarity FROM {pairs}"));
    put(names, &supplied(names, Some(&query)))
}

/// Deletes the clusters of reached rows.
pub(crate) fn forget_reached(names: &Names) -> Statement {
    let (clusters, state) = (&names.tables.clusters, &names.tables.state);
    let sql = format!(
        "DELETE FROM {} c USING {} b WHERE b.change = -2 AND c.id {} b.id",
        clusters.name, state.name, names.equals
    );
    Statement::new(sql).about([clusters.oid, state.oid])
}

/// Inserts the clusters of the pairs of reached rows.
pub(crate) fn of_reached(names: &Names) -> Statement {
    let query = format!(
        "SELECT p.left_id, p.right_id, p.similarity FROM {} b JOIN {} p ON p.left_id {} b.id WHERE b.change = -2",
        names.tables.state.name, names.tables.pairs.name, names.equals
    );
    put(names, &supplied(names, Some(&literal(&query))))
}

/// Rebuilds the clusters that contain rows of the batch or their partners, before or after the
/// change. Most rows of these clusters stay unchanged. Finds the partners if they are not given as
/// an array.
pub(crate) fn of_touched(names: &Names, had_pairs: bool, near: Option<Parameter>) -> Statement {
    let (clusters, state, pairs) = (&names.tables.clusters, &names.tables.state, &names.tables.pairs);
    let Names { equals, column, .. } = names;
    let partners = match &near {
        Some(_) => "SELECT unnest($1)".to_owned(),
        None => format!(
            "SELECT p.right_id FROM {state} b JOIN {pairs} p ON p.left_id {equals} b.id WHERE b.change = 0 \
             UNION SELECT p.left_id FROM {state} b JOIN {pairs} p ON p.right_id {equals} b.id WHERE b.change = 0",
            state = state.name,
            pairs = pairs.name,
        ),
    };
    // Rows that had no pairs were in no cluster.
    let before = if had_pairs {
        "TABLE near".to_owned()
    } else {
        format!("SELECT id FROM near EXCEPT SELECT id FROM {} WHERE change = 0", state.name)
    };
    // Selects the pairs of all reached rows. The ids of these rows are inserted into the query once
    // they are known.
    let start =
        format!("SELECT left_id, right_id, similarity FROM {} WHERE left_id {equals} ANY (", pairs.name);
    let query = format!(
        "concat({}, quote_nullable((SELECT array_agg(id) FROM (SELECT id FROM near UNION ALL SELECT id FROM old) reached)::text), {})",
        literal(&start),
        literal(&format!("::{column}[])"))
    );
    let sql = format!(
        "WITH near(id) AS MATERIALIZED (SELECT id FROM {state} WHERE change = 0 UNION {partners}), \
         touched AS (SELECT DISTINCT c.cluster_id FROM ({before}) n, LATERAL (SELECT cluster_id FROM {clusters} c WHERE c.id {equals} n.id OFFSET 0) c), \
         old AS MATERIALIZED (SELECT c.* FROM touched t, \
             LATERAL (SELECT cluster_id, id, representative, ctid AS place FROM {clusters} c WHERE c.cluster_id {equals} t.cluster_id OFFSET 0) c), \
         new AS (SELECT cluster_id, id, representative FROM {call}), \
         differ AS MATERIALIZED (SELECT n.cluster_id, n.id, n.representative, o.place \
             FROM new n FULL JOIN old o ON n.id {equals} o.id AND n.cluster_id {equals} o.cluster_id \
             WHERE n.representative IS DISTINCT FROM o.representative), \
         come AS (INSERT INTO {clusters} (cluster_id, id, representative) \
             SELECT cluster_id, id, representative FROM differ WHERE place IS NULL ORDER BY id, cluster_id), \
         gone AS (DELETE FROM {clusters} WHERE ctid = ANY (ARRAY(SELECT place FROM differ WHERE id IS NULL))) \
         UPDATE {clusters} SET representative = NOT representative \
         WHERE ctid = ANY (ARRAY(SELECT place FROM differ WHERE id IS NOT NULL))",
        state = state.name,
        clusters = clusters.name,
        call = supplied(names, Some(&query)),
    );
    Statement::new(sql).with(near.into_iter().collect::<Vec<_>>()).about([state.oid, clusters.oid])
}
