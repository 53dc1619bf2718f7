//! The SQL for functions that anyone may call, under any search path: every name is qualified with
//! its schema.

use crate::jobs::step::RowSelection;

/// Returns the condition that the key of a row is in a table of rows as they were seen. Citus
/// evaluates the condition on the nodes that have the rows.
pub(super) fn was_seen(hashes: &str, equals: &str, key: &str) -> String {
    format!("{key} {equals} ANY (SELECT b.id FROM {hashes} AS b)")
}

/// Returns the condition that the key of a row is in the table of states, as the key of a row of
/// the batch or of a known row. A separate query selects the ids, because Citus does not join its
/// rows with a table in another place.
pub(super) fn has_row(state: &str, rows: RowSelection, equals: &str, key: &str) -> String {
    let marks = match rows {
        RowSelection::Batch => "b.change OPERATOR(pg_catalog.=) 0::pg_catalog.int2",
        RowSelection::Known => "b.change IS NULL",
    };
    format!("{key} {equals} ANY (SELECT b.id FROM {state} AS b WHERE {marks})")
}

/// Returns the condition that a key is in an array, which is `$1`.
pub(super) fn is_any(key: &str, equals: &str) -> String {
    format!("{key} {equals} ANY ($1)")
}

/// Selects columns of a table of lists, with a condition and optional further clauses.
pub(super) fn of_lists(table: &str, columns: &[&str], rest: &str) -> String {
    format!("SELECT {} FROM {table} WHERE {rest}", columns.join(", "))
}

/// Returns the condition that a row of lists has a kind.
pub(super) fn is_kind(kind: char) -> String {
    format!("kind OPERATOR(pg_catalog.=) '{kind}'::pg_catalog.\"char\"")
}

/// Returns the condition that a row of lists has a kind and a segment.
pub(super) fn in_segment(kind: char, segment: i64) -> String {
    format!("{} AND segment OPERATOR(pg_catalog.=) '{segment}'::pg_catalog.int8", is_kind(kind))
}

/// Returns the further condition that the part is one of `parts`, or an empty text for all parts.
pub(super) fn is_among(parts: Option<&[u32]>) -> String {
    let Some(parts) = parts else { return String::new() };
    let list: Vec<String> = parts.iter().map(u32::to_string).collect();
    format!(" AND part OPERATOR(pg_catalog.=) ANY ('{{{}}}'::pg_catalog.int4[])", list.join(","))
}
