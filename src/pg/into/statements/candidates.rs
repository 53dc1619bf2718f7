//! The candidates: pairs of numbers whose sets may be similar, found in each part.

use super::named::PartOf;
use crate::into::state::most_candidates;
use crate::into::step::WorkingTable::{Candidates, Joined, Routed, Routes, Sets};
use crate::pg::into::nodes::Nodes;
use crate::pg::into::work::CallWork;
use crate::pg::query::as_user::INTERNAL;
use crate::pg::server::error::Result;

/// Fills the table, up to one candidate more than is allowed.
pub(crate) fn fill(work: &mut CallWork) -> Result<i64> {
    let (join, spread) = (work.join()?, work.spread()?);
    let most = most_candidates(work.log()?.progress.expected(Sets)).saturating_add(1);
    // The join of the parts is planned separately: it costs least if each server joins its own
    // parts. A candidate may come from several parts.
    let (routes, joined, by, distinct) = match spread.nodes {
        Nodes::Citus(_) if work.is_update() => return with_stored(work),
        Nodes::Citus(_) => {
            let of_group = format!("(SELECT p.* FROM {Routes} p{}) ", work.claimed.condition());
            return in_citus(work, &of_group);
        }
        Nodes::Home(Some(_)) => {
            let part = PartOf(Routes, work.claimed.part()).to_string();
            (part, join.joined_packed(), "HAVING count(*) > 0".to_owned(), None)
        }
        Nodes::Home(None) | Nodes::Fdw(_) => {
            // Parts that were joined before may have the same candidates as those of the group.
            let besides = if work.claimed.done > 0 {
                format!(" EXCEPT SELECT k.l, k.r FROM {Candidates} k")
            } else {
                String::new()
            };
            let by = format!("{} GROUP BY p.part", work.claimed.condition());
            (Routes.to_string(), join.joined(), by, Some(besides))
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
        "WITH j AS MATERIALIZED (SELECT {joined} AS ids FROM {routes} p {by}) INSERT INTO {Candidates} {found} LIMIT {most}"
    );
    work.run(&work.statement(&sql)?)
}

/// Finds candidates in each part of `routes`, a table or a query, and moves them, pair by pair, to
/// where the left set of the pair is, unless there are so many that the plan refuses to go on.
/// Returns the number of candidates. A pair may come from several parts.
fn in_citus(work: &CallWork, routes: &str) -> Result<i64> {
    let (spread, join) = (work.spread()?, work.join()?);
    spread.make(Joined)?;
    let found = join.joined();
    work.execute(&format!("INSERT INTO {Joined} SELECT p.part, {found} FROM {routes} p GROUP BY p.part"))?;
    let mut rows =
        work.number(&format!("SELECT COALESCE(sum(cardinality(j.ids) / 2), 0)::int8 FROM {Joined} j"))?;
    if rows <= most_candidates(work.log()?.progress.expected(Sets)) {
        let internal = &join.internal;
        rows = work.execute(&format!(
            "INSERT INTO {Candidates} SELECT c.left_id, c.right_id FROM {Joined} j, {INTERNAL}.neardup_part_candidates(j.ids{internal}) c"
        ))?;
    }
    spread.drop(Joined)?;
    Ok(rows)
}

/// In Citus, finds the candidates among new sets, and of new with stored ones, whose rows are known
/// ones; then stores the new rows.
fn with_stored(work: &mut CallWork) -> Result<i64> {
    let all = format!(
        "(SELECT k.part, k.n, ~k.size AS size, k.bitmap, k.prefix FROM {Routed} k \
         UNION ALL SELECT n.part, n.n, n.size, n.bitmap, n.prefix FROM {Routes} n)"
    );
    let rows = in_citus(work, &all)?;
    work.execute(&format!(
        "INSERT INTO {Routed} SELECT p.part, p.n, p.size, p.bitmap, p.prefix FROM {Routes} p"
    ))?;
    work.spread()?.drop(Routes)?;
    note_moved(work, rows)?;
    Ok(rows)
}

/// Notes the bytes of candidates that moved between shards, and the number of distinct ones.
pub(crate) fn note_moved(work: &mut CallWork, rows: i64) -> Result<()> {
    work.distinct = Some(work.number(&format!(
        "SELECT COALESCE(sum(c.count), 0)::int8 FROM (SELECT c.l, count(DISTINCT c.r) AS count FROM {Candidates} c GROUP BY c.l) c"
    ))?);
    work.moved += rows.saturating_mul(16);
    Ok(())
}
