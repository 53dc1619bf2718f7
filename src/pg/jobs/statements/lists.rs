//! Statements on the table of lists.

use super::calls;
use super::names::Names;
use super::statement::{Statement, int8};
use crate::jobs::step::Rows;
use crate::pg::jobs::tables::table::Table;

const COLUMNS: &str = "kind, segment, part, documents, data, ids";

/// The number of the next segment, of this many documents; none if lists made anew were better: in the order of what tokens are
/// rare now, and without rows that are no more; or if their order is not of this version.
pub(crate) fn next_segment(lists: &Table, documents: i64, version: i64) -> Statement {
    let sql = format!(
        "SELECT max(segment) + 1 FROM {name} WHERE $1 + (SELECT sum(documents) FROM {name} WHERE kind = 's') \
         <= (SELECT 1000 + 3 * documents::int8 FROM {name} WHERE segment = 0 AND kind = 'o' AND part = $2)",
        name = lists.name
    );
    Statement::new(sql).with([int8(documents), int8(version)]).about([lists.oid])
}

/// Puts the outlines of rows in, in segments from this number on: in the order of the lists, or in one that is made, too.
pub(crate) fn outline(
    names: &Names,
    lists: &Table,
    rows: Option<Rows>,
    ordered: bool,
    segment: i64,
) -> Statement {
    let Names { schema, internal, arguments, tables, .. } = names;
    let sql = format!(
        "INSERT INTO {} ({COLUMNS}) SELECT {COLUMNS} FROM {schema}.neardup_job_lists({arguments}, {}, {}, {}, {}, {}{internal})",
        lists.name,
        calls::table(Some(&tables.state)),
        calls::rows(rows),
        calls::table(ordered.then_some(lists)),
        calls::segment(Some(segment)),
        calls::table(tables.hashes.as_ref()),
    );
    Statement::new(sql).about([lists.oid])
}

/// Puts what merges small segments in. That the lists are damaged may stand there already.
pub(crate) fn merge(names: &Names, lists: &Table) -> Statement {
    let sql = format!(
        "INSERT INTO {} ({COLUMNS}) SELECT {COLUMNS} FROM {}.neardup_job_merge({}{}) ON CONFLICT DO NOTHING",
        lists.name,
        names.schema,
        calls::table(Some(lists)),
        names.internal,
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

/// Whether they turned out to be damaged.
pub(crate) fn are_damaged(lists: &Table) -> Statement {
    Statement::new(format!("SELECT EXISTS (SELECT FROM {} WHERE segment = 0 AND kind = '!')", lists.name))
        .about([lists.oid])
}
