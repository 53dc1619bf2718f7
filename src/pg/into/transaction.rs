//! A transaction of a call: reads the current state, plans steps from it, and carries them out.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys;

use super::arguments::{JoinArguments, OutputTables};
use super::look::{look_around, was_finished};
use super::nodes::Nodes;
use super::place::taken;
use super::session::{CallSession, of_call};
use super::statements::join::CountedTokens;
use super::statements::log::{LogTable, LoggedArguments, StageDetails};
use super::statements::servers::Requests;
use super::statements::{members, parts, result, seen, sets, stars};
use super::work::{CallWork, Claimed, IntoCall};
use super::{outcome, retry, tables};
use crate::into::plan::plan;
use crate::into::state::{self, CallFacts, LogState, SetSizes, rounds};
use crate::into::step::{CallStep, End, LoggedStage, RefusalReason, WorkingTable};
use crate::pg::procedure::transaction;
use crate::pg::query::as_user::{Extension, as_user};
use crate::pg::request::example::literal;
use crate::pg::server::activity;
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::settings;

sql_functions! {
    /// `neardup_into_step(docs, threshold, options, arguments, began)`: does one transaction of a
    /// call that began at `began`; returns `more` or `done`.
    neardup_into_step, within ItsCalls: |call| {
        let status = step(call)?;
        Ok(call.give(Some(status)))
    };
}

fn step(call: FunctionCall) -> Result<&'static str> {
    let began = call.datum(4).map_or(0, |began| began.value() as i64);
    let (arguments, shown) = retry::open_call(call, !of_call(began, |call| call.is_checked))?;
    let refused = of_call(began, CallSession::is_refused)?;
    // SAFETY: reads the state of the session.
    let caller = unsafe { pg_sys::GetUserId() };
    let places = OutputTables::new(&arguments, caller, &shown)?;
    let lock = places.log.lock();
    // A transaction that failed has released the lock.
    let (has_begun, after_failure) = of_call(began, |call| (call.has_begun, std::mem::take(&mut call.pause)));
    let first = !lock.is_held_since(began) && !has_begun;
    pause(if first { 0.0 } else { arguments.limits.pause }.max(after_failure));
    let extension = Extension::from_call(call)?;
    extension.check_version(arguments.name())?;
    let asked = JoinArguments::new(&arguments, &extension, caller, &places.pairs)?;
    let nodes = asked.logged().map(LoggedArguments::nodes);
    let is_shared = nodes.is_some_and(Nodes::are_shared);
    if !(if is_shared { lock.join(began) } else { lock.take(began) }) {
        let message = format!("another session is making {}", places.pairs.qualified()?);
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_IN_USE, message)
            .hint("Name another table for the pairs, or wait until it is made."));
    }
    let _limit = retry::limit(began, nodes, arguments.limits);
    let requests = Requests::of_call(arguments.name());
    let call = IntoCall { arguments, extension, caller, asked, places, requests, began, lock };
    let mut work = begin(call, first)?;
    work.state.refused = refused;
    let end = transaction::run(&mut work, |work| &work.state, plan, carry_out)?;
    retry::done(began, work.log.as_ref().map_or(0, |log| log.progress.rows.len()));
    if is_shared {
        activity::end();
    }
    if end == End::More {
        return Ok("more");
    }
    lock.release();
    tell(&work)?;
    Ok("done")
}

/// Waits some seconds.
fn pause(seconds: f64) {
    if seconds > 0.0 {
        // SAFETY: a function of the server that takes a float8 and answers to interrupts.
        unsafe {
            let seconds = pg_sys::Float8GetDatum(seconds);
            pg_sys::OidFunctionCall1Coll(pg_sys::F_PG_SLEEP.into(), pg_sys::InvalidOid, seconds);
        }
    }
}

/// Tells the caller the number of pairs, and the number of bytes that moved between shards.
fn tell(work: &CallWork) -> Result<()> {
    let made = || work.log.as_ref()?.progress.rows.last().copied();
    work.call.tell(format_args!(
        "{} {} in {}",
        work.state.filled.or_else(made).unwrap_or_default(),
        if work.call.arguments.others.passages { "passages" } else { "pairs" },
        work.call.places.pairs.qualified()?
    ));
    if let Some((moved, documents)) = moved(work) {
        let each = moved / documents.max(1);
        work.call.tell(format_args!("{moved} bytes of rows went from shard to shard, {each} a document"));
    }
    Ok(())
}

