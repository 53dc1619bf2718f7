//! Repeats steps that failed because of a node or of another transaction. The procedure runs a step
//! in a subtransaction, and asks here what to do about its error. The transaction is rolled back
//! before the step is repeated; what earlier ones committed stays.

use pgrx::pg_sys;
use pgrx::{PgLogLevel, PgSqlErrorCode};

use super::arguments::{CallArguments, Others};
use super::nodes::Nodes;
use super::place::such_as;
use super::session::CallLimits;
use super::session::of_call;
use super::statements::citus;
use super::statements::servers::Requests;
use crate::pg::procedure::transaction::{check_can_commit, open_docs};
use crate::pg::query::as_user::{as_user, set};
use crate::pg::query::relation::Relation;
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::deadline;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::executor::OnDrop;
use crate::pg::server::notices::{notice, report};

sql_functions! {
    /// `neardup_into_begin(docs, threshold, options, arguments, began)`: checks that a call can
    /// commit; returns whether its steps may be repeated.
    neardup_into_begin, within ItsCalls: |call| {
        let (arguments, _) = open_call(call, true)?;
        let began = call.datum(4).map_or(0, |began| began.value() as i64);
        let limits = arguments.limits;
        of_call(began, |kept| {
            (kept.is_checked, kept.procedure, kept.limits) = (true, arguments.name(), limits);
        });
        let is_guarded = limits.retries > 0 || limits.node_timeout > 0;
        Ok(call.give(Some(is_guarded)))
    };

    /// `neardup_into_again(state, message, began)`: returns whether the step that failed with an
    /// error is to be repeated.
    neardup_into_again, within ItsCalls: |call| {
        let is_again = again(call)?;
        Ok(call.give(Some(is_again)))
    };
}

/// Reads the arguments of a call and the name of its relation. Fails if the call cannot commit,
/// unless that was checked before.
pub(super) fn open_call(call: FunctionCall, check: bool) -> Result<(CallArguments, String)> {
    let others = Others::read(call)?;
    let procedure = others.procedure();
    let example = such_as(procedure, "docs", "");
    let Relation { oid, shown, .. } = open_docs(call, procedure, "Call it on the primary.", &example)?;
    let arguments = CallArguments::new(call, oid, others)?;
    if check {
        check_can_commit(procedure, "steps", &such_as(procedure, &shown, ""))?;
    }
    Ok((arguments, shown))
}

/// Notes that a transaction of the call is done, after which the log has this number of steps.
pub(super) fn done(began: i64, steps: usize) {
    of_call(began, |call| {
        if steps > call.steps {
            (call.steps, call.failures) = (steps, 0);
        }
        call.has_begun = true;
    });
}

/// Notes which nodes a transaction needs, and limits its statements if there are any.
pub(super) fn limit(
    began: i64,
    nodes: Option<Nodes<'_>>,
    limits: CallLimits,
) -> Option<OnDrop<impl Fn() + use<>>> {
    let is_far = of_call(began, |call| {
        call.servers = nodes.map_or(&[][..], Nodes::servers).iter().map(|of| of.name.clone()).collect();
        call.in_citus = nodes.is_some_and(|nodes| nodes.citus().is_some());
        call.in_citus || !call.servers.is_empty()
    });
    is_far.then(|| deadline::limit(limits.node_timeout))
}

/// Decides about a step that failed, and tells the caller. If a statement ran into its limit and is
/// not repeated, raises the error that names the nodes.
fn again(call: FunctionCall) -> Result<bool> {
    /// The number of bytes of a message that are told.
    const SHOWN: usize = 8 << 10;
    let (state, message) = (call.name(0)?.unwrap_or_default(), call.text(1)?.unwrap_or_default());
    let message = message[..message.floor_char_boundary(SHOWN)].to_owned();
    let began = call.datum(2).map_or(0, |began| began.value() as i64);
    if !of_call(began, |call| call.is_checked) {
        return Ok(false);
    }
    let has_fired = deadline::has_fired();
    let message = if has_fired { format!("{message}: {}", silent(began)?) } else { message };
    let (procedure, retries, failures) =
        of_call(began, |call| (call.procedure, call.limits.retries, call.failures));
    if failures >= retries {
        if has_fired {
            return Err(
                SqlError::new(PgSqlErrorCode::ERRCODE_CONNECTION_FAILURE, message).hint(deadline::HINT)
            );
        }
        return Ok(false);
    }
    let failures = failures + 1;
    let pause = f64::from(1u32 << (failures - 1).clamp(0, 5));
    let told = format!(
        "{procedure}: the step is repeated in {pause} s ({failures} of {retries}), because of an error ({state}): {message}"
    );
    report(PgLogLevel::LOG, told.as_str());
    notice(told);
    of_call(began, |call| (call.failures, call.pause) = (failures, pause));
    Ok(true)
}

/// Says which nodes do not answer.
fn silent(began: i64) -> Result<String> {
    let (servers, in_citus) = of_call(began, |call| (call.servers.clone(), call.in_citus));
    // SAFETY: reads the state of the session.
    let caller = unsafe { pg_sys::GetUserId() };
    let silent = as_user(caller, || {
        let (requests, mut silent) = (Requests::default(), Vec::new());
        for name in servers {
            if requests.ask_for_seconds(&name, "SELECT 1::pg_catalog.text")?.is_err() {
                silent.push(format!("server \"{name}\""));
            }
        }
        if in_citus {
            set(c"citus.node_connection_timeout", c"3000");
            silent.extend(citus::silent_nodes()?);
        }
        Ok(silent)
    })?;
    Ok(match silent.len() {
        0 => "all nodes answer, so it takes longer, or waits for a lock there".to_owned(),
        1 => format!("{} does not answer", silent[0]),
        _ => format!("{} do not answer", silent.join(", ")),
    })
}
