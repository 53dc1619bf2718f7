//! Queries on filled tables, and the tables that the caller named.

use super::fill::{Join, Named};
use crate::pg::procedure::statement::Statement;
use crate::pg::procedure::supplied_rows::supplied;
use crate::pg::request::example::literal;

/// Reports whether a document has no id.
pub(crate) fn null_id(sets: Named<'_>) -> Statement {
    Statement::new(format!("SELECT EXISTS (SELECT FROM {} s WHERE s.id IS NULL)", sets.0)).about([sets.1])
}

/// Returns, as text, an id that two documents have, or no row if there is no such id.
pub(crate) fn double_id(sets: Named<'_>) -> Statement {
    Statement::new(format!("SELECT s.id::text FROM {} s GROUP BY s.id HAVING count(*) > 1 LIMIT 1", sets.0))
        .about([sets.1])
}

/// Returns the number of bytes of all sets, and of the largest set.
pub(crate) fn measure(sets: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT COALESCE(sum(s.bytes), 0)::int8, COALESCE(max(s.bytes), 0)::int8 FROM {} s",
        sets.0
    ))
    .about([sets.1])
}

/// Counts the pairs of documents with equal sets.
pub(crate) fn equal(members: Named<'_>) -> Statement {
    Statement::new(format!(
        "SELECT LEAST(COALESCE(sum(m.c * (m.c - 1) / 2), 0), 9223372036854775807)::int8 \
         FROM (SELECT count(*)::numeric AS c FROM {} m GROUP BY m.r HAVING count(*) > 1) m",
        members.0
    ))
    .about([members.1])
}

/// Returns a query for all pairs, with the lesser id first. Documents with equal sets have
/// similarity 1; the greater number of two of them is not that of the document that represents
/// them, so that few documents are joined with all others. If passages are found, each document is
/// a record, and the one with the lesser number has the lesser id.
fn all(join: &Join, members: Named<'_>, pairs: Named<'_>) -> String {
    if join.passages {
        let (found, rows) = join.found("p.similarity");
        return format!(
            "SELECT a.id AS left_id, b.id AS right_id, {found} FROM {} p JOIN {} a ON a.r = p.l JOIN {} b ON b.r = p.r{rows}",
            pairs.0, members.0, members.0
        );
    }
    format!(
        "WITH m AS MATERIALIZED (SELECT m.n, m.r, m.id FROM {} m) \
         SELECT LEAST(a.id, b.id) AS left_id, GREATEST(a.id, b.id) AS right_id, p.similarity FROM {} p JOIN m a ON a.r = p.l JOIN m b ON b.r = p.r \
         UNION ALL SELECT LEAST(a.id, b.id), GREATEST(a.id, b.id), 1::float8 FROM m a JOIN m b ON b.r = a.r WHERE b.n <> b.r AND a.n < b.n",
        members.0, pairs.0
    )
}

/// Counts the pairs, up to a limit.
pub(crate) fn total(join: &Join, members: Named<'_>, pairs: Named<'_>, most: i64) -> Statement {
    let all = all(join, members, pairs);
    Statement::new(format!("SELECT count(*) FROM (SELECT FROM ({all}) p LIMIT {most}) p"))
        .about([members.1, pairs.1])
}

/// Makes the table of pairs or of passages, with a primary key if `has_key` is set.
pub(crate) fn create_result(name: &str, id: &str, has_key: bool, passages: bool) -> Statement {
    let (columns, further) = if passages {
        (
            "left_sentence int4 NOT NULL, right_sentence int4 NOT NULL, sentences int4 NOT NULL, left_span int4range NOT NULL, right_span int4range NOT NULL, ",
            ", left_sentence, right_sentence",
        )
    } else {
        ("", "")
    };
    let key = if has_key { format!(", PRIMARY KEY (left_id, right_id{further})") } else { String::new() };
    Statement::new(format!(
        "CREATE TABLE {name} (left_id {id} NOT NULL, right_id {id} NOT NULL, {columns}similarity float8 NOT NULL{key})"
    ))
}

/// Fills the table of pairs.
pub(crate) fn result(join: &Join, result: Named<'_>, members: Named<'_>, pairs: Named<'_>) -> Statement {
    let all = all(join, members, pairs);
    Statement::new(format!("INSERT INTO {} {all}", result.0)).about([result.1, members.1, pairs.1])
}

/// Fills the table of pairs with the pairs that one server finds, which the library supplies. Runs
/// with the search path of the caller, like all reading of documents, and so qualifies all names
/// with their schemas.
pub(crate) fn join_here(internal: &str, result: &str, columns: &str) -> String {
    let found = supplied(internal, None, columns);
    format!("INSERT INTO {result} SELECT f.* FROM {found}")
}

/// Makes the table of clusters, with a primary key if `has_key` is set.
pub(crate) fn create_clusters(name: &str, id: &str, has_key: bool) -> Statement {
    let key = if has_key { ", PRIMARY KEY (id)" } else { "" };
    Statement::new(format!(
        "CREATE TABLE {name} (cluster_id {id} NOT NULL, id {id} NOT NULL, representative bool NOT NULL, size int8 NOT NULL, similarity float8{key})"
    ))
}

/// Fills the table of clusters with the clusters that the library makes of the pairs.
pub(crate) fn clusters(internal: &str, clusters: Named<'_>, result: Named<'_>, id: &str) -> Statement {
    let query = literal(&format!("SELECT p.left_id, p.right_id, p.similarity FROM {} p", result.0));
    let columns = format!("cluster_id {id}, id {id}, representative bool, size int8, similarity float8");
    let made = supplied(internal, Some(&query), &columns);
    Statement::new(format!(
        "INSERT INTO {} SELECT f.cluster_id, f.id, f.representative, f.size, f.similarity FROM {made}",
        clusters.0
    ))
    .about([clusters.1])
}
