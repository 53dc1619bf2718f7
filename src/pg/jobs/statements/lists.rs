//! Statements on the table of lists.

use super::names::Names;
use crate::pg::procedure::statement::{Statement, int8};
use crate::pg::procedure::table::Table;

const COLUMNS: &str = "kind, segment, part, documents, data, ids";
/// The same columns with their types.
pub(super) const COLUMNS_WITH_TYPES: &str =
    "kind \"char\", segment int8, part int4, documents int4, data bytea, ids text[]";

/// Returns the number of the next segment, which has this many documents. Returns NULL if it is
/// better to rebuild the lists, with an order that fits the tokens that are rare now and without
/// rows that no longer exist. Also returns NULL if the order of the lists is of another version.
pub(crate) fn next_segment(lists: &Table, documents: i64, version: i64) -> Statement {
    let sql = format!(
        "SELECT max(segment) + 1 FROM {name} WHERE $1 + (SELECT sum(documents) FROM {name} WHERE kind = 's') \
         <= (SELECT 1000 + 3 * documents::int8 FROM {name} WHERE segment = 0 AND kind = 'o' AND part = $2)",
        name = lists.name
    );
    Statement::new(sql).with([int8(documents), int8(version)]).about([lists.oid])
}

/// Stores rows that the library supplies.
pub(crate) fn store(names: &Names, lists: &Table) -> Statement {
    let supplied = names.supplied(None, COLUMNS_WITH_TYPES);
    // The row for damaged lists may already be there.
    let sql = format!(
        "INSERT INTO {} ({COLUMNS}) SELECT {COLUMNS} FROM {supplied} ON CONFLICT DO NOTHING",
        lists.name
    );
    Statement::new(sql).about([lists.oid])
}

/// Deletes the segments that were merged.
pub(crate) fn forget_merged(lists: &Table) -> Statement {
    let name = &lists.name;
    Statement::new(format!(
        "DELETE FROM {name} WHERE segment = ANY (ARRAY(SELECT segment FROM {name} WHERE kind = 'x'))"
    ))
    .about([lists.oid])
}

/// Reports whether the lists turned out to be damaged.
pub(crate) fn are_damaged(lists: &Table) -> Statement {
    Statement::new(format!("SELECT EXISTS (SELECT FROM {} WHERE segment = 0 AND kind = '!')", lists.name))
        .about([lists.oid])
}