/// Reads the initial state.
fn begin(call: IntoCall, first: bool) -> Result<CallWork> {
    let (asked, in_parts) = (&call.asked, call.asked.logged());
    let shared = in_parts.is_some_and(|in_parts| in_parts.nodes().are_shared());
    let state = state::CallRequest {
        in_parts: in_parts.is_some(),
        shared,
        by_groups: in_parts.is_some() && !shared && !asked.is_update(),
        first,
        update: asked.is_update(),
        max_pairs: asked.max_pairs.filter(|_| in_parts.is_some()),
        clusters: call.places.clusters.is_some(),
        by_stars: false,
        compares_by_ranks: in_parts.is_some_and(|of| of.carried.counted == CountedTokens::All),
        allowance: i64::try_from(settings::memory()).unwrap_or(i64::MAX),
    };
    let (caller, state) = (call.caller, CallFacts::new(state, LogState::None));
    let claimed = Claimed::default();
    let mut work = CallWork {
        call,
        log: None,
        claimed,
        has_turn: false,
        moved: 0,
        distinct: None,
        double_id: None,
        state,
    };
    if shared {
        parts::check_isolation(&work)?;
        parts::take_turn(&mut work);
    }
    as_user(caller, || look_around(&mut work))?;
    Ok(work)
}

/// Returns the number of bytes in rows that moved between shards in all steps, and the number of
/// documents, or None if there are no shards.
fn moved(work: &CallWork) -> Option<(i64, i64)> {
    let log = work.log.as_ref()?;
    work.call.citus()?;
    Some((log.moved.saturating_add(work.moved), log.progress.expected(WorkingTable::Sets)))
}

/// Carries out a step, and returns the result of the transaction if the step ends it.
fn carry_out(work: &mut CallWork, step: CallStep) -> Result<Option<End>> {
    let caller = work.call.caller;
    match step {
        CallStep::Done(end) => return Ok(Some(end)),
        // Documents are read like in any query of the caller.
        CallStep::Fill(WorkingTable::Sets) => work.state.filled = Some(sets::read(work)?),
        CallStep::Fill(WorkingTable::Seen) => work.state.filled = Some(seen::see(work)?),
        CallStep::JoinHere => outcome::join_here(work)?,
        CallStep::TakeLog => {
            let ranges = if work.state.call.shared { parts::ranges(work)? } else { Vec::new() };
            as_user(caller, || take_log(work, ranges))?;
        }
        step => as_user(caller, || as_caller(work, step))?,
    }
    Ok(None)
}

/// Carries out a step that runs as the caller, with settings that last as long as the step.
fn as_caller(work: &mut CallWork, step: CallStep) -> Result<()> {
    match step {
        CallStep::DropTables => {
            let is_kept = work.is_update() && work.state.log == LogState::Finished;
            let spread = work.spread()?;
            spread.drop_all_but(if is_kept { spread.kept() } else { &[] })?;
            settle(work);
            Ok(())
        }
        CallStep::BeginUpdate => work.log()?.begin_update(),
        CallStep::DropLog => {
            work.log.as_ref().map_or(Ok(()), LogTable::drop)?;
            settle(work);
            Ok(())
        }
        CallStep::Count(table) => tables::count(work, table),
        CallStep::TakePart(_) if work.state.call.by_groups => parts::take_group(work),
        CallStep::TakePart(table) => parts::take(work, table),
        CallStep::Open => parts::open(work),
        CallStep::LogPart => parts::note(work),
        CallStep::Wait => {
            parts::wait(work);
            Ok(())
        }
        CallStep::Forget { keep } => {
            parts::forget(work, keep)?;
            work.call.tell("a server has lost rows of working tables, so these are made again");
            work.log()?.forget(keep)
        }
        CallStep::Make(table) => tables::make(work, table),
        CallStep::CheckIds => sets::check_ids(work),
        CallStep::Measure => sets::measure(work),
        CallStep::CountEqual => members::count_pairs(work),
        CallStep::CountPairs => result::count_pairs(work),
        CallStep::MakeResult => outcome::make(work),
        CallStep::CountUnsettled => stars::count_unsettled(work),
        CallStep::MakeClusters => outcome::clusters(work),
        CallStep::ClusterHere => outcome::cluster_here(work),
        CallStep::Log(stage) => log(work, stage),
        CallStep::Refuse(why) => {
            let reason = reason(work, why)?;
            // Nothing is dropped of what is kept.
            if work.state.call.update {
                return Err(reason);
            }
            of_call(work.call.began, |call| {
                (call.refusal, call.is_settled) = (Some(reason), why == RefusalReason::Taken);
            });
            Ok(())
        }
        CallStep::Fill(table) => tables::fill(work, table),
        CallStep::Done(_) | CallStep::JoinHere | CallStep::TakeLog => Ok(()),
    }
}

