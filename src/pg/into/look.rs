//! Looks for the results of earlier transactions and calls, and decides whether to continue from
//! them.

use super::outcome;
use super::place::TablePlace;
use super::statements::citus::CitusLayout;
use super::statements::log::LogTable;
use super::statements::parts;
use super::update;
use super::work::CallWork;
use crate::into::state::LogState;
use crate::pg::server::error::Result;

/// Finds the results of earlier transactions and calls, here and on the servers.
pub(super) fn look_around(work: &mut CallWork) -> Result<()> {
    work.log = LogTable::open(&work.call.places.log, work.call.caller)?;
    let (first, name) = (work.state.call.first, work.call.arguments.name());
    if let Some(notice) = work.call.asked.notice.as_ref().filter(|_| first) {
        pgrx::notice!("{name}: {notice}");
    }
    if !first {
        parts::check_joined(work)?;
    } else {
        work.state.taken = work.call.places.pairs.relation()?.is_some()
            || work.call.places.clusters.as_ref().map(TablePlace::relation).transpose()?.flatten().is_some();
    }
    if let Some(layout) = work.call.asked.in_parts.as_ref().and_then(|of| of.logged.citus.as_ref()) {
        work.state.call.by_stars =
            work.call.places.clusters.is_some() && layout.spreads_results(work.call.asked.id_oid)?;
        CitusLayout::set_up_nodes()?;
        if first {
            layout.check_versions(&work.call.extension)?;
        }
        if work.call.asked.is_update() {
            update::check_hashable(work)?;
        }
    }
    for server in work.call.asked.in_parts.iter().filter(|_| first).flat_map(|of| &of.logged.servers) {
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
    let is_ours =
        !first || (work.call.arguments.others.resume != Some(false) && update::is_kept(work, log, known)?);
    if first
        && is_ours
        && !log.is_finished
        && let Some((read, _)) = &log.read
    {
        let name = work.call.arguments.name();
        pgrx::notice!(
            "{name}: goes on with the documents as they were seen at {read}; call it again for later changes"
        );
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
    let asked = work.call.asked.in_parts.as_ref().map(|of| &of.logged);
    log.call.as_ref().map(|(_, known)| known) == asked
}

/// Reports whether a call with the same parameters was finished.
pub(super) fn was_finished(work: &CallWork) -> bool {
    work.log.as_ref().is_some_and(|log| log.is_finished && log.call.is_some() && is_of_this_call(work, log))
}

/// Reports whether a call continues the work of an earlier call, and tells the caller when the
/// documents were read.
fn goes_on(work: &CallWork, log: &LogTable) -> bool {
    let Some((read, fresh)) = &log.read else { return true };
    let (resume, name) = (work.call.arguments.others.resume, work.call.arguments.name());
    let goes_on = resume.unwrap_or(*fresh);
    if work.state.taken {
        return goes_on;
    }
    if goes_on {
        pgrx::notice!(
            "{name}: goes on with the documents as they were read at {read}; resume => false reads them anew"
        );
    } else {
        let why =
            if resume.is_some() { "" } else { ", more than a day ago; resume => true goes on with them" };
        pgrx::notice!("{name}: begins anew, and not with the documents as they were read at {read}{why}");
    }
    goes_on
}
