//! The parts of a stage that sessions share: each part is a transaction of one session, which
//! commits its rows together with the note that it is done.
//!
//! What is to be done next is decided in turn: a transaction waits for its turn, reads the log, and
//! keeps the turn to its end, or until it has taken a part and locked the tables that the part
//! needs. A part is taken by a lock that the server releases with the transaction, even after
//! kill -9.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::arguments::InParts;
use super::log::{LogTable, LoggedArguments};
use super::session::of_call;
use super::statements::parts as statements;
use super::work::{CallWork, Claimed};
use crate::into::state::Claim;
use crate::into::step::{LoggedStage, WorkingTable};
use crate::pg::procedure::session_lock::LockedShare;
use crate::pg::procedure::statement::read_text;
use crate::pg::procedure::table::Table;
use crate::pg::query::Query;
use crate::pg::query::as_user::as_user;
use crate::pg::server::activity;
use crate::pg::server::error::{Result, SqlError};

/// The number of parts in which the members are found. Each part reads all digests, so that more
/// parts cost a session that is alone more than they save others.
pub(super) const OF_MEMBERS: u16 = 2;

/// Fails in a transaction that cannot see what other sessions commit meanwhile.
pub(super) fn check_isolation(work: &CallWork) -> Result<()> {
    // SAFETY: reads a variable of the session.
    if unsafe { pg_sys::XactIsoLevel } < pg_sys::XACT_REPEATABLE_READ as i32 {
        return Ok(());
    }
    let message = format!("{} in parts must see what other sessions commit", work.call.arguments.name());
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .hint("SET default_transaction_isolation = 'read committed'; then call it again."))
}

/// Waits until it is this transaction's turn to decide.
pub(super) fn take_turn(work: &mut CallWork) {
    LockedShare::Turn.wait(work.call.lock);
    work.has_turn = true;
}

/// Reports whether no other session takes part in the call. If so, none can until the end of the
/// transaction.
pub(super) fn is_alone(work: &CallWork) -> bool {
    LockedShare::All.take(work.call.lock)
}

/// Checks that the call in which this session takes part was not ended by another session.
pub(super) fn check_joined(work: &CallWork) -> Result<()> {
    let joined = of_call(work.call.began, |call| call.joined);
    if joined.is_none() || work.log.as_ref().and_then(number) == joined {
        return Ok(());
    }
    let message =
        format!("another session has ended the call that makes {}", work.call.places.pairs.qualified()?);
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .hint("That session got the reason. Call it again, unless the table is made."))
}

/// Notes that this session takes part in the call of the log.
pub(super) fn join(work: &CallWork) {
    of_call(work.call.began, |call| call.joined = work.log.as_ref().and_then(number));
}

fn number(log: &LogTable) -> Option<u64> {
    log.call.as_ref().and_then(|(token, _)| u64::from_str_radix(token, 16).ok())
}

/// Returns the error for a call while others work on the same table in another way.
pub(super) fn busy(work: &CallWork) -> Result<SqlError> {
    let message = format!("another session is making {}", work.call.places.pairs.qualified()?);
    Ok(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_IN_USE, message)
        .hint("The same call takes part in it, with resume => true if the documents were read long ago. For another one, name another table."))
}

/// Returns the number of parts in which a table is filled.
fn count_parts(work: &CallWork, table: WorkingTable) -> Result<u16> {
    let parts = match table {
        WorkingTable::Sets => work.log()?.ranges.len() + 1,
        WorkingTable::Members => OF_MEMBERS.into(),
        WorkingTable::Ranks => 1,
        _ => usize::try_from(work.in_parts()?.logged.parts).unwrap_or(1),
    };
    Ok(u16::try_from(parts).unwrap_or(u16::MAX))
}

/// Opens the table of the parts that are done, if the tables which the next stage fills are made.
/// Returns the number of the stage, too, and the parts that are done, with the number of their
/// rows.
pub(super) fn noted(work: &CallWork) -> Result<Option<(Table, Noted)>> {
    let Some(noted) = work.spread()?.find(WorkingTable::Parts)? else { return Ok(None) };
    let done = done(&noted, step(work)?)?;
    Ok(done.map(|done| (noted, done)))
}

/// What is noted of a stage.
#[derive(Debug)]
pub(super) struct Noted {
    /// The numbers of the parts that are done.
    pub done: Vec<i64>,
    /// The number of their rows.
    pub rows: i64,
}

/// Returns the number of the next step.
fn step(work: &CallWork) -> Result<i64> {
    Ok(work.log()?.progress.rows.len() as i64 + 1)
}

