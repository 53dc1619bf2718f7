//! The pairs of numbers whose sets are similar.

use super::join::CountedTokens;
use super::named::PartOf;
use super::{IS_FIRST, POSITIVE};
use crate::into::step::LoggedStage;
use crate::into::step::WorkingTable::{Candidates, Halves, Pairs, Ranks, Sets};
use crate::pg::into::nodes::Nodes;
use crate::pg::into::work::{CallWork, not_here};
use crate::pg::server::error::Result;

/// Inserts the similar pairs of a round, or of a part. Right sets are where the halves are.
pub(crate) fn fill(work: &mut CallWork) -> Result<i64> {
    let (join, spread) = (work.join()?, work.spread()?);
    let sets = spread.compared_sets();
    let of_ranks = if join.counted == CountedTokens::All { format!(", {Ranks} o") } else { String::new() };
    let sql = match spread.nodes {
        Nodes::Home(Some(_)) => {
            let [candidates, left] = [Candidates, Sets].map(|table| PartOf(table, work.claimed.part()));
            let similarity = join.similarity(["a.set", "b.set"]);
            // The right sets are read in the order of their numbers.
            format!(
                "INSERT INTO {Pairs} SELECT c.l, c.r, v.similarity \
                 FROM (SELECT DISTINCT c.l, c.r FROM {candidates} c ORDER BY c.r, c.l OFFSET 0) c JOIN {left} a ON a.n = c.l JOIN {sets} b ON b.n = c.r{of_ranks}, \
                     LATERAL (SELECT {similarity} AS similarity OFFSET 0) v \
                 WHERE v.similarity IS NOT NULL"
            )
        }
        Nodes::Citus(_) => {
            // If the order of two documents matters, the one with the lesser id comes first; the
            // type of the ids need not have operators in `pg_catalog`, but the type of their arrays
            // has.
            let mut similarity = join.similarity(["h.set", "m.set"]);
            if work.in_parts()?.documents.are_ordered {
                let turned = join.similarity(["m.set", "h.set"]);
                similarity =
                    format!("CASE WHEN ARRAY[h.id] < ARRAY[m.id] THEN {similarity} ELSE {turned} END");
            }
            // A comparison may take long, so each is made once.
            format!(
                "INSERT INTO {Pairs} SELECT h.l, h.r, v.similarity FROM {Halves} h JOIN {sets} m ON m.n = h.r{of_ranks}, unnest(ARRAY[{similarity}]) v(similarity) \
                 WHERE m.{IS_FIRST} AND v.similarity IS NOT NULL"
            )
        }
        Nodes::Home(None) | Nodes::Fdw(_) => {
            let similarity = join.similarity(["h.set", "s.set"]);
            format!(
                "INSERT INTO {Pairs} SELECT h.l, h.r, {similarity} FROM {Halves} h JOIN {sets} s ON s.n = h.r{of_ranks} WHERE {similarity} IS NOT NULL"
            )
        }
    };
    work.run(&work.statement(&sql)?)
}

/// Fills the table of the candidates of a round with their left sets, which are on the same nodes.
/// The log counts the pairs that are made from halves, not the halves themselves.
pub(crate) fn fill_halves(work: &mut CallWork) -> Result<()> {
    let spread = work.spread()?;
    let progress = &work.log()?.progress;
    let LoggedStage::Round(round) = progress.next(false) else { return Err(not_here(&Halves.name())) };
    let rounds = progress.rounds;
    let sets = spread.compared_sets();
    if spread.nodes.citus().is_none() {
        let sql = format!(
            "INSERT INTO {Halves} SELECT c.l, c.r, s.set FROM {Candidates} c JOIN {sets} s ON s.n = c.l WHERE (c.l + c.r) % {rounds}::int8 = {round}::int8"
        );
        return work.execute(&sql).map(|_| ());
    }
    work.execute(&format!(
        "INSERT INTO {Halves} SELECT c.l, c.r, m.id, m.set FROM (SELECT DISTINCT c.l, c.r FROM {Candidates} c \
             WHERE ((c.l # c.r) & {POSITIVE}) % {rounds}::int8 = {round}::int8) c JOIN {sets} m ON m.n = c.l WHERE m.{IS_FIRST}"
    ))?;
    work.moved = work.bytes_in(Halves)?;
    Ok(())
}
