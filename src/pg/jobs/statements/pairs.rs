//! Statements on the table of pairs.

use super::names::Names;
use super::{lists, rows};
use crate::pg::procedure::statement::Statement;
use crate::pg::procedure::table::Table;

/// Returns the condition that an id is in the batch.
fn in_batch(names: &Names) -> String {
    format!("{} ANY (ARRAY(SELECT id FROM {} WHERE change = 0))", names.equals, names.tables.state.name)
}

/// Reports whether rows of the batch are in clusters. Connected clusters contain all rows with
/// pairs, so a single lookup shows whether rows have any pairs.
pub(crate) fn are_in_clusters(names: &Names) -> Statement {
    let (clusters, state) = (&names.tables.clusters, &names.tables.state);
    Statement::new(format!("SELECT EXISTS (SELECT FROM {} WHERE id {})", clusters.name, in_batch(names)))
        .about([clusters.oid, state.oid])
}

/// Deletes the pairs that have rows of the batch on either side.
pub(crate) fn remove(names: &Names) -> [Statement; 2] {
    let (pairs, state) = (&names.tables.pairs, &names.tables.state);
    ["left_id", "right_id"].map(|side| {
        Statement::new(format!("DELETE FROM {} WHERE {side} {}", pairs.name, in_batch(names)))
            .about([pairs.oid, state.oid])
    })
}

/// Returns the pairs that the library finds, together with rows of the table of lists.
fn found(names: &Names) -> String {
    let id = &names.id;
    names.supplied(
        None,
        &format!("left_id {id}, right_id {id}, similarity float8, {}", lists::COLUMNS_WITH_TYPES),
    )
}

/// Stores the pairs that the library finds.
pub(crate) fn store(names: &Names) -> Statement {
    let pairs = &names.tables.pairs;
    let sql = format!(
        "INSERT INTO {} (left_id, right_id, similarity) SELECT left_id, right_id, similarity FROM {} ON CONFLICT DO NOTHING",
        pairs.name,
        found(names)
    );
    Statement::new(sql).about([pairs.oid])
}

/// Stores the pairs of the batch that are found with the lists, and rows of the lists if the batch
/// becomes a segment. Returns the number of pairs; the ids in these pairs as an array, if `keep` is
/// true; and whether anything was added to the lists. If `doubts` is true, the candidates, whether
/// similar or not, are marked as in doubt if they are not as they were seen and do not wait. For a
/// relation that Citus distributes, the candidates are only set aside for this check.
pub(crate) fn look_up(names: &Names, lists: &Table, [keep, doubts]: [bool; 2]) -> Statement {
    let Names { tables, column, .. } = names;
    let pairs = &tables.pairs;
    let candidates = format!("SELECT unnest(ids::text::{column}[]) AS id FROM found WHERE kind = 'c'");
    let doubt = match (doubts, names.is_spread) {
        (false, _) => String::new(),
        (true, false) => format!("doubt AS ({}), ", rows::doubt_among(names, &candidates)),
        (true, true) => format!("aside AS ({}), ", rows::set_among_aside(names, &candidates)),
    };
    let near = if keep { "(SELECT array_agg(id) FROM near)" } else { "NULL" };
    let sql = format!(
        "WITH found AS MATERIALIZED (SELECT * FROM {found}), \
             list AS (INSERT INTO {lists} (kind, segment, part, documents, data, ids) \
                 SELECT kind, segment, part, documents, data, ids FROM found WHERE kind <> 'c'), {doubt}\
             put AS (INSERT INTO {pairs} (left_id, right_id, similarity) \
                 SELECT DISTINCT left_id, right_id, similarity FROM found \
                 WHERE kind IS NULL ORDER BY 1, 2 RETURNING left_id, right_id), \
             near AS (SELECT left_id AS id FROM put UNION SELECT right_id FROM put) \
         SELECT (SELECT count(*) FROM put), {near}::{column}[], EXISTS (SELECT FROM found WHERE kind <> 'c')",
        found = found(names),
        lists = lists.name,
        pairs = pairs.name,
    );
    Statement::new(sql).about([pairs.oid, lists.oid])
}
