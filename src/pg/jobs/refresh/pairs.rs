//! The pairs of the rows of a step, and the lists that they are looked up in.

use pgrx::pg_sys::{self, Datum};

use super::batch::Batch;
use super::{Step, Table, holds, number, run};
use crate::joins::incremental::token_order::VERSION;
use crate::pg::jobs::method::Method;
use crate::pg::jobs::statements::{int8, row};
use crate::pg::query::Parameter;
use crate::pg::server::error::Result;

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// How many pairs came.
    pub added: i64,
    /// Rows of these pairs, as an array, if they are few.
    pub near: Option<Parameter>,
}

/// Removes the pairs that rows of the batch had: how many there were, and whether there can have been any.
pub fn remove(step: &Step<'_>, batch: &Batch) -> Result<(i64, bool)> {
    let (pairs, clusters, state) = (&step.tables.pairs, &step.tables.clusters, &step.tables.state);
    if batch.everything || step.method.is_whole() {
        return Ok((run(&format!("DELETE FROM {}", pairs.name), &[], &[pairs])?, true));
    }
    let in_batch = format!("{} ANY (ARRAY(SELECT id FROM {} WHERE change = 0))", step.equals, state.name);
    // Connected clusters have all rows of pairs, so one look says whether rows of the batch have any.
    let look = format!("SELECT EXISTS (SELECT FROM {} WHERE id {in_batch})", clusters.name);
    let had_pairs = holds(&look, &[], &[clusters, state])?;
    let mut removed = 0;
    if had_pairs || !step.settings.whole_clusters() {
        for side in ["left_id", "right_id"] {
            let sql = format!("DELETE FROM {} WHERE {side} {in_batch}", pairs.name);
            removed += run(&sql, &[], &[pairs, state])?;
        }
    }
    Ok((removed, had_pairs))
}

/// Finds the pairs of the rows of the batch, of which so many are there; `alone` says that there are no other rows.
pub fn find(step: &Step<'_>, batch: &Batch, alone: bool, there: i64) -> Result<Found> {
    let has_lists = step.method == Method::Sets;
    let segment = if has_lists && !batch.everything { next_segment(step, there)? } else { None };
    let few = has_lists && !alone && batch.is_small();
    let (found, listed) = if few {
        look_up(step, segment)?
    } else {
        let rows = match (step.method.is_whole(), alone, batch.everything) {
            // All rows at once are joined with themselves.
            (true, ..) | (_, true, true) => [None, None],
            (_, true, false) => [None, Some(Rows::Batch)],
            // Where most are new, all others are read.
            (_, false, _) => [Some(Rows::Batch), Some(Rows::Known)],
        };
        (Found { added: join(step, rows)?, near: None }, false)
    };
    if has_lists {
        keep_lists(step, segment, listed, (!batch.everything).then_some(Rows::Known))?;
    }
    Ok(found)
}

/// The number of the segment that changed rows become; none if all lists are made anew: in the order of what tokens are
/// rare now, and without rows that are no more.
fn next_segment(step: &Step<'_>, there: i64) -> Result<Option<i64>> {
    let Some(lists) = &step.tables.lists else { return Ok(None) };
    let name = &lists.name;
    let sql = format!(
        "SELECT max(segment) + 1 FROM {name} WHERE $1 + (SELECT sum(documents) FROM {name} WHERE kind = 's') \
         <= (SELECT 1000 + 3 * documents::int8 FROM {name} WHERE kind = 'o' AND part = $2)"
    );
    number(&sql, &[int8(there), int8(VERSION.into())], &[lists])
}

/// Rows by what the table of states says of them.
#[derive(Debug, Clone, Copy)]
enum Rows {
    /// Those that are being brought up to date.
    Batch,
    /// Those that have been seen.
    Known,
}

/// Which rows are meant, all where it is not said, as an argument of the internal functions.
fn which(rows: Option<Rows>) -> &'static str {
    match rows {
        None => "NULL::pg_catalog.text",
        Some(Rows::Batch) => "'batch'::pg_catalog.text",
        Some(Rows::Known) => "'known'::pg_catalog.text",
    }
}

/// A table as an argument of the internal functions.
fn argument(table: &Table) -> String {
    format!("'{}'::pg_catalog.regclass", table.oid.to_u32())
}

