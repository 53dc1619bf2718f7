//! What the method counts before documents meet: mostly the order of tokens.

use super::join::{JoinStatements, NOTHING_COUNTED};
use super::{IS_FIRST, POSITIVE};
use crate::into::step::WorkingTable;
use crate::pg::into::work::CallWork;
use crate::pg::procedure::statement::Statement;
use crate::pg::procedure::statement::on;
use crate::pg::procedure::table::Table;
use crate::pg::server::error::Result;

/// About the number of sets from which the order of tokens is made.
const SAMPLE: i64 = 20_000;

/// Fills the table.
pub(crate) fn fill(work: &mut CallWork) -> Result<i64> {
    let [to] = work.open([WorkingTable::Ranks])?;
    if work.is_update() {
        // Any order of tokens is as good as another one, unless it was made of no documents.
        if work.log()?.kept.read > 0 {
            return Ok(1);
        }
        on([&to], format!("DELETE FROM {to} t")).run()?;
    }
    let join = work.join()?;
    if join.counts_nothing() {
        return work.run(&nothing(&to));
    }
    if work.nodes()?.citus().is_some() {
        return in_citus(work, &join, &to);
    }
    let [sets] = work.open([WorkingTable::Sets])?;
    let count = work.log()?.progress.expected(WorkingTable::Sets);
    let each = if join.compares_by_ranks() { 1 } else { (count / SAMPLE).max(1) };
    let counted = join.counted();
    let sql = format!("INSERT INTO {to} SELECT {counted} FROM {sets} s WHERE s.n % {each}::int8 = 0::int8");
    work.run(&on([&to, &sets], sql))
}

/// Makes an empty order.
fn nothing(ranks: &Table) -> Statement {
    on([ranks], format!("INSERT INTO {ranks} SELECT {NOTHING_COUNTED}"))
}

/// In Citus, moves a sample of the distinct sets, or the terms of all documents, to one shard, and
/// counts them there: a single value, which all nodes get.
fn in_citus(work: &CallWork, join: &JoinStatements, to: &Table) -> Result<i64> {
    let spread = work.spread()?;
    let samples = spread.made(WorkingTable::Samples)?;
    let (sets, of) = if join.compares_by_ranks() {
        let [sets] = work.open([WorkingTable::Sets])?;
        (sets, String::new())
    } else {
        let [sets] = work.open([spread.of_sets()])?;
        let distinct = on([&sets], format!("SELECT count(*) FROM {sets} m WHERE m.{IS_FIRST}"));
        let count = distinct.number()?.unwrap_or_default();
        // Of few documents a small part is enough: to count it takes one processor.
        let each = (count / SAMPLE).max((count / 2_500).clamp(1, 8));
        (sets, format!(" AND (s.n & {POSITIVE}) % {each}::int8 = 0::int8"))
    };
    let move_sets =
        format!("INSERT INTO {samples} SELECT 0::int8, s.set FROM {sets} s WHERE s.{IS_FIRST}{of}");
    on([&samples, &sets], move_sets).run()?;
    let counted = join.counted();
    let count =
        format!("INSERT INTO {to} SELECT {counted} FROM {samples} s WHERE s.k = 0::int8 GROUP BY s.k");
    let mut rows = on([to, &samples], count).run()?;
    if rows == 0 {
        rows = nothing(to).run()?;
    }
    spread.drop(WorkingTable::Samples)?;
    Ok(rows)
}
