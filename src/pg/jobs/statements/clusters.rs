//! Steps on the clusters that contain rows of a batch, before or after the change. What makes them
//! is Rust code, whose rows a statement stores: cluster, id, and a flag for the representative.

use pgrx::PgSqlErrorCode;

use super::work::{Names, RefreshWork};
use crate::jobs::step::ClusterUpdate;
use crate::pg::functions::clusters::near_duplicate_clusters::{grouped_rows, member_rows};
use crate::pg::jobs::hints::anew;
use crate::pg::jobs::tables::MEMBER_COLUMNS;
use crate::pg::procedure::rows::supplying;
use crate::pg::procedure::statement::{Statement, on};
use crate::pg::query::Parameter;
use crate::pg::read::pairs::{AskedPairs, PairGraph};
use crate::pg::request::example::literal;
use crate::pg::request::such_as;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::RowStore;
use crate::pg::server::temp_file::ServerFiles;

/// The marks of the batch, and of rows that pairs connect with it before and after the change.
const BATCH: i16 = 0;
const BEFORE: i16 = -1;
const AFTER: i16 = -2;

/// Marks the rows that are connected with the batch before its pairs change.
pub(crate) fn reach_before(work: &mut RefreshWork<'_>) -> Result<()> {
    reach(&work.names, BEFORE, &[BATCH])
}

/// Brings the clusters up to date.
pub(crate) fn renew(work: &mut RefreshWork<'_>, how: ClusterUpdate) -> Result<()> {
    let names = &work.names;
    let (clusters, state, pairs) = (&names.tables.clusters, &names.tables.state, &names.tables.pairs);
    let equals = &names.equals;
    let all = |rows: &str| on([clusters], insert(names, rows));
    match how {
        ClusterUpdate::OfSignatures => {
            clusters.empty()?;
            let mut supply = |_, store: &mut RowStore| found_of_signatures(names, store);
            let supplied = names.supplied(None, MEMBER_COLUMNS);
            supplying(supplied, &mut supply, |rows| all(rows).run()).map(|_| ())
        }
        ClusterUpdate::OfPairs => {
            clusters.empty()?;
            let query = literal(&format!("SELECT left_id, right_id, similarity FROM {pairs}"));
            of_pairs(names, &query, all)
        }
        ClusterUpdate::Touched { had_pairs } => {
            let near = work.near.take();
            let query = reached(names);
            of_pairs(names, &query, |rows| of_touched(names, had_pairs, near, rows))
        }
        ClusterUpdate::Reached => {
            reach(names, AFTER, &[BATCH, BEFORE])?;
            let forget = format!(
                "DELETE FROM {clusters} c USING {state} b WHERE b.change = -2 AND c.id {equals} b.id"
            );
            on([clusters, state], forget).run()?;
            let query = format!(
                "SELECT p.left_id, p.right_id, p.similarity FROM {state} b JOIN {pairs} p ON p.left_id {equals} b.id WHERE b.change = -2"
            );
            of_pairs(names, &literal(&query), all)
        }
    }
}

/// Runs a statement on the clusters of the pairs that a query returns. The text of the query is an
/// SQL expression.
fn of_pairs(names: &Names, query: &str, statement: impl FnOnce(&str) -> Statement) -> Result<()> {
    let supplied = names.supplied(Some(query), MEMBER_COLUMNS);
    let mut supply = |call, store: &mut RowStore| found_of_pairs(names, call, store);
    supplying(supplied, &mut supply, |rows| statement(rows).run()).map(|_| ())
}

/// Returns the SQL that inserts clusters.
fn insert(names: &Names, rows: &str) -> String {
    let clusters = &names.tables.clusters;
    format!(
        "INSERT INTO {clusters} (cluster_id, id, representative) SELECT cluster_id, id, representative FROM {rows}"
    )
}

/// Adds the mark `mark` to the rows whose marks are in `from` and to all rows that pairs connect
/// with these.
fn reach(names: &Names, mark: i16, from: &[i16]) -> Result<()> {
    let (state, pairs, equals) = (&names.tables.state, &names.tables.pairs, &names.equals);
    let from: Vec<String> = from.iter().map(i16::to_string).collect();
    let sql = format!(
        "INSERT INTO {state} (id, change) SELECT DISTINCT ON (r.id) r.id, {mark} FROM (WITH RECURSIVE reach(id) AS ( \
             SELECT id FROM {state} WHERE change = ANY ('{{{from}}}'::int2[]) \
         UNION \
             SELECT n.id FROM reach, LATERAL (SELECT p.right_id FROM {pairs} p WHERE p.left_id {equals} reach.id \
                 UNION ALL SELECT p.left_id FROM {pairs} p WHERE p.right_id {equals} reach.id) n(id) \
         ) SELECT id FROM reach) r",
        from = from.join(","),
    );
    on([state, pairs], sql).run().map(|_| ())
}

