//! What a call keeps in its session from one of its transactions to the next, with its limits.

use std::cell::RefCell;

use pgrx::PgSqlErrorCode;

use super::place::such_as;
use crate::pg::server::error::{Result, SqlError};

/// SQLSTATE, message and hint.
pub(super) type Why = (PgSqlErrorCode, String, String);

/// What is kept of the call of this session.
#[derive(Debug, Default)]
pub(super) struct CallSession {
    /// When the call began, by which it is told from an earlier one.
    began: i64,
    /// Set if the call was found to be able to commit.
    pub is_checked: bool,
    /// The name of the procedure.
    pub procedure: &'static str,
    pub limits: CallLimits,
    /// Set once a transaction of the call was committed.
    pub has_begun: bool,
    /// The greatest number of steps that were done.
    pub steps: usize,
    /// How often a step failed since then.
    pub failures: i32,
    /// The seconds to wait before the next transaction.
    pub pause: f64,
    /// The servers that a transaction needs, and whether it needs the nodes of Citus.
    pub servers: Vec<String>,
    pub in_citus: bool,
    /// The number of the call of which the session does parts.
    pub joined: Option<u64>,
    /// Why the call ends, which is raised once its tables are dropped: the transaction that drops
    /// them must commit first.
    refusal: Option<Why>,
    /// Set if nothing is left to be dropped.
    is_settled: bool,
}

thread_local! {
    static SESSION: RefCell<CallSession> = RefCell::new(CallSession::default());
}

/// Reads or changes what is kept of the call that began at this time; nothing is, at first. What is
/// kept of an interrupted call is discarded.
pub(super) fn of_call<T>(began: i64, work: impl FnOnce(&mut CallSession) -> T) -> T {
    SESSION.with_borrow_mut(|session| {
        if session.began != began {
            *session = CallSession { began, ..CallSession::default() };
        }
        work(session)
    })
}

/// The task that earlier transactions of the call left to this transaction.
pub(super) enum PendingTask {
    /// There is no such task, and the call goes on.
    Nothing,
    /// Drop the tables of the call.
    Drop,
    /// Raise the error.
    Raise(SqlError),
}

impl CallSession {
    /// Remembers why the call ends; `is_settled` says that nothing needs to be dropped first.
    pub(super) fn refuse(&mut self, why: Why, is_settled: bool) {
        (self.refusal, self.is_settled) = (Some(why), is_settled);
    }

    /// Notes that the tables of the call are dropped.
    pub(super) fn settle(&mut self) {
        self.is_settled = true;
    }

    /// Returns the remaining task.
    pub(super) fn left(&mut self) -> PendingTask {
        match self.refusal.take_if(|_| self.is_settled) {
            Some((code, message, hint)) => PendingTask::Raise(SqlError::new(code, message).hint(hint)),
            None if self.refusal.is_some() => PendingTask::Drop,
            None => PendingTask::Nothing,
        }
    }
}

/// How a call goes about its steps: how long it waits between two of them, how many parts are
/// joined at once, how long nodes may take, and how often a step is repeated.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallLimits {
    /// The seconds to wait between two transactions.
    pub pause: f64,
    /// The number of parts that are joined at once on other nodes, or `None` if the call decides.
    pub at_once: Option<usize>,
    /// The milliseconds that a statement that other nodes take part in may take, or 0.
    pub node_timeout: i32,
    /// How often a step is repeated.
    pub retries: i32,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self { pause: 0.0, at_once: None, node_timeout: 0, retries: 2 }
    }
}

impl CallLimits {
    /// Checks the arguments of a call of a procedure; times are in seconds.
    pub(super) fn new(
        procedure: &str,
        pause: Option<f64>,
        at_once: Option<i32>,
        node_timeout: Option<f64>,
        retries: Option<i32>,
    ) -> Result<Self> {
        /// The greatest number of seconds.
        const LONGEST: f64 = i32::MAX as f64 / 1000.0;
        let seconds = |name: &str, given: Option<f64>| match given {
            None => Ok(0.0),
            Some(seconds) if (0.0..=LONGEST).contains(&seconds) => Ok(seconds),
            Some(seconds) => Err(SqlError::parameter(format!(
                "{name} must be between 0 and 24 days, not {seconds} seconds"
            ))
            .hint(such_as(procedure, "docs", &format!(", {name} => '2s'")))),
        };
        let count = |name: &str, given: Option<i32>, least: i32, most: i32| match given {
            Some(count) if !(least..=most).contains(&count) => {
                Err(SqlError::parameter(format!("{name} must be between {least} and {most}, not {count}"))
                    .hint(such_as(procedure, "docs", &format!(", {name} => {}", count.clamp(least, most)))))
            }
            given => Ok(given),
        };
        Ok(Self {
            pause: seconds("pause", pause)?,
            at_once: count("at_once", at_once, 1, 65_536)?.map(|count| count.unsigned_abs() as usize),
            // At most `i32::MAX`, and at least a millisecond unless it is 0.
            node_timeout: (seconds("node_timeout", node_timeout)? * 1000.0).ceil() as i32,
            retries: count("retries", retries, 0, 1000)?.unwrap_or(Self::default().retries),
        })
    }
}
