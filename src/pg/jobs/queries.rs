//! SQL of the functions that anyone may call, under whatever path: every name stands with its schema.

use crate::jobs::step::Rows;

/// The condition that a row of the relation, by its key, is in a table of rows as they were seen. Citus looks there beside the rows.
pub(super) fn was_seen(hashes: &str, equals: &str, key: &str) -> String {
    format!("{key} {equals} ANY (SELECT b.id FROM {hashes} AS b)")
}

/// The condition that a row of the relation, by its key, is in the table of states as one of these. The ids are a query by themselves,
/// as rows of Citus are joined with no table of another place.
pub(super) fn has_row(state: &str, rows: Rows, equals: &str, key: &str) -> String {
    let marks = match rows {
        Rows::Batch => "b.change OPERATOR(pg_catalog.=) 0::pg_catalog.int2",
        Rows::Known => "b.change IS NULL",
    };
    format!("{key} {equals} ANY (SELECT b.id FROM {state} AS b WHERE {marks})")
}

/// The condition that a key is one of an array, which is `$1`.
pub(super) fn is_any(key: &str, equals: &str) -> String {
    format!("{key} {equals} ANY ($1)")
}

/// Columns of a table of lists, by a condition and what may follow it.
pub(super) fn of_lists(table: &str, columns: &[&str], rest: &str) -> String {
    format!("SELECT {} FROM {table} WHERE {rest}", columns.join(", "))
}

/// The condition that a row of lists is of a kind.
pub(super) fn is_kind(kind: char) -> String {
    format!("kind OPERATOR(pg_catalog.=) '{kind}'::pg_catalog.\"char\"")
}

/// The condition that it is of a kind, and of a segment.
pub(super) fn in_segment(kind: char, segment: i64) -> String {
    format!("{} AND segment OPERATOR(pg_catalog.=) '{segment}'::pg_catalog.int8", is_kind(kind))
}

/// The further condition that its part is one of these; none for all.
pub(super) fn is_among(parts: Option<&[u32]>) -> String {
    let Some(parts) = parts else { return String::new() };
    let list: Vec<String> = parts.iter().map(u32::to_string).collect();
    format!(" AND part OPERATOR(pg_catalog.=) ANY ('{{{}}}'::pg_catalog.int4[])", list.join(","))
}