/// Returns an SQL expression for the query for the pairs of all rows that [`of_touched`] reaches.
/// The ids of these rows are inserted into the query once they are known.
fn reached(names: &Names) -> String {
    let (pairs, Names { equals, column, .. }) = (&names.tables.pairs, names);
    let start = format!("SELECT left_id, right_id, similarity FROM {pairs} WHERE left_id {equals} ANY (");
    format!(
        "concat({}, quote_nullable((SELECT array_agg(id) FROM (SELECT id FROM near UNION ALL SELECT id FROM old) reached)::text), {})",
        literal(&start),
        literal(&format!("::{column}[])"))
    )
}

/// Rebuilds the clusters that contain rows of the batch or their partners, before or after the
/// change. Most rows of these clusters stay unchanged. Finds the partners if they are not given as
/// an array.
fn of_touched(names: &Names, had_pairs: bool, near: Option<Parameter>, rows: &str) -> Statement {
    let (clusters, state, pairs) = (&names.tables.clusters, &names.tables.state, &names.tables.pairs);
    let equals = &names.equals;
    let partners = match &near {
        Some(_) => "SELECT unnest($1)".to_owned(),
        None => format!(
            "SELECT p.right_id FROM {state} b JOIN {pairs} p ON p.left_id {equals} b.id WHERE b.change = 0 \
             UNION SELECT p.left_id FROM {state} b JOIN {pairs} p ON p.right_id {equals} b.id WHERE b.change = 0"
        ),
    };
    // Rows that had no pairs were in no cluster.
    let before = if had_pairs {
        "TABLE near".to_owned()
    } else {
        format!("SELECT id FROM near EXCEPT SELECT id FROM {state} WHERE change = 0")
    };
    let sql = format!(
        "WITH near(id) AS MATERIALIZED (SELECT id FROM {state} WHERE change = 0 UNION {partners}), \
         touched AS (SELECT DISTINCT c.cluster_id FROM ({before}) n, LATERAL (SELECT cluster_id FROM {clusters} c WHERE c.id {equals} n.id OFFSET 0) c), \
         old AS MATERIALIZED (SELECT c.* FROM touched t, \
             LATERAL (SELECT cluster_id, id, representative, ctid AS place FROM {clusters} c WHERE c.cluster_id {equals} t.cluster_id OFFSET 0) c), \
         new AS (SELECT cluster_id, id, representative FROM {rows}), \
         differ AS MATERIALIZED (SELECT n.cluster_id, n.id, n.representative, o.place \
             FROM new n FULL JOIN old o ON n.id {equals} o.id AND n.cluster_id {equals} o.cluster_id \
             WHERE n.representative IS DISTINCT FROM o.representative), \
         come AS (INSERT INTO {clusters} (cluster_id, id, representative) \
             SELECT cluster_id, id, representative FROM differ WHERE place IS NULL ORDER BY id, cluster_id), \
         gone AS (DELETE FROM {clusters} WHERE ctid = ANY (ARRAY(SELECT place FROM differ WHERE id IS NULL))) \
         UPDATE {clusters} SET representative = NOT representative \
         WHERE ctid = ANY (ARRAY(SELECT place FROM differ WHERE id IS NOT NULL))"
    );
    on([state, clusters], sql).with(near.into_iter().collect::<Vec<_>>())
}

/// Stores the clusters of pairs. The query in argument 0 of `call` reads the pairs from the job's
/// table of pairs.
fn found_of_pairs(names: &Names, call: FunctionCall, store: &mut RowStore) -> Result<()> {
    let how = names.clustering;
    let files = ServerFiles::in_current_context();
    let asked = AskedPairs {
        name: "clusters_of_pairs",
        id_type: Some(names.id_oid),
        relations: &[names.tables.pairs.oid],
        hint: &anew(&names.docs_name),
    };
    let mut pairs = PairGraph::read(call, asked, &files)?;
    let clusters = how.clusters(&mut pairs)?;
    store.put_all(member_rows::<3>(pairs.vertices, vec![(None, clusters)]))
}

/// Stores the clusters that the method makes from the signatures of all rows instead of from pairs.
fn found_of_signatures(names: &Names, store: &mut RowStore) -> Result<()> {
    let request = names.request()?;
    let Some(grouping) = names.clustering.grouping(&request) else {
        let message = "clusters of this method are made of its pairs";
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
            .hint(such_as(&request.example)));
    };
    let (vertices, clusters) = grouped_rows(&request, grouping)?;
    store.put_all(member_rows::<3>(vertices, vec![(None, clusters)]))
}
