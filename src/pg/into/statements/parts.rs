//! The parts of a stage that sessions share: each part is a transaction of one session, which
//! commits its rows together with the note that it is done.
//!
//! What is to be done next is decided in turn: a transaction waits for its turn, reads the log, and
//! keeps the turn to its end, or until it has taken a part and locked the tables that the part
//! needs. A part is taken by a lock that the server releases with the transaction, even after
//! kill -9.
//!
//! The parts of the candidates that are joined on other nodes are taken in groups: a transaction
//! commits the candidates of a group of parts together with the note that they are done, so a crash
//! or a kill costs no more than the group that was joined meanwhile. The servers of postgres_fdw
//! commit one after the other, so a crash may leave the rows of a group on some of them, without a
//! note here. Rows are counted before each group: if there are others than the notes say, the table
//! is made again.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::candidates::note_moved;
use super::log::{LogTable, LoggedArguments};
use crate::into::state::{Claim, Count};
use crate::into::step::{LoggedStage, WorkingTable};
use crate::pg::into::arguments::InParts;
use crate::pg::into::nodes::Nodes;
use crate::pg::into::session::of_call;
use crate::pg::into::work::{CallWork, Claimed};
use crate::pg::procedure::session_lock::LockedShare;
use crate::pg::procedure::statement::{Statement, int8, oid, on, read_text};
use crate::pg::procedure::table::Table;
use crate::pg::query::Query;
use crate::pg::query::as_user::as_user;
use crate::pg::server::activity;
use crate::pg::server::error::{Result, SqlError};

/// The number of parts in which the members are found. Each part reads all digests, so that more
/// parts cost a session that is alone more than they save others.
pub(crate) const OF_MEMBERS: u16 = 2;

/// The part number of the row that says that the tables of a stage are made.
const OPEN: i64 = -1;

/// Notes of a step that a part is done, with this number of rows.
fn note_part(noted: &Table, row: [i64; 3]) -> Result<()> {
    on([noted], format!("INSERT INTO {noted} SELECT $1, $2, $3")).with(row.map(int8)).run().map(|_| ())
}

/// Deletes what is noted of the steps from `step` on.
fn forget_from(noted: &Table, step: i64) -> Result<()> {
    on([noted], format!("DELETE FROM {noted} p WHERE p.step >= $1")).with([int8(step)]).run().map(|_| ())
}

/// Fails in a transaction that cannot see what other sessions commit meanwhile.
pub(crate) fn check_isolation(work: &CallWork) -> Result<()> {
    // SAFETY: reads a variable of the session.
    if unsafe { pg_sys::XactIsoLevel } < pg_sys::XACT_REPEATABLE_READ as i32 {
        return Ok(());
    }
    let message = format!("{} in parts must see what other sessions commit", work.call.arguments.name());
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .hint("SET default_transaction_isolation = 'read committed'; then call it again."))
}

/// Waits until it is this transaction's turn to decide.
pub(crate) fn take_turn(work: &mut CallWork) {
    LockedShare::Turn.wait(work.call.lock);
    work.has_turn = true;
}

/// Reports whether no other session takes part in the call. If so, none can until the end of the
/// transaction.
pub(crate) fn is_alone(work: &CallWork) -> bool {
    LockedShare::All.take(work.call.lock)
}

