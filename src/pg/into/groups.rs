//! The parts of the candidates that are joined on other nodes. A transaction takes a group of
//! parts, and commits their candidates together with the note that they are done, so a crash or a
//! kill costs no more than the group that was joined meanwhile.
//!
//! The servers of postgres_fdw commit one after the other, so a crash may leave the rows of a group
//! on some of them, without a note here. Rows are counted before each group: if there are others
//! than the notes say, the table is made again.

use pgrx::pg_sys;

use super::log::LogTable;
use super::parts::{done, numbers};
use super::statements::fill::{self, Named};
use super::statements::{citus, here as statements};
use super::work::{Group, Work};
use crate::into::state::{Claim, Count};
use crate::into::step::Table;
use crate::pg::procedure::statement::read_text;
use crate::pg::server::error::Result;

/// What is done in groups.
const TABLE: Table = Table::Candidates;

/// Takes the next group of parts.
pub(super) fn take(work: &mut Work) -> Result<()> {
    let step = step(work.log()?);
    let spread = work.spread()?;
    let noted = if spread.is_whole(TABLE)? { spread.open_parts()? } else { None };
    let Some(noted) = noted else {
        work.state.claim = Some(Claim::Closed);
        return Ok(());
    };
    let (done, rows) = done((&noted.0, noted.1), step)?;
    if !done.contains(&statements::OPEN) || spread.count(TABLE)? != Count::Rows(rows) {
        work.state.claim = Some(Claim::Closed);
        return Ok(());
    }
    let all = all(work)?;
    let mut left: Vec<i64> = all.iter().copied().filter(|part| !done.contains(part)).collect();
    if left.is_empty() {
        if work.in_parts()?.citus.is_some() {
            let candidates = spread.open(TABLE)?;
            let distinct = citus::distinct_candidates((&candidates.0, candidates.1)).number()?;
            (work.moved, work.distinct) = (rows.saturating_mul(16), distinct);
        }
        work.state.filled = Some(rows);
        work.state.claim = Some(Claim::Done(rows));
        return Ok(());
    }
    let at_once = at_once(work, all.len())?;
    if at_once < left.len() {
        left = in_turn(&left, servers(work)?, *all.last().unwrap_or(&0) + 1);
        left.truncate(at_once);
    }
    work.group = Group { parts: left, done: done.len() - 1, all: all.len() };
    work.state.claim = Some(Claim::Part { before: rows });
    Ok(())
}

/// Returns the number of the next step.
fn step(log: &LogTable) -> i64 {
    log.progress.rows.len() as i64 + 1
}

fn servers(work: &Work) -> Result<usize> {
    Ok(work.in_parts()?.servers.len())
}

/// Returns the numbers of all parts.
fn all(work: &Work) -> Result<Vec<i64>> {
    if work.in_parts()?.citus.is_none() {
        return Ok((0..work.in_parts()?.parts).collect());
    }
    let routes = work.spread()?.open(Table::Routes)?;
    let [parts] = fill::parts_of((&routes.0, routes.1)).row([pg_sys::TEXTOID])?.unwrap_or_default();
    Ok(numbers(&parts.map(read_text).transpose()?.unwrap_or_default()))
}

/// Returns the number of parts of a group: as many as the caller wants, or as have about so many
/// rows.
fn at_once(work: &Work, parts: usize) -> Result<usize> {
    const ROWS: i64 = 20_000_000;
    if let Some(wanted) = work.arguments.limits.at_once {
        return Ok(wanted);
    }
    let groups = work.log()?.progress.expected(Table::Routes) / ROWS + 1;
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

/// Returns the condition for the rows of the group, or nothing if it has all parts.
pub(super) fn condition(work: &Work) -> String {
    let Group { parts, all, .. } = &work.group;
    if parts.len() == *all { String::new() } else { fill::of_parts(parts) }
}

/// Reports whether parts were joined before: these may have some of the same candidates as those of
/// the group.
pub(super) fn repeats(work: &Work) -> bool {
    work.group.done > 0
}

/// Notes that the table is made and no part is done.
pub(super) fn open(work: &Work) -> Result<()> {
    let (step, spread) = (step(work.log()?), work.spread()?);
    let noted = match spread.open_parts()? {
        Some(noted) => noted,
        None => spread.make_parts()?,
    };
    let noted: Named<'_> = (&noted.0, noted.1);
    statements::forget_parts(noted, step).run()?;
    statements::note_part(noted, step, statements::OPEN, 0).run().map(|_| ())
}

/// Notes that the parts of the group are done, and tells the caller if there are others.
pub(super) fn note(work: &Work) -> Result<()> {
    let (step, rows) = (step(work.log()?), work.state.filled.unwrap_or_default());
    let Group { parts, done, all } = &work.group;
    if let Some((name, oid)) = work.spread()?.open_parts()? {
        for (n, &part) in parts.iter().enumerate() {
            let rows = if n == 0 { rows } else { 0 };
            statements::note_part((&name, oid), step, part, rows).run()?;
        }
    }
    if parts.len() < *all {
        let (name, done) = (work.arguments.name(), done + parts.len());
        pgrx::notice!("{name}: step {step}, {}: {done} of {all} parts, {rows} rows", TABLE.name());
    }
    Ok(())
}
