//! The candidates of a round with their left sets, which are on the same nodes.

use super::definitions::moved;
use super::{IS_FIRST, POSITIVE};
use crate::into::step::{LoggedStage, WorkingTable};
use crate::pg::into::work::{CallWork, not_here};
use crate::pg::procedure::statement::on;
use crate::pg::server::error::Result;

/// Fills the table. The log counts the pairs that are made from halves, not the halves themselves.
pub(crate) fn fill(work: &mut CallWork) -> Result<()> {
    let spread = work.spread()?;
    let progress = &work.log()?.progress;
    let LoggedStage::Round(round) = progress.next(false) else { return Err(not_here(WorkingTable::Halves)) };
    let rounds = progress.rounds;
    let [to, candidates, sets] =
        work.open([WorkingTable::Halves, WorkingTable::Candidates, spread.compared_sets()])?;
    if spread.nodes.citus().is_none() {
        let sql = format!(
            "INSERT INTO {to} SELECT c.l, c.r, s.set FROM {candidates} c JOIN {sets} s ON s.n = c.l WHERE (c.l + c.r) % {rounds}::int8 = {round}::int8"
        );
        return on([&to, &candidates, &sets], sql).run().map(|_| ());
    }
    let sql = format!(
        "INSERT INTO {to} SELECT c.l, c.r, m.id, m.set FROM (SELECT DISTINCT c.l, c.r FROM {candidates} c \
             WHERE ((c.l # c.r) & {POSITIVE}) % {rounds}::int8 = {round}::int8) c JOIN {sets} m ON m.n = c.l WHERE m.{IS_FIRST}"
    );
    on([&to, &candidates, &sets], sql).run()?;
    work.moved = moved(&to, spread.columns(WorkingTable::Halves)).number()?.unwrap_or_default();
    Ok(())
}
