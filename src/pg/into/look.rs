//! Looks for the results of earlier transactions and calls, and decides whether to continue from
//! them.
//!
//! A result is brought up to date by what was kept: the sets of all documents, the rows of their
//! parts, the order of tokens and the pairs of sets are kept in working tables. A call finds, by a
//! hash of their texts, which documents are new, have changed or are gone, and joins only sets that
//! are new, with each other and with the kept ones. What was found before stays: a pair of sets
//! does not depend on the documents that have these sets. So the kept tables only grow, and nothing
//! is undone in them on many servers at once; if most of the kept sets are no longer those of
//! documents, all is made from scratch.
//!
//! What is known of the documents (their hashes and their sets) changes in one transaction, and the
//! tables of the caller change in one transaction, by the rows that differ.

use pgrx::PgSqlErrorCode;

use super::outcome;
use super::place::TablePlace;
use super::statements::citus::{self, CitusLayout};
use super::statements::log::{LogTable, LoggedArguments};
use super::statements::parts;
use super::work::CallWork;
use crate::into::state::LogState;
use crate::into::step::WorkingTable;
use crate::pg::server::error::{Result, SqlError};

/// Finds the results of earlier transactions and calls, here and on the servers.
pub(super) fn look_around(work: &mut CallWork) -> Result<()> {
    work.log = LogTable::open(&work.call.places.log, work.call.caller)?;
    let first = work.state.call.first;
    if let Some(notice) = work.call.asked.notice.as_ref().filter(|_| first) {
        work.call.tell(notice);
    }
    if !first {
        parts::check_joined(work)?;
    } else {
        work.state.taken = work.call.places.pairs.relation()?.is_some()
            || work.call.places.clusters.as_ref().map(TablePlace::relation).transpose()?.flatten().is_some();
    }
    if let Some(layout) = work.call.citus() {
        work.state.call.by_stars =
            work.call.places.clusters.is_some() && layout.spreads_results(work.call.asked.id_oid)?;
        CitusLayout::set_up_nodes()?;
        if first {
            layout.check_versions(&work.call.extension)?;
        }
        if work.call.asked.is_update() {
            check_hashable(work)?;
        }
    }
    for server in work.call.asked.logged().filter(|_| first).iter().flat_map(|of| &of.servers) {
        work.call.requests.check_version(server, &work.call.extension)?;
    }
    let Some(log) = &work.log else { return Ok(()) };
    if log.call.is_none() {
        work.state.log = if log.is_finished { LogState::Finished } else { LogState::Other };
        return Ok(());
    }
    let spread = work.spread()?;
    spread.lock()?;
    if work.call.asked.is_update() {
        return look_for_update(work);
    }
    let is_ours = is_of_this_call(work, log);
    let is_resumed = first && work.call.arguments.others.resume == Some(true);
    let made = is_resumed && log.is_finished && is_ours && outcome::is_made(work)?;
    let (log_state, left) = if log.is_finished {
        (LogState::Finished, !spread.existing()?.is_empty())
    } else if is_ours && (!first || goes_on(work, log)) {
        (LogState::Ours(log.progress.clone()), true)
    } else {
        (LogState::Other, true)
    };
    // Nobody drops the tables of a call in which other sessions take part.
    let is_old = matches!(log_state, LogState::Other) || first && log_state == LogState::Finished;
    if is_old && work.state.call.shared && !work.state.taken && !parts::is_alone(work) {
        return Err(parts::busy(work)?);
    }
    (work.state.log, work.state.left, work.state.made) = (log_state, left, made);
    if work.state.call.shared && matches!(work.state.log, LogState::Ours(_)) {
        parts::join(work);
    }
    Ok(())
}

/// Finds out whether a call that brings a result up to date can go on with what was kept.
fn look_for_update(work: &mut CallWork) -> Result<()> {
    let first = work.state.call.first;
    let Some((log, (_, known))) = work.log.as_ref().and_then(|log| Some((log, log.call.as_ref()?))) else {
        return Ok(());
    };
    // The result is that of the log, which says so.
    work.state.taken = work.state.taken && known.update.is_none();
    let is_ours = !first || (work.call.arguments.others.resume != Some(false) && is_kept(work, log, known)?);
    if first
        && is_ours
        && !log.is_finished
        && let Some((read, _)) = &log.read
    {
        work.call.tell(format_args!(
            "goes on with the documents as they were seen at {read}; call it again for later changes"
        ));
    }
    let found = match is_ours {
        true if log.is_finished => LogState::Finished,
        true => LogState::Ours(log.progress.clone()),
        false => LogState::Other,
    };
    (work.state.log, work.state.left) = (found, true);
    Ok(())
}

/// Reports whether a log is that of a call with the same parameters.
fn is_of_this_call(work: &CallWork, log: &LogTable) -> bool {
    log.call.as_ref().map(|(_, known)| known) == work.call.asked.logged()
}

/// Reports whether a call with the same parameters was finished.
pub(super) fn was_finished(work: &CallWork) -> bool {
    work.log.as_ref().is_some_and(|log| log.is_finished && log.call.is_some() && is_of_this_call(work, log))
}

/// Reports whether a call continues the work of an earlier call, and tells the caller when the
/// documents were read.
fn goes_on(work: &CallWork, log: &LogTable) -> bool {
    let Some((read, fresh)) = &log.read else { return true };
    let resume = work.call.arguments.others.resume;
    let goes_on = resume.unwrap_or(*fresh);
    if work.state.taken {
        return goes_on;
    }
    if goes_on {
        work.call.tell(format_args!(
            "goes on with the documents as they were read at {read}; resume => false reads them anew"
        ));
    } else {
        let why =
            if resume.is_some() { "" } else { ", more than a day ago; resume => true goes on with them" };
        let read = format_args!("as they were read at {read}");
        work.call.tell(format_args!("begins anew, and not with the documents {read}{why}"));
    }
    goes_on
}

/// Reports whether the kept tables of a log are all there, and most of their sets are those of
/// documents. If not, says why all is made from scratch.
fn is_kept(work: &CallWork, log: &LogTable, known: &LoggedArguments) -> Result<bool> {
    let (spread, asked) = (work.spread()?, &work.in_parts()?.logged);
    let from_scratch = |why: &str| {
        work.call.tell(format_args!("{} is made anew: {why}", known.pairs));
        Ok(false)
    };
    if known.update.is_none() {
        return from_scratch("nothing was kept when it was made");
    }
    if known.update != asked.update {
        return from_scratch("it was made by another version of the library");
    }
    if known != asked {
        return from_scratch("it was made with other arguments");
    }
    if log.is_finished {
        for table in spread.kept() {
            if !spread.is_whole(*table)? {
                return from_scratch("a table that was kept is gone");
            }
        }
        let documents = spread.open(WorkingTable::Known)?.count()?;
        let kept = log.kept.read.saturating_add(log.progress.expected(WorkingTable::Sets));
        if kept > documents.saturating_mul(2).saturating_add(1000) {
            return from_scratch("most of the texts that were kept have changed or are gone");
        }
    }
    Ok(true)
}

/// Fails because ids of this type have no hash, by which Citus would distribute them.
fn check_hashable(work: &CallWork) -> Result<()> {
    if citus::is_hashable(work.call.asked.id_oid)? {
        return Ok(());
    }
    let message = format!("ids of type {} have no hash, by which nodes would keep them", work.call.asked.id);
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
        .hint("Make the pairs without incremental => true."))
}
