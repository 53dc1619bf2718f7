//! Repeats steps that failed because of a node or of another transaction. The procedure runs a step
//! in a subtransaction, and asks here what to do about its error. The transaction is rolled back
//! before the step is repeated; what earlier ones committed stays.

use std::cell::{Cell, RefCell};

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::arguments::CallArguments;
use super::limits::CallLimits;
use super::nodes::Nodes;
use super::place::such_as;
use super::servers::Requests;
use super::statements::citus_catalog;
use crate::pg::procedure::transaction::check_can_commit;
use crate::pg::query::as_user::{as_user, set};
use crate::pg::query::relation::Relation;
use crate::pg::server::call::{FunctionCall, sql_function};
use crate::pg::server::deadline;
use crate::pg::server::error::{Result, SqlError};

sql_function! {
    /// `neardup_into_begin(docs, threshold, options, arguments, began)`: checks that a call can
    /// commit; returns whether its steps may be repeated.
    neardup_into_begin, pg_finfo_neardup_into_begin, within ItsCalls, |call| {
        let (CallArguments { limits, .. }, _) = open_call(call, true)?;
        let began = call.datum(4).map_or(0, |began| began.value() as i64);
        CALL.set(Some(Repeated { began, limits, ..Repeated::default() }));
        let is_guarded = limits.retries > 0 || limits.node_timeout > 0;
        Ok(call.give(Some(is_guarded)))
    }
}

sql_function! {
    /// `neardup_into_again(state, message, began)`: returns whether the step that failed with an
    /// error is to be repeated.
    neardup_into_again, pg_finfo_neardup_into_again, within ItsCalls, |call| {
        let is_again = again(call)?;
        Ok(call.give(Some(is_again)))
    }
}

/// The call that hints show.
const EXAMPLE: &str = "CALL near_duplicates_into('docs', 0.8, 'docs_pairs');";

/// The call of this session.
#[derive(Debug, Clone, Copy, Default)]
struct Repeated {
    began: i64,
    /// Set once a transaction of the call was committed.
    has_begun: bool,
    /// The greatest number of steps that were done.
    steps: usize,
    /// How often a step failed since then.
    failures: i32,
    /// The seconds to wait before the next transaction.
    pause: f64,
    limits: CallLimits,
}

/// The nodes that a step needs.
#[derive(Debug, Clone, Default)]
enum NeededNodes {
    #[default]
    None,
    Servers(Vec<String>),
    Citus,
}

thread_local! {
    static CALL: Cell<Option<Repeated>> = const { Cell::new(None) };
    static NODES: RefCell<NeededNodes> = const { RefCell::new(NeededNodes::None) };
}

/// Reads the arguments of a call and the name of its relation. Fails if the call cannot commit,
/// unless that was checked before.
pub(super) fn open_call(call: FunctionCall, check: bool) -> Result<(CallArguments, String)> {
    // SAFETY: reads the state of the server.
    if unsafe { pg_sys::RecoveryInProgress() } {
        let message = "cannot execute near_duplicates_into during recovery";
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_READ_ONLY_SQL_TRANSACTION, message)
            .hint("Call it on the primary."));
    }
    let docs: Oid = call.need(0, "docs").map_err(|error| error.hint(EXAMPLE))?;
    let shown = Relation::open(docs).map_err(|error| error.hint(EXAMPLE))?.shown;
    let arguments = CallArguments::new(call, docs)?;
    if check {
        check_can_commit(arguments.name(), "steps", &such_as(arguments.name(), &shown))?;
    }
    Ok((arguments, shown))
}

fn find(began: i64) -> Option<Repeated> {
    CALL.get().filter(|call| call.began == began)
}

/// Reports whether a call was found to be able to commit.
pub(super) fn is_checked(began: i64) -> bool {
    find(began).is_some()
}

/// Reports whether a transaction of the call was committed.
pub(super) fn has_begun(began: i64) -> bool {
    find(began).is_some_and(|call| call.has_begun)
}

/// Returns how long to wait before a transaction, because the one before it failed.
pub(super) fn pause(began: i64) -> f64 {
    let Some(call) = find(began) else { return 0.0 };
    CALL.set(Some(Repeated { pause: 0.0, ..call }));
    call.pause
}

/// Notes that a transaction of the call is done, after which the log has this number of steps.
pub(super) fn done(began: i64, steps: usize) {
    if let Some(call) = find(began) {
        let failures = if steps > call.steps { 0 } else { call.failures };
        CALL.set(Some(Repeated { has_begun: true, steps: steps.max(call.steps), failures, ..call }));
    }
}

/// Notes which nodes a transaction needs, and limits its statements if there are any.
pub(super) fn limit(nodes: Option<Nodes<'_>>, limits: CallLimits) -> Option<deadline::Limit> {
    let nodes = match nodes {
        Some(Nodes::Fdw(servers)) => {
            NeededNodes::Servers(servers.iter().map(|server| server.name.clone()).collect())
        }
        Some(Nodes::Citus(_)) => NeededNodes::Citus,
        _ => NeededNodes::None,
    };
    let is_far = !matches!(nodes, NeededNodes::None);
    NODES.set(nodes);
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
    let Some(repeated) = find(began) else { return Ok(false) };
    let has_fired = deadline::has_fired();
    let message = if has_fired { format!("{message}: {}", silent()?) } else { message };
    let retries = repeated.limits.retries;
    if repeated.failures >= retries {
        if has_fired {
            return Err(
                SqlError::new(PgSqlErrorCode::ERRCODE_CONNECTION_FAILURE, message).hint(deadline::HINT)
            );
        }
        return Ok(false);
    }
    let failures = repeated.failures + 1;
    let pause = f64::from(1u32 << (failures - 1).clamp(0, 5));
    let told = format!(
        "near_duplicates_into: the step is repeated in {pause} s ({failures} of {retries}), because of an error ({state}): {message}"
    );
    pgrx::log!("{told}");
    pgrx::notice!("{told}");
    CALL.set(Some(Repeated { failures, pause, ..repeated }));
    Ok(true)
}

/// Says which nodes do not answer.
fn silent() -> Result<String> {
    let nodes = NODES.with_borrow(Clone::clone);
    // SAFETY: reads the state of the session.
    let caller = unsafe { pg_sys::GetUserId() };
    let silent: Vec<String> = as_user(caller, || match &nodes {
        NeededNodes::None => Ok(Vec::new()),
        NeededNodes::Servers(names) => {
            let requests = Requests::default();
            let mut silent = Vec::new();
            for name in names {
                if !requests.answers(name)? {
                    silent.push(format!("server \"{name}\""));
                }
            }
            Ok(silent)
        }
        NeededNodes::Citus => {
            set(c"citus.node_connection_timeout", c"3000");
            Ok(citus_catalog::silent_nodes().text()?.into_iter().collect())
        }
    })?;
    Ok(match silent.len() {
        0 => "all nodes answer, so it takes longer, or waits for a lock there".to_owned(),
        1 => format!("{} does not answer", silent[0]),
        _ => format!("{} do not answer", silent.join(", ")),
    })
}
