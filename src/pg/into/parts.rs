//! The parts of a stage that sessions share: each part is a transaction of one session, which
//! commits its rows together with the note that it is done.
//!
//! What is to be done next is decided in turn: a transaction waits for its turn, reads the log, and
//! keeps the turn to its end, or until it has taken a part and locked the tables that the part
//! needs. A part is taken by a lock that the server releases with the transaction, even after
//! kill -9.

use std::cell::Cell;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::arguments::InParts;
use super::log::LogTable;
use super::statements::fill::Named;
use super::statements::here as statements;
use super::work::Work;
use crate::into::state::{Claim, Count};
use crate::into::step::{Stage, Table};
use crate::pg::procedure::part_lock::Share;
use crate::pg::procedure::statement::read_text;
use crate::pg::query::Query;
use crate::pg::query::as_user::as_user;
use crate::pg::server::activity;
use crate::pg::server::error::{Result, SqlError};

/// The name of the procedure in reports.
const NAME: &str = "near_duplicates_into";

/// The number of parts in which the members are found. Each part reads all digests, so that more
/// parts cost a session that is alone more than they save others.
pub(super) const OF_MEMBERS: u16 = 2;

thread_local! {
    /// The call in which this session takes part: when its own call began, and the common part of
    /// the names of working tables.
    static JOINED: Cell<Option<(i64, u64)>> = const { Cell::new(None) };
}

/// Fails in a transaction that cannot see what other sessions commit meanwhile.
pub(super) fn check_isolation() -> Result<()> {
    // SAFETY: reads a variable of the session.
    if unsafe { pg_sys::XactIsoLevel } < pg_sys::XACT_REPEATABLE_READ as i32 {
        return Ok(());
    }
    let message = "near_duplicates_into in parts must see what other sessions commit";
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .hint("SET default_transaction_isolation = 'read committed'; then call it again."))
}

/// Waits until it is this transaction's turn to decide.
pub(super) fn take_turn(work: &mut Work) {
    if work.state.call.shared {
        Share::Turn.wait(work.lock);
        work.part.has_turn = true;
    }
}

/// Lets other sessions decide, because all tables that the part needs are locked.
pub(super) fn begin(work: &mut Work) {
    if std::mem::take(&mut work.part.has_turn) {
        Share::Turn.give_back(work.lock);
    }
}

/// Reports whether no other session takes part in the call. If so, none can until the end of the
/// transaction.
pub(super) fn is_alone(work: &Work) -> bool {
    Share::All.take(work.lock)
}

/// Checks that the call in which this session takes part was not ended by another session.
pub(super) fn check_joined(work: &Work) -> Result<()> {
    let Some((_, token)) = JOINED.get().filter(|(began, _)| *began == work.began) else { return Ok(()) };
    if work.log.as_ref().and_then(number) == Some(token) {
        return Ok(());
    }
    let message = format!("another session has ended the call that makes {}", work.result.qualified()?);
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .hint("That session got the reason. Call it again, unless the table is made."))
}

/// Notes that this session takes part in the call of the log.
pub(super) fn join(work: &Work) {
    JOINED.set(work.log.as_ref().and_then(number).map(|token| (work.began, token)));
}

fn number(log: &LogTable) -> Option<u64> {
    log.call.as_ref().and_then(|(token, _)| u64::from_str_radix(token, 16).ok())
}

/// Returns the error for a call while others work on the same table in another way.
pub(super) fn busy(work: &Work) -> Result<SqlError> {
    let message = format!("another session is making {}", work.result.qualified()?);
    Ok(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_IN_USE, message)
        .hint("The same call takes part in it, with resume => true if the documents were read long ago. For another one, name another table."))
}

/// Reports whether a table is there. Its rows are kept after a crash, so that they are not counted
/// each time that a part of them is read.
pub(super) fn count(work: &Work, table: Table) -> Result<Count> {
    if !work.spread()?.is_there(table)? {
        return Ok(Count::Missing);
    }
    Ok(Count::Rows(work.log()?.progress.expected(table)))
}

/// Returns the number of parts in which a table is filled.
fn count_parts(work: &Work, table: Table) -> Result<u16> {
    let parts = match table {
        Table::Sets => work.log()?.ranges.len() + 1,
        Table::Members => OF_MEMBERS.into(),
        Table::Ranks => 1,
        _ => usize::try_from(work.in_parts()?.parts).unwrap_or(1),
    };
    Ok(u16::try_from(parts).unwrap_or(u16::MAX))
}

/// Returns the number of the next step.
fn step(work: &Work) -> Result<i64> {
    Ok(work.log()?.progress.rows.len() as i64 + 1)
}

