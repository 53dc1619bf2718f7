//! The pairs of numbers whose sets are similar.

use super::definitions::moved;
use super::{IS_FIRST, POSITIVE};
use crate::into::step::{LoggedStage, WorkingTable};
use crate::pg::into::nodes::Nodes;
use crate::pg::into::work::{CallWork, not_here};
use crate::pg::procedure::statement::on;
use crate::pg::procedure::table::Table;
use crate::pg::server::error::Result;

/// Inserts the similar pairs of a round, or of a part. Right sets are where the halves are.
pub(crate) fn fill(work: &mut CallWork) -> Result<i64> {
    let (join, spread) = (work.join()?, work.spread()?);
    let [to, sets] = work.open([WorkingTable::Pairs, spread.compared_sets()])?;
    let ranks = join.compares_by_ranks().then(|| work.open([WorkingTable::Ranks])).transpose()?;
    let of_ranks = ranks.as_ref().map(|[ranks]| format!(", {ranks} o")).unwrap_or_default();
    let mut tables: Vec<Table> = ranks.into_iter().flatten().collect();
    let sql = match spread.nodes {
        Nodes::Home(Some(_)) => {
            let part = work.claimed.part();
            let candidates = spread.open_part(WorkingTable::Candidates, part)?;
            let left = spread.open_part(WorkingTable::Sets, part)?;
            let similarity = join.similarity(["a.set", "b.set"]);
            // The right sets are read in the order of their numbers.
            let sql = format!(
                "INSERT INTO {to} SELECT c.l, c.r, v.similarity \
                 FROM (SELECT DISTINCT c.l, c.r FROM {candidates} c ORDER BY c.r, c.l OFFSET 0) c JOIN {left} a ON a.n = c.l JOIN {sets} b ON b.n = c.r{of_ranks}, \
                     LATERAL (SELECT {similarity} AS similarity OFFSET 0) v \
                 WHERE v.similarity IS NOT NULL"
            );
            tables.extend([candidates, left]);
            sql
        }
        nodes => {
            let [halves] = work.open([WorkingTable::Halves])?;
            let sql = if nodes.citus().is_some() {
                // If the order of two documents matters, the one with the lesser id comes first;
                // the type of the ids need not have operators in `pg_catalog`, but the type of
                // their arrays has.
                let mut similarity = join.similarity(["h.set", "m.set"]);
                if work.in_parts()?.documents.are_ordered {
                    let turned = join.similarity(["m.set", "h.set"]);
                    similarity =
                        format!("CASE WHEN ARRAY[h.id] < ARRAY[m.id] THEN {similarity} ELSE {turned} END");
                }
                // A comparison may take long, so each is made once.
                format!(
                    "INSERT INTO {to} SELECT h.l, h.r, v.similarity FROM {halves} h JOIN {sets} m ON m.n = h.r{of_ranks}, unnest(ARRAY[{similarity}]) v(similarity) \
                     WHERE m.{IS_FIRST} AND v.similarity IS NOT NULL"
                )
            } else {
                let similarity = join.similarity(["h.set", "s.set"]);
                format!(
                    "INSERT INTO {to} SELECT h.l, h.r, {similarity} FROM {halves} h JOIN {sets} s ON s.n = h.r{of_ranks} WHERE {similarity} IS NOT NULL"
                )
            };
            tables.push(halves);
            sql
        }
    };
    let oids: Vec<_> = tables.iter().chain([&to, &sets]).map(|table| table.oid).collect();
    work.run(&on([], sql).about(oids))
}

/// Fills the table of the candidates of a round with their left sets, which are on the same nodes.
/// The log counts the pairs that are made from halves, not the halves themselves.
pub(crate) fn fill_halves(work: &mut CallWork) -> Result<()> {
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
