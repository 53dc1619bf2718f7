//! The SQL for functions that anyone may call, under any search path: every name is qualified with
//! its schema.

use pgrx::pg_sys;

use super::tables::JobTables;
use crate::jobs::step::RowSelection;
use crate::pg::query::Parameter;
use crate::pg::query::names::equality;
use crate::pg::read::source::DocumentSource;
use crate::pg::request::Request;
use crate::pg::server::error::Result;

/// Returns the condition that the key of a row is in a table of rows as they were seen. Citus
/// evaluates the condition on the nodes that have the rows.
fn was_seen(hashes: &str, equals: &str, key: &str) -> String {
    format!("{key} {equals} ANY (SELECT b.id FROM {hashes} AS b)")
}

/// Returns the condition that the key of a row is in the table of states, as the key of a row of
/// the batch or of a known row. A separate query selects the ids, because Citus does not join its
/// rows with a table in another place.
fn has_row(state: &str, rows: RowSelection, equals: &str, key: &str) -> String {
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

/// A condition on rows, relative to the alias `d`, and the table that the condition names.
#[derive(Debug)]
pub(super) struct Condition {
    sql: String,
    table: pg_sys::Oid,
}

impl Condition {
    /// Makes the condition that a row of a request's documents is in the batch, or that it has been
    /// seen.
    pub(super) fn new(tables: &JobTables, rows: RowSelection, request: &Request) -> Result<Self> {
        let (equals, key) = (equality(request.id_type)?, &request.left.key);
        let seen = tables.hashes.as_ref().filter(|_| rows == RowSelection::Known);
        Ok(match seen {
            Some(hashes) => Self { sql: was_seen(&hashes.name, &equals, key), table: hashes.oid },
            None => {
                let state = &tables.state;
                Self { sql: has_row(&state.name, rows, &equals, key), table: state.oid }
            }
        })
    }

    /// Restricts a source to the rows for which the condition holds.
    pub(super) fn only(&self, source: &DocumentSource) -> DocumentSource {
        source.only(&self.sql, &[], &[self.table])
    }

    /// Restricts a source to the rows for which this condition or the condition `further` holds, of
    /// which `$1` is the parameter.
    pub(super) fn or(&self, source: &DocumentSource, further: &str, parameter: Parameter) -> DocumentSource {
        source.only(&format!("({further} OR {})", self.sql), &[parameter], &[self.table])
    }
}
