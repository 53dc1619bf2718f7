//! The pairs of the rows of a step, and the lists that they are looked up in.

use pgrx::pg_sys::{self, Datum, Oid};

use super::super::method::Method;
use super::super::statements::{int8, row};
use super::batch::Batch;
use super::{Step, number, run};
use crate::candidates::delta::order::VERSION;
use crate::pg::error::Result;
use crate::pg::example::literal;
use crate::pg::query::Parameter;

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
    let had_pairs = super::holds(&look, &[], &[clusters, state])?;
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
    let state = &step.tables.state;
    let exists = |which: &str| {
        format!("EXISTS (SELECT FROM {} b WHERE b.{which} AND b.id {} {})", state.name, step.equals, step.id)
    };
    let (in_batch, in_state) = (exists("change = 0"), exists("change IS NULL"));
    let has_lists = step.method == Method::Sets;
    let segment = if has_lists && !batch.everything { next_segment(step, there)? } else { None };
    let few = has_lists && !alone && batch.is_small();
    let (found, listed) = if few {
        look_up(step, [&in_batch, &in_state], segment)?
    } else {
        let conditions = match (step.method.is_whole(), alone, batch.everything) {
            // All rows at once are joined with themselves.
            (true, ..) | (_, true, true) => [None, None],
            (_, true, false) => [None, Some(&*in_batch)],
            // Where most are new, all others are read.
            (_, false, _) => [Some(&*in_batch), Some(&*in_state)],
        };
        (Found { added: join(step, conditions)?, near: None }, false)
    };
    if has_lists {
        let in_state = (!batch.everything).then_some(&*in_state);
        keep_lists(step, segment, listed, &in_batch, in_state)?;
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

fn condition(condition: Option<&str>) -> String {
    condition.map_or_else(
        || "NULL::pg_catalog.text".to_owned(),
        |text| format!("{}::pg_catalog.text", literal(text)),
    )
}

/// Looks the rows of the batch up in the lists. They are read once, for their pairs and for the lists, if these are not
/// made anew; the second answer is whether they were put into them.
fn look_up(step: &Step<'_>, [in_batch, in_state]: [&str; 2], segment: Option<i64>) -> Result<(Found, bool)> {
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
        call = call(step, [Some(in_batch), Some(in_state)], Some((lists.oid, segment))),
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
fn join(step: &Step<'_>, conditions: [Option<&str>; 2]) -> Result<i64> {
    let pairs = &step.tables.pairs;
    let sql = format!(
        "INSERT INTO {} (left_id, right_id, similarity) SELECT LEAST(left_id, right_id), GREATEST(left_id, right_id), similarity \
         FROM {} ON CONFLICT DO NOTHING",
        pairs.name,
        call(step, conditions, None)
    );
    run(&sql, &[], &[pairs])
}

/// The call of the function that finds pairs.
fn call(step: &Step<'_>, [changed, others]: [Option<&str>; 2], lists: Option<(Oid, Option<i64>)>) -> String {
    let (table, segment) = match lists {
        None => ("NULL".to_owned(), None),
        Some((table, segment)) => (format!("'{}'", table.to_u32()), segment),
    };
    let segment = segment.map_or_else(|| "NULL".to_owned(), |segment| format!("'{segment}'"));
    format!(
        "{schema}.neardup_job_pairs({arguments}, {}, {}, {table}::pg_catalog.regclass, {segment}::pg_catalog.int8) \
         AS f(left_id {id}, right_id {id}, similarity float8, kind \"char\", segment int8, part int4, documents int4, data bytea, ids text[])",
        condition(changed),
        condition(others),
        schema = step.job.extension.schema,
        arguments = step.arguments,
        id = step.id_type(),
    )
}

/// Brings the lists up to date: made anew where there is no segment, else with the rows of the batch.
fn keep_lists(
    step: &Step<'_>,
    segment: Option<i64>,
    listed: bool,
    in_batch: &str,
    in_state: Option<&str>,
) -> Result<()> {
    let Some(lists) = &step.tables.lists else { return Ok(()) };
    let (name, schema, arguments) = (&lists.name, &step.job.extension.schema, &step.arguments);
    const COLUMNS: &str = "kind, segment, part, documents, data, ids";
    let outline = |which: Option<&str>, table: String, segment: i64| {
        let sql = format!(
            "INSERT INTO {name} ({COLUMNS}) SELECT {COLUMNS} FROM {schema}.neardup_job_lists({arguments}, {}, \
             {table}::pg_catalog.regclass, '{segment}'::pg_catalog.int8)",
            condition(which)
        );
        run(&sql, &[], &[lists])
    };
    let Some(segment) = segment else {
        run(&format!("DELETE FROM {name}"), &[], &[lists])?;
        return outline(in_state, "NULL".to_owned(), 1).map(|_| ());
    };
    if !listed {
        outline(Some(in_batch), format!("'{}'", lists.oid.to_u32()), segment)?;
    }
    let merge = format!(
        "INSERT INTO {name} ({COLUMNS}) SELECT {COLUMNS} FROM {schema}.neardup_job_merge('{}'::pg_catalog.regclass)",
        lists.oid.to_u32()
    );
    run(&merge, &[], &[lists])?;
    let merged = format!("DELETE FROM {name} l USING {name} x WHERE x.kind = 'x' AND l.segment = x.segment");
    run(&merged, &[], &[lists]).map(|_| ())
}
