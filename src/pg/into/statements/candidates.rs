//! The candidates: pairs of numbers whose sets may be similar, found in each part.

use pgrx::pg_sys::Oid;

use crate::into::state::most_candidates;
use crate::into::step::WorkingTable;
use crate::pg::into::nodes::Nodes;
use crate::pg::into::work::CallWork;
use crate::pg::procedure::statement::Statement;
use crate::pg::procedure::statement::on;
use crate::pg::procedure::table::Table;
use crate::pg::query::as_user::INTERNAL;
use crate::pg::server::error::Result;

/// Fills the table, up to one candidate more than is allowed.
pub(crate) fn fill(work: &mut CallWork) -> Result<i64> {
    let [to] = work.open([WorkingTable::Candidates])?;
    let (join, spread) = (work.join()?, work.spread()?);
    let most = most_candidates(work.log()?.progress.expected(WorkingTable::Sets)).saturating_add(1);
    // The join of the parts is planned separately: it costs least if each server joins its own
    // parts. A candidate may come from several parts.
    let (routes, joined, by, distinct) = match spread.nodes {
        Nodes::Citus(_) if work.is_update() => return with_stored(work, &to),
        Nodes::Citus(_) => {
            let [routes] = work.open([WorkingTable::Routes])?;
            let of_group = format!("(SELECT p.* FROM {routes} p{}) ", work.claimed.condition());
            return in_citus(work, &to, &[routes.oid], &of_group);
        }
        Nodes::Home(Some(_)) => {
            let part = spread.open_part(WorkingTable::Routes, work.claimed.part())?;
            (part, join.joined_packed(), "HAVING count(*) > 0".to_owned(), None)
        }
        Nodes::Home(None) | Nodes::Fdw(_) => {
            let [routes] = work.open([WorkingTable::Routes])?;
            // Parts that were joined before may have the same candidates as those of the group.
            let besides = if work.claimed.done > 0 {
                format!(" EXCEPT SELECT k.l, k.r FROM {to} k")
            } else {
                String::new()
            };
            (routes, join.joined(), format!("{} GROUP BY p.part", work.claimed.condition()), Some(besides))
        }
    };
    let internal = &join.internal;
    let from = format!("FROM j, {INTERNAL}.neardup_part_candidates(j.ids{internal}) c");
    let found = match distinct {
        None => format!("SELECT c.left_id, c.right_id {from}"),
        Some(besides) => format!(
            "SELECT f.left_id, f.right_id FROM (SELECT DISTINCT c.left_id, c.right_id {from}{besides}) f"
        ),
    };
    let sql = format!(
        "WITH j AS MATERIALIZED (SELECT {joined} AS ids FROM {routes} p {by}) INSERT INTO {to} {found} LIMIT {most}"
    );
    work.run(&on([&to, &routes], sql))
}

/// Finds candidates in each part of `routes`, a table or a query that reads the relations `oids`,
/// and moves them, pair by pair, to where the left set of the pair is, unless there are so many
/// that the plan refuses to go on. Returns the number of candidates. A pair may come from several
/// parts.
fn in_citus(work: &CallWork, to: &Table, oids: &[Oid], routes: &str) -> Result<i64> {
    let (spread, join) = (work.spread()?, work.join()?);
    let joined = spread.made(WorkingTable::Joined)?;
    let found = join.joined();
    Statement::new(format!("INSERT INTO {joined} SELECT p.part, {found} FROM {routes} p GROUP BY p.part"))
        .about([&[joined.oid], oids].concat())
        .run()?;
    let count = format!("SELECT COALESCE(sum(cardinality(j.ids) / 2), 0)::int8 FROM {joined} j");
    let mut rows = on([&joined], count).number()?.unwrap_or_default();
    if rows <= most_candidates(work.log()?.progress.expected(WorkingTable::Sets)) {
        let internal = &join.internal;
        let sql = format!(
            "INSERT INTO {to} SELECT c.left_id, c.right_id FROM {joined} j, {INTERNAL}.neardup_part_candidates(j.ids{internal}) c"
        );
        rows = on([to, &joined], sql).run()?;
    }
    spread.drop(WorkingTable::Joined)?;
    Ok(rows)
}

/// In Citus, finds the candidates among new sets, and of new with stored ones, whose rows are known
/// ones; then stores the new rows.
fn with_stored(work: &mut CallWork, to: &Table) -> Result<i64> {
    let [routes, routed] = work.open([WorkingTable::Routes, WorkingTable::Routed])?;
    let all = format!(
        "(SELECT k.part, k.n, ~k.size AS size, k.bitmap, k.prefix FROM {routed} k \
         UNION ALL SELECT n.part, n.n, n.size, n.bitmap, n.prefix FROM {routes} n)"
    );
    let rows = in_citus(work, to, &[routes.oid, routed.oid], &all)?;
    let store =
        format!("INSERT INTO {routed} SELECT p.part, p.n, p.size, p.bitmap, p.prefix FROM {routes} p");
    on([&routed, &routes], store).run()?;
    work.spread()?.drop(WorkingTable::Routes)?;
    note_moved(work, to, rows)?;
    Ok(rows)
}

/// Notes the bytes of candidates that moved between shards, and the number of distinct ones.
pub(crate) fn note_moved(work: &mut CallWork, candidates: &Table, rows: i64) -> Result<()> {
    let sql = format!(
        "SELECT COALESCE(sum(c.count), 0)::int8 FROM (SELECT c.l, count(DISTINCT c.r) AS count FROM {candidates} c GROUP BY c.l) c"
    );
    work.distinct = on([candidates], sql).number()?;
    work.moved += rows.saturating_mul(16);
    Ok(())
}

/// Returns the numbers of all parts that have rows, as an array.
pub(crate) fn parts_of(routes: &Table) -> Statement {
    on(
        [routes],
        format!(
            "SELECT COALESCE(array_agg(p.part ORDER BY p.part), '{{}}'::int4[])::text FROM (SELECT p.part FROM {routes} p GROUP BY p.part) p"
        ),
    )
}