/// Checks that the call in which this session takes part was not ended by another session.
pub(crate) fn check_joined(work: &CallWork) -> Result<()> {
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
pub(crate) fn join(work: &CallWork) {
    of_call(work.call.began, |call| call.joined = work.log.as_ref().and_then(number));
}

fn number(log: &LogTable) -> Option<u64> {
    log.call.as_ref().and_then(|(token, _)| u64::from_str_radix(token, 16).ok())
}

/// Returns the error for a call while others work on the same table in another way.
pub(crate) fn busy(work: &CallWork) -> Result<SqlError> {
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
pub(crate) fn noted(work: &CallWork) -> Result<Option<(Table, Noted)>> {
    let Some(noted) = work.spread()?.find(WorkingTable::Parts)? else { return Ok(None) };
    let done = done(&noted, step(work)?)?;
    Ok(done.map(|done| (noted, done)))
}

/// What is noted of a stage.
#[derive(Debug)]
pub(crate) struct Noted {
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
pub(crate) fn take(work: &mut CallWork, table: WorkingTable) -> Result<()> {
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
    let sql = format!(
        "SELECT COALESCE(array_agg(p.part), '{{}}'::int8[])::text, COALESCE(sum(p.rows), 0)::int8 FROM {noted} p WHERE p.step = $1"
    );
    let [done, rows] = on([noted], sql).with([int8(step)]).row(columns)?.unwrap_or_default();
    let done = done.map(read_text).transpose()?.unwrap_or_default();
    let mut done = numbers(&done);
    let Some(open) = done.iter().position(|&part| part == OPEN) else { return Ok(None) };
    done.swap_remove(open);
    Ok(Some(Noted { done, rows: rows.map_or(0, |rows| rows.value() as i64) }))
}

/// Reads an array of numbers from its text.
pub(crate) fn numbers(array: &str) -> Vec<i64> {
    array.trim_matches(['{', '}']).split(',').filter_map(|number| number.parse().ok()).collect()
}

/// Notes that the tables of the next stage are made, and that no part of it is done.
pub(crate) fn open(work: &CallWork) -> Result<()> {
    let step = step(work)?;
    let spread = work.spread()?;
    let noted = spread.find(WorkingTable::Parts)?.map_or_else(|| spread.made(WorkingTable::Parts), Ok)?;
    forget_from(&noted, step)?;
    note_part(&noted, [step, OPEN, 0])
}

/// Notes that the parts which the transaction took are done, and tells the caller unless these are
/// all parts. The first of them has the number of their rows.
pub(crate) fn note(work: &CallWork) -> Result<()> {
    let table = match work.log()?.progress.next(false) {
        LoggedStage::Table(table) => table,
        _ => WorkingTable::Pairs,
    };
    let (step, rows) = (step(work)?, work.state.filled.unwrap_or_default());
    let Claimed { parts, done, all } = &work.claimed;
    if let Some(noted) = work.spread()?.find(WorkingTable::Parts)? {
        for (n, &part) in parts.iter().enumerate() {
            let rows = if n == 0 { rows } else { 0 };
            note_part(&noted, [step, part, rows])?;
        }
    }
    let table = table.name();
    if work.state.call.shared {
        let part = work.claimed.part() + 1;
        work.call.tell(format_args!("step {step}, {table}: part {part} of {all}, {rows} rows"));
    } else if parts.len() < *all {
        let done = done + parts.len();
        work.call.tell(format_args!("step {step}, {table}: {done} of {all} parts, {rows} rows"));
    }
    Ok(())
}

/// Waits until the session that does a part has ended it.
pub(crate) fn wait(work: &mut CallWork) {
    work.give_turn();
    LockedShare::Part(work.claimed.part()).wait(work.call.lock);
}

/// Forgets the parts that are done after the first `keep` steps.
pub(crate) fn forget(work: &CallWork, keep: usize) -> Result<()> {
    match work.spread()?.find(WorkingTable::Parts)? {
        Some(noted) => forget_from(&noted, keep as i64 + 1),
        None => Ok(()),
    }
}

/// Finds where the ranges of ids begin in which the documents are read, without the first range.
/// There is one range if the ids are no integer key. The documents are read like in any query of
/// the caller.
pub(crate) fn ranges(work: &CallWork) -> Result<Vec<i64>> {
    let InParts { documents, key, logged: LoggedArguments { parts, .. }, .. } = work.in_parts()?;
    let Some(key) = key else { return Ok(Vec::new()) };
    if *parts < 2 {
        return Ok(Vec::new());
    }
    let docs: Oid = work.call.asked.docs;
    // About how many pages the relation has.
    let pages = Statement::new(
        "SELECT (COALESCE(sum(pg_relation_size(p.relid)), pg_relation_size($1)) / current_setting('block_size')::int8)::int8 \
         FROM (SELECT t.relid FROM pg_partition_tree($1::regclass) t WHERE t.isleaf) p",
    );
    let pages = as_user(work.call.caller, || pages.with([oid(docs)]).number())?.unwrap_or_default().max(1);
    // A range is a hundred pages of the sample, or more.
    let sampled = (100 * parts).max(1000);
    let percent = (100.0 * sampled as f64 / pages as f64).min(100.0);
    let shares: Vec<String> = (1..*parts).map(|part| (part as f64 / *parts as f64).to_string()).collect();
    // The ids at which these shares of the rows begin. Like all reading of documents it runs with
    // the search path of the caller, and so qualifies all names with their schemas.
    let sql = format!(
        "SELECT pg_catalog.percentile_disc(ARRAY[{}]::pg_catalog.float8[]) WITHIN GROUP (ORDER BY {key}::pg_catalog.int8)::pg_catalog.text \
         FROM {} AS d TABLESAMPLE pg_catalog.system({percent}) REPEATABLE (0)",
        shares.join(", "),
        documents.table
    );
    let query = Query { relations: &[docs], ..Query::new(&sql) };
    let [found] = query.run([pg_sys::TEXTOID])?.first.unwrap_or_default();
    let mut ranges = found.map(read_text).transpose()?.map(|array| numbers(&array)).unwrap_or_default();
    ranges.dedup();
    Ok(ranges)
}

/// What is done in groups.
const TABLE: WorkingTable = WorkingTable::Candidates;

/// Takes the next group of parts.
pub(crate) fn take_group(work: &mut CallWork) -> Result<()> {
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
            note_moved(work, rows)?;
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
    let routes = WorkingTable::Routes;
    let parts = work.statement(&format!(
        "SELECT COALESCE(array_agg(p.part ORDER BY p.part), '{{}}'::int4[])::text FROM (SELECT p.part FROM {routes} p GROUP BY p.part) p"
    ))?;
    Ok(numbers(&parts.text()?.unwrap_or_default()))
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