/// Records that the tables of the call are dropped, if this was the purpose of the transaction.
fn settle(work: &CallWork) {
    if work.state.refused {
        of_call(work.call.began, |call| call.is_settled = true);
    }
}

/// Makes the log, with a new name for working tables.
fn take_log(work: &CallWork, ranges: Vec<i64>) -> Result<()> {
    // SAFETY: a function of the server without arguments, and the 16 bytes that it made.
    let random = unsafe {
        let uuid = pg_sys::OidFunctionCall0Coll(pg_sys::F_GEN_RANDOM_UUID.into(), pg_sys::InvalidOid);
        *uuid.cast_mut_ptr::<[u8; 16]>()
    };
    // These bytes come before the ones that contain the version of the UUID.
    let token: String = random[..6].iter().map(|byte| format!("{byte:02x}")).collect();
    LogTable::create(&work.call.places.log, work.call.caller, &token, ranges, work.in_parts()?.logged.clone())
}

/// Writes the finished work to the log, and tells the caller.
fn log(work: &CallWork, stage: LoggedStage) -> Result<()> {
    let (log, state) = (work.log()?, &work.state);
    let rows = state.filled.unwrap_or_default();
    let sizes = state.sizes.filter(|_| stage == LoggedStage::Table(WorkingTable::Sets));
    let SetSizes { bytes, largest } = sizes.unwrap_or_default();
    let rounds = match stage {
        LoggedStage::Table(WorkingTable::Candidates) if state.call.shared => 1,
        LoggedStage::Table(WorkingTable::Candidates) => {
            let candidates = work.distinct.unwrap_or(rows);
            rounds(
                candidates,
                log.progress.expected(WorkingTable::Sets),
                log.progress.sizes,
                state.call.allowance,
            )
        }
        _ => 0,
    };
    let details = StageDetails { bytes, largest, rounds, moved: work.moved, unsettled: state.unsettled };
    let (step, name) = log.write(stage, rows, details)?;
    let moved = if work.moved > 0 { format!(", {} bytes", work.moved) } else { String::new() };
    let unsettled = state.unsettled.map(|numbers| format!(", {numbers} sets to settle")).unwrap_or_default();
    work.call.tell(format_args!("step {step}, {name}: {rows} rows{moved}{unsettled}"));
    Ok(())
}

/// Returns the error for a refusal.
fn reason(work: &CallWork, why: RefusalReason) -> Result<SqlError> {
    let (docs, name) = (&work.call.asked.shown, work.call.arguments.name());
    let limit = |message: String| SqlError::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message);
    let found = if work.call.arguments.others.passages { "passages" } else { "pairs" };
    Ok(match why {
        RefusalReason::DoubleId => match &work.double_id {
            Some(id) => {
                let message = format!("id {id} stands in more than one row of {docs}");
                SqlError::new(PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION, message)
                    .hint("Every document needs an id of its own; name another column with id_column.")
            }
            None => {
                let code = PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
                SqlError::new(code, "two sets have one number by chance")
                    .hint("Call it again: it takes other numbers.")
            }
        },
        RefusalReason::Taken => {
            let clusters = work.call.places.clusters.as_ref();
            let result = work.call.places.pairs.relation()?.is_some();
            let accept =
                if was_finished(work) { " The same call made it: resume => true accepts it." } else { "" };
            taken(clusters.filter(|_| !result).unwrap_or(&work.call.places.pairs), accept)?
        }
        RefusalReason::NullId => {
            let message = format!("a row of {docs} has NULL as its id");
            SqlError::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, message)
                .hint("Name a column without NULL with id_column => '…'.")
        }
        RefusalReason::Candidates(most) => {
            limit(format!("{name} has more than {most} candidates to compare"))
                .hint(format!("Raise the threshold: CALL {name}({}, 0.95, 'docs_found');", literal(docs)))
        }
        RefusalReason::Pairs => {
            let most = work.state.call.max_pairs.unwrap_or_default();
            limit(format!("{name} has more than max_{found} = {most} {found} to give"))
                .hint(format!("Raise the threshold or max_{found}."))
        }
    })
}