/// Looks the rows of the batch up in the lists. They are read once, for their pairs and for the lists, if these are not
/// made anew; the second answer is whether they were put into them.
fn look_up(step: &Step<'_>, segment: Option<i64>) -> Result<(Found, bool)> {
    let (pairs, Some(lists)) = (&step.tables.pairs, &step.tables.lists) else {
        return Ok(Default::default());
    };
    let near = if step.settings.whole_clusters() { "(SELECT array_agg(id) FROM near)" } else { "NULL" };
    let column_type = step.column_type();
    let sql = format!(
        "WITH found AS MATERIALIZED (SELECT * FROM {call}), \
             list AS (INSERT INTO {lists} (kind, segment, part, documents, data, ids) \
                 SELECT kind, segment, part, documents, data, ids FROM found WHERE kind IS NOT NULL), \
             put AS (INSERT INTO {pairs} (left_id, right_id, similarity) \
                 SELECT DISTINCT LEAST(left_id, right_id), GREATEST(left_id, right_id), similarity FROM found \
                 WHERE kind IS NULL ORDER BY 1, 2 RETURNING left_id, right_id), \
             near AS (SELECT left_id AS id FROM put UNION SELECT right_id FROM put) \
         SELECT (SELECT count(*) FROM put), {near}::{column_type}[], EXISTS (SELECT FROM found WHERE kind IS NOT NULL)",
        call = call(step, [Some(Rows::Batch), Some(Rows::Known)], Some((lists, segment))),
        lists = lists.name,
        pairs = pairs.name,
    );
    // SAFETY: looks a type up; types of ids have one of arrays.
    let array = unsafe { pg_sys::get_array_type(step.columns.id.base_type) };
    let types = [pg_sys::INT8OID, array, pg_sys::BOOLOID];
    let [added, near, listed] = row(&sql, &[], &super::oids(&[pairs, lists]), types)?.unwrap_or_default();
    let is = |value: Option<Datum>| value.is_some_and(|value| value.value() != 0);
    let near = step.settings.whole_clusters().then_some((array, near));
    Ok((Found { added: added.map_or(0, |added| added.value() as i64), near }, is(listed)))
}

/// Joins rows that one condition holds for with those that another one holds for, or all with each other.
fn join(step: &Step<'_>, rows: [Option<Rows>; 2]) -> Result<i64> {
    let pairs = &step.tables.pairs;
    let sql = format!(
        "INSERT INTO {} (left_id, right_id, similarity) SELECT LEAST(left_id, right_id), GREATEST(left_id, right_id), similarity \
         FROM {} ON CONFLICT DO NOTHING",
        pairs.name,
        call(step, rows, None)
    );
    run(&sql, &[], &[pairs])
}

/// The call of the function that finds pairs.
fn call(
    step: &Step<'_>,
    [changed, others]: [Option<Rows>; 2],
    lists: Option<(&Table, Option<i64>)>,
) -> String {
    let segment = lists.and_then(|(_, segment)| segment);
    format!(
        "{schema}.neardup_job_pairs({arguments}, {state}, {}, {}, {lists}, {segment}::pg_catalog.int8) \
         AS f(left_id {id}, right_id {id}, similarity float8, kind \"char\", segment int8, part int4, documents int4, data bytea, ids text[])",
        which(changed),
        which(others),
        schema = step.job.extension.schema,
        arguments = step.arguments,
        state = argument(&step.tables.state),
        lists = lists.map_or_else(|| "NULL::pg_catalog.regclass".to_owned(), |(table, _)| argument(table)),
        segment = segment.map_or_else(|| "NULL".to_owned(), |segment| format!("'{segment}'")),
        id = step.id_type(),
    )
}

/// Brings the lists up to date with the rows of the batch. They are made anew, of the rows that are known, where there is
/// no segment for these, and where they turn out to be damaged.
fn keep_lists(step: &Step<'_>, segment: Option<i64>, listed: bool, known: Option<Rows>) -> Result<()> {
    let Some(lists) = &step.tables.lists else { return Ok(()) };
    let (name, schema, arguments) = (&lists.name, &step.job.extension.schema, &step.arguments);
    let state = argument(&step.tables.state);
    const COLUMNS: &str = "kind, segment, part, documents, data, ids";
    let outline = |rows: Option<Rows>, table: &str, segment: i64| {
        let sql = format!(
            "INSERT INTO {name} ({COLUMNS}) SELECT {COLUMNS} FROM {schema}.neardup_job_lists({arguments}, {state}, {}, \
             {table}, '{segment}'::pg_catalog.int8)",
            which(rows)
        );
        run(&sql, &[], &[lists])
    };
    if let Some(segment) = segment {
        let table = argument(lists);
        if !listed {
            outline(Some(Rows::Batch), &table, segment)?;
        }
        // That they are damaged may stand there already.
        let merge = format!(
            "INSERT INTO {name} ({COLUMNS}) SELECT {COLUMNS} FROM {schema}.neardup_job_merge({table}) ON CONFLICT DO NOTHING"
        );
        run(&merge, &[], &[lists])?;
        let merged =
            format!("DELETE FROM {name} l USING {name} x WHERE x.kind = 'x' AND l.segment = x.segment");
        run(&merged, &[], &[lists])?;
        if !holds(&format!("SELECT EXISTS (SELECT FROM {name} WHERE kind = '!')"), &[], &[lists])? {
            return Ok(());
        }
    }
    run(&format!("DELETE FROM {name}"), &[], &[lists])?;
    outline(known, "NULL::pg_catalog.regclass", 1).map(|_| ())
}
