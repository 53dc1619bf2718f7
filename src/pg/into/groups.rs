//! The parts of the candidates that are joined on other nodes. A transaction takes a group of
//! parts, and commits their candidates together with the note that they are done, so a crash or a
//! kill costs no more than the group that was joined meanwhile.
//!
//! The servers of postgres_fdw commit one after the other, so a crash may leave the rows of a group
//! on some of them, without a note here. Rows are counted before each group: if there are others
//! than the notes say, the table is made again.

use super::nodes::Nodes;
use super::parts::{Noted, noted, numbers};
use super::statements::candidates::{note_moved, parts_of};
use super::work::{CallWork, Claimed};
use crate::into::state::{Claim, Count};
use crate::into::step::WorkingTable;
use crate::pg::server::error::Result;

/// What is done in groups.
const TABLE: WorkingTable = WorkingTable::Candidates;

/// Takes the next group of parts.
pub(super) fn take(work: &mut CallWork) -> Result<()> {
    work.state.claim = Some(Claim::Closed);
    let spread = work.spread()?;
    if !spread.is_whole(TABLE)? {
        return Ok(());
    }
    let Some((_, Noted { done, rows })) = noted(work)? else { return Ok(()) };
    if spread.count(TABLE)? != Count::Rows(rows) {
        return Ok(());
    }
    let all = all(work)?;
    let mut left: Vec<i64> = all.iter().copied().filter(|part| !done.contains(part)).collect();
    if left.is_empty() {
        if spread.nodes.citus().is_some() {
            let [candidates] = work.open([TABLE])?;
            note_moved(work, &candidates, rows)?;
        }
        work.state.filled = Some(rows);
        work.state.claim = Some(Claim::Done(rows));
        return Ok(());
    }
    let at_once = at_once(work, all.len())?;
    if at_once < left.len() {
        left = in_turn(&left, spread.nodes.servers().len(), *all.last().unwrap_or(&0) + 1);
        left.truncate(at_once);
    }
    work.claimed = Claimed { parts: left, done: done.len(), all: all.len() };
    work.state.claim = Some(Claim::Part { before: rows });
    Ok(())
}

/// Returns the numbers of all parts.
fn all(work: &CallWork) -> Result<Vec<i64>> {
    let Nodes::Citus(_) = work.nodes()? else { return Ok((0..work.in_parts()?.logged.parts).collect()) };
    let [routes] = work.open([WorkingTable::Routes])?;
    Ok(numbers(&parts_of(&routes).text()?.unwrap_or_default()))
}

/// Returns the number of parts of a group: as many as the caller wants, or as have about so many
/// rows.
fn at_once(work: &CallWork, parts: usize) -> Result<usize> {
    const ROWS: i64 = 20_000_000;
    if let Some(wanted) = work.call.arguments.limits.at_once {
        return Ok(wanted);
    }
    let groups = work.log()?.progress.expected(WorkingTable::Routes) / ROWS + 1;
    Ok(parts.div_ceil(usize::try_from(groups).unwrap_or(1)))
}

/// Orders parts so that each of some servers has one of them in turn. Each server has a range of
/// all parts.
fn in_turn(parts: &[i64], servers: usize, all: i64) -> Vec<i64> {
    if servers == 0 {
        return parts.to_vec();
    }
    let mut of_servers = vec![0usize; servers];
    let mut turns: Vec<(usize, i64)> = parts
        .iter()
        .map(|&part| {
            // The server whose range begins last, but not after the part.
            let server = (0..servers).rev().find(|&n| all * n as i64 / servers as i64 <= part).unwrap_or(0);
            of_servers[server] += 1;
            (of_servers[server], part)
        })
        .collect();
    turns.sort_unstable();
    turns.into_iter().map(|(_, part)| part).collect()
}
