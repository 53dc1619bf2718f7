//! What a call keeps in its session from one of its transactions to the next.

use std::cell::RefCell;

use pgrx::PgSqlErrorCode;

use super::limits::CallLimits;
use crate::pg::server::error::SqlError;

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
