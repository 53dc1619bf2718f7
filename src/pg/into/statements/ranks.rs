//! What the method counts before documents meet: mostly the order of tokens.

use super::join::{CountedTokens, JoinStatements, NOTHING_COUNTED};
use super::{IS_FIRST, POSITIVE};
use crate::into::step::WorkingTable::{Ranks, Samples, Sets};
use crate::pg::into::work::CallWork;
use crate::pg::server::error::Result;

/// About the number of sets from which the order of tokens is made.
const SAMPLE: i64 = 20_000;

/// Fills the table.
pub(crate) fn fill(work: &mut CallWork) -> Result<i64> {
    if work.is_update() {
        // Any order of tokens is as good as another one, unless it was made of no documents.
        if work.log()?.kept.read > 0 {
            return Ok(1);
        }
        work.execute(&format!("DELETE FROM {Ranks} t"))?;
    }
    let join = work.join()?;
    if join.counted == CountedTokens::Nothing {
        return work.run(&work.statement(&nothing())?);
    }
    if work.nodes()?.citus().is_some() {
        return in_citus(work, &join);
    }
    let count = work.log()?.progress.expected(Sets);
    let each = if join.counted == CountedTokens::All { 1 } else { (count / SAMPLE).max(1) };
    let counted = join.counted();
    let sql =
        format!("INSERT INTO {Ranks} SELECT {counted} FROM {Sets} s WHERE s.n % {each}::int8 = 0::int8");
    work.run(&work.statement(&sql)?)
}

/// Makes an empty order.
fn nothing() -> String {
    format!("INSERT INTO {Ranks} SELECT {NOTHING_COUNTED}")
}

/// In Citus, moves a sample of the distinct sets, or the terms of all documents, to one shard, and
/// counts them there: a single value, which all nodes get.
fn in_citus(work: &CallWork, join: &JoinStatements) -> Result<i64> {
    let spread = work.spread()?;
    spread.make(Samples)?;
    let (sets, of) = if join.counted == CountedTokens::All {
        (Sets, String::new())
    } else {
        let sets = spread.of_sets();
        let count = work.number(&format!("SELECT count(*) FROM {sets} m WHERE m.{IS_FIRST}"))?;
        // Of few documents a small part is enough: to count it takes one processor.
        let each = (count / SAMPLE).max((count / 2_500).clamp(1, 8));
        (sets, format!(" AND (s.n & {POSITIVE}) % {each}::int8 = 0::int8"))
    };
    work.execute(&format!(
        "INSERT INTO {Samples} SELECT 0::int8, s.set FROM {sets} s WHERE s.{IS_FIRST}{of}"
    ))?;
    let counted = join.counted();
    let mut rows = work.execute(&format!(
        "INSERT INTO {Ranks} SELECT {counted} FROM {Samples} s WHERE s.k = 0::int8 GROUP BY s.k"
    ))?;
    if rows == 0 {
        rows = work.execute(&nothing())?;
    }
    spread.drop(Samples)?;
    Ok(rows)
}
