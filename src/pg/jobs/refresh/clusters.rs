//! The clusters that the rows of a step are or were in.

use super::batch::Batch;
use super::pairs::Found;
use super::{Step, run};
use crate::pg::jobs::method::Method;
use crate::pg::query::Parameter;
use crate::pg::request::example::literal;
use crate::pg::server::error::Result;

/// Marks the rows that one can get to by pairs from those of certain marks.
pub fn reach(step: &Step<'_>, mark: i16, from: &str) -> Result<()> {
    let (state, pairs, equals) = (&step.tables.state, &step.tables.pairs, &step.equals);
    let sql = format!(
        "INSERT INTO {state} (id, change) SELECT DISTINCT ON (r.id) r.id, {mark} FROM (WITH RECURSIVE reach(id) AS ( \
             SELECT id FROM {state} WHERE change = ANY ('{from}'::int2[]) \
         UNION \
             SELECT n.id FROM reach, LATERAL (SELECT p.right_id FROM {pairs} p WHERE p.left_id {equals} reach.id \
                 UNION ALL SELECT p.left_id FROM {pairs} p WHERE p.right_id {equals} reach.id) n(id) \
         ) SELECT id FROM reach) r",
        state = state.name,
        pairs = pairs.name,
    );
    run(&sql, &[], &[state, pairs]).map(|_| ())
}

/// Brings the clusters up to date.
pub fn renew(step: &Step<'_>, batch: &Batch, had_pairs: bool, found: Found) -> Result<()> {
    let (clusters, state, pairs) = (&step.tables.clusters, &step.tables.state, &step.tables.pairs);
    if batch.most {
        run(&format!("DELETE FROM {}", clusters.name), &[], &[clusters])?;
    }
    if step.method == Method::Signatures {
        let [clustering, _] = step.settings.cluster_arguments();
        let call = format!(
            "{}.neardup_job_grouping({}, {clustering}) {}",
            step.job.extension.schema,
            step.arguments,
            columns(step)
        );
        put(step, &call)
    } else if batch.most {
        put(
            step,
            &of_pairs(step, &literal(&format!("SELECT left_id, right_id, similarity FROM {}", pairs.name))),
        )
    } else if step.settings.whole_clusters() {
        renew_touched(step, had_pairs, found.near)
    } else {
        reach(step, -2, "{0,-1}")?;
        let sql = format!(
            "DELETE FROM {} c USING {} b WHERE b.change = -2 AND c.id {} b.id",
            clusters.name, state.name, step.equals
        );
        run(&sql, &[], &[clusters, state])?;
        let touched = format!(
            "SELECT p.left_id, p.right_id, p.similarity FROM {} b JOIN {} p ON p.left_id {} b.id WHERE b.change = -2",
            state.name, pairs.name, step.equals
        );
        put(step, &of_pairs(step, &literal(&touched)))
    }
}

fn columns(step: &Step<'_>) -> String {
    let id = step.id_type();
    format!("AS c(cluster_id {id}, id {id}, representative bool)")
}

/// The clusters of the pairs that a query gives, which is an expression of SQL.
fn of_pairs(step: &Step<'_>, query: &str) -> String {
    let [clustering, size] = step.settings.cluster_arguments();
    format!(
        "{}.neardup_job_clusters(({query})::pg_catalog.text, '{}'::pg_catalog.regtype, {size}, {clustering}, '{}'::pg_catalog.regclass) {}",
        step.job.extension.schema,
        step.columns.id_type().to_u32(),
        step.tables.pairs.oid.to_u32(),
        columns(step)
    )
}

fn put(step: &Step<'_>, call: &str) -> Result<()> {
    let clusters = &step.tables.clusters;
    let sql = format!(
        "INSERT INTO {} (cluster_id, id, representative) SELECT cluster_id, id, representative FROM {call}",
        clusters.name
    );
    run(&sql, &[], &[clusters]).map(|_| ())
}

/// Makes those clusters anew that have rows of the batch or partners of these, as they were and as they are. Most of
/// their rows stay as they are.
fn renew_touched(step: &Step<'_>, had_pairs: bool, near: Option<Parameter>) -> Result<()> {
    let (clusters, state, pairs) = (&step.tables.clusters, &step.tables.state, &step.tables.pairs);
    let (equals, column_type) = (&step.equals, step.column_type());
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
    // The pairs of all rows that are reached, whose ids are put in when they are known.
    let start =
        format!("SELECT left_id, right_id, similarity FROM {} WHERE left_id {equals} ANY (", pairs.name);
    let query = format!(
        "concat({}, quote_nullable((SELECT array_agg(id) FROM (SELECT id FROM near UNION ALL SELECT id FROM old) reached)::text), {})",
        literal(&start),
        literal(&format!("::{column_type}[])"))
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
        call = of_pairs(step, &query),
    );
    let parameters: Vec<Parameter> = near.into_iter().collect();
    run(&sql, &parameters, &[state, clusters]).map(|_| ())
}