/// Takes a part that is not done, of the stage that fills a table and that sessions share.
pub(super) fn take(work: &mut CallWork, table: WorkingTable) -> Result<()> {
    // A table that is gone is made again, with all its parts.
    work.state.claim = Some(Claim::Closed);
    if !work.spread()?.is_whole(table)? {
        return Ok(());
    }
    let (step, parts, docs) = (step(work)?, count_parts(work, table)?, work.call.asked.docs);
    let name = work.call.arguments.name();
    work.state.claim = Some(loop {
        pgrx::check_for_interrupts!();
        let Some((noted, Noted { done, rows })) = noted(work)? else { break Claim::Closed };
        let left: Vec<u16> = (0..parts).filter(|&part| !done.contains(&i64::from(part))).collect();
        let Some(&first) = left.first() else {
            work.state.filled = Some(rows);
            break Claim::Done(rows);
        };
        let all = usize::from(parts);
        let claimed = |part: u16| Claimed { parts: vec![part.into()], done: all - left.len(), all };
        if let Some(&part) = left.iter().find(|&&part| LockedShare::Part(part).take(work.call.lock)) {
            // Another session may have ended it after the parts were read.
            if self::done(&noted, step)?.is_some_and(|now| now.done.contains(&part.into())) {
                continue;
            }
            work.claimed = claimed(part);
            let done = work.claimed.done;
            let state = format!("{}, part {} of {parts}, {done} done", table.name(), part + 1);
            activity::report(name, docs, &state);
            break Claim::Part { before: rows };
        }
        work.claimed = claimed(first);
        activity::report(name, docs, &format!("{}, waits for other sessions", table.name()));
        break Claim::Busy;
    });
    Ok(())
}

/// Reads which parts of a step are done, unless its tables are not made.
fn done(noted: &Table, step: i64) -> Result<Option<Noted>> {
    let columns = [pg_sys::TEXTOID, pg_sys::INT8OID];
    let [done, rows] = statements::parts_done(noted, step).row(columns)?.unwrap_or_default();
    let done = done.map(read_text).transpose()?.unwrap_or_default();
    let mut done = numbers(&done);
    let Some(open) = done.iter().position(|&part| part == statements::OPEN) else { return Ok(None) };
    done.swap_remove(open);
    Ok(Some(Noted { done, rows: rows.map_or(0, |rows| rows.value() as i64) }))
}

/// Reads an array of numbers from its text.
pub(super) fn numbers(array: &str) -> Vec<i64> {
    array.trim_matches(['{', '}']).split(',').filter_map(|number| number.parse().ok()).collect()
}

/// Notes that the tables of the next stage are made, and that no part of it is done.
pub(super) fn open(work: &CallWork) -> Result<()> {
    let step = step(work)?;
    let spread = work.spread()?;
    let noted = spread.find(WorkingTable::Parts)?.map_or_else(|| spread.made(WorkingTable::Parts), Ok)?;
    statements::forget_parts(&noted, step).run()?;
    statements::note_part(&noted, step, statements::OPEN, 0).run().map(|_| ())
}

/// Notes that the parts which the transaction took are done, and tells the caller unless these are
/// all parts. The first of them has the number of their rows.
pub(super) fn note(work: &CallWork) -> Result<()> {
    let table = match work.log()?.progress.next(false) {
        LoggedStage::Table(table) => table,
        _ => WorkingTable::Pairs,
    };
    let (step, rows) = (step(work)?, work.state.filled.unwrap_or_default());
    let Claimed { parts, done, all } = &work.claimed;
    if let Some(noted) = work.spread()?.find(WorkingTable::Parts)? {
        for (n, &part) in parts.iter().enumerate() {
            let rows = if n == 0 { rows } else { 0 };
            statements::note_part(&noted, step, part, rows).run()?;
        }
    }
    let (name, table) = (work.call.arguments.name(), table.name());
    if work.state.call.shared {
        let part = work.claimed.part() + 1;
        pgrx::notice!("{name}: step {step}, {table}: part {part} of {all}, {rows} rows");
    } else if parts.len() < *all {
        let done = done + parts.len();
        pgrx::notice!("{name}: step {step}, {table}: {done} of {all} parts, {rows} rows");
    }
    Ok(())
}

/// Waits until the session that does a part has ended it.
pub(super) fn wait(work: &mut CallWork) {
    work.give_turn();
    LockedShare::Part(work.claimed.part()).wait(work.call.lock);
}

/// Forgets the parts that are done after the first `keep` steps.
pub(super) fn forget(work: &CallWork, keep: usize) -> Result<()> {
    match work.spread()?.find(WorkingTable::Parts)? {
        Some(noted) => statements::forget_parts(&noted, keep as i64 + 1).run().map(|_| ()),
        None => Ok(()),
    }
}

/// Finds where the ranges of ids begin in which the documents are read, without the first range.
/// There is one range if the ids are no integer key. The documents are read like in any query of
/// the caller.
pub(super) fn ranges(work: &CallWork) -> Result<Vec<i64>> {
    let InParts { documents, key, logged: LoggedArguments { parts, .. }, .. } = work.in_parts()?;
    let Some(key) = key else { return Ok(Vec::new()) };
    if *parts < 2 {
        return Ok(Vec::new());
    }
    let docs: Oid = work.call.asked.docs;
    let pages = as_user(work.call.caller, || statements::pages(docs).number())?.unwrap_or_default().max(1);
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