/// Takes a part that is not done, of the stage that fills a table.
pub(super) fn take(work: &mut Work, table: Table) -> Result<()> {
    let step = step(work)?;
    // A table that is gone is made again, with all its parts.
    let noted = if work.spread()?.is_there(table)? { work.spread()?.open_parts()? } else { None };
    let Some(noted) = noted else {
        work.state.claim = Some(Claim::Closed);
        return Ok(());
    };
    let noted = (noted.0.as_str(), noted.1);
    let parts = count_parts(work, table)?;
    let claim = loop {
        pgrx::check_for_interrupts!();
        let (done, rows) = done(noted, step)?;
        if !done.contains(&statements::OPEN) {
            break Claim::Closed;
        }
        let left: Vec<u16> = (0..parts).filter(|&part| !done.contains(&i64::from(part))).collect();
        let Some(&first) = left.first() else {
            work.state.filled = Some(rows);
            break Claim::Done(rows);
        };
        if let Some(&part) = left.iter().find(|&&part| Share::Part(part).take(work.lock)) {
            // Another session may have ended it after the parts were read.
            if statements::is_done(noted, step, part.into()).holds()? {
                continue;
            }
            work.part.number = part;
            let state = format!(
                "{}, part {} of {parts}, {} done",
                table.name(),
                part + 1,
                parts as usize - left.len()
            );
            activity::report(NAME, work.asked.docs, &state);
            break Claim::Part { before: rows };
        }
        work.part.number = first;
        activity::report(NAME, work.asked.docs, &format!("{}, waits for other sessions", table.name()));
        break Claim::Busy;
    };
    work.state.claim = Some(claim);
    Ok(())
}

/// Returns the numbers of the parts that are done, and the number of their rows.
pub(super) fn done(noted: Named<'_>, step: i64) -> Result<(Vec<i64>, i64)> {
    let columns = [pg_sys::TEXTOID, pg_sys::INT8OID];
    let [done, rows] = statements::parts_done(noted, step).row(columns)?.unwrap_or_default();
    let done = done.map(read_text).transpose()?.unwrap_or_default();
    Ok((numbers(&done), rows.map_or(0, |rows| rows.value() as i64)))
}

/// Reads an array of numbers from its text.
pub(super) fn numbers(array: &str) -> Vec<i64> {
    array.trim_matches(['{', '}']).split(',').filter_map(|number| number.parse().ok()).collect()
}

/// Notes that the tables of the next stage are made.
pub(super) fn open(work: &mut Work) -> Result<()> {
    let (step, spread) = (step(work)?, work.spread()?);
    let noted = match spread.open_parts()? {
        Some(noted) => noted,
        None => spread.make_parts()?,
    };
    let noted = (noted.0.as_str(), noted.1);
    statements::forget_parts(noted, step).run()?;
    statements::note_part(noted, step, statements::OPEN, 0).run().map(|_| ())
}

/// Notes that the part is done, and tells the caller.
pub(super) fn note(work: &mut Work) -> Result<()> {
    let table = match work.log()?.progress.next(false) {
        Stage::Table(table) => table,
        _ => Table::Pairs,
    };
    let (step, rows) = (step(work)?, work.state.filled.unwrap_or_default());
    let (part, parts) = (work.part.number, count_parts(work, table)?);
    if let Some((name, oid)) = work.spread()?.open_parts()? {
        statements::note_part((&name, oid), step, part.into(), rows).run()?;
    }
    let name = work.arguments.name();
    pgrx::notice!("{name}: step {step}, {}: part {} of {parts}, {rows} rows", table.name(), part + 1);
    Ok(())
}

/// Waits until the session that does a part has ended it.
pub(super) fn wait(work: &mut Work) {
    begin(work);
    Share::Part(work.part.number).wait(work.lock);
}

/// Forgets the parts that are done after the first `keep` steps.
pub(super) fn forget(work: &Work, keep: usize) -> Result<()> {
    match work.spread()?.open_parts()? {
        Some((name, oid)) => statements::forget_parts((&name, oid), keep as i64 + 1).run().map(|_| ()),
        None => Ok(()),
    }
}

/// Finds where the ranges of ids begin in which the documents are read, without the first range.
/// There is one range if the ids are no integer key. The documents are read like in any query of
/// the caller.
pub(super) fn ranges(work: &Work) -> Result<Vec<i64>> {
    let InParts { documents, key, parts, .. } = work.in_parts()?;
    let Some(key) = key else { return Ok(Vec::new()) };
    if *parts < 2 {
        return Ok(Vec::new());
    }
    let docs: Oid = work.asked.docs;
    let pages = as_user(work.caller, || statements::pages(docs).number())?.unwrap_or_default().max(1);
    // A range is a hundred pages of the sample, or more.
    let sampled = (100 * parts).max(1000);
    let percent = (100.0 * sampled as f64 / pages as f64).min(100.0);
    let sql = statements::ranges(&documents.table, key, *parts, percent);
    let query = Query { relations: &[docs], ..Query::new(&sql) };
    let [found] = query.run([pg_sys::TEXTOID])?.first.unwrap_or_default();
    let mut ranges = found.map(read_text).transpose()?.map(|array| numbers(&array)).unwrap_or_default();
    ranges.dedup();
    Ok(ranges)
}
