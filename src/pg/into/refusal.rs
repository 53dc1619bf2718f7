//! An error that is raised once the tables of the call are dropped. The transaction that drops them
//! must commit first.

use std::cell::RefCell;

use pgrx::PgSqlErrorCode;

use crate::pg::server::error::SqlError;

/// SQLSTATE, message and hint.
pub(super) type Why = (PgSqlErrorCode, String, String);

/// The error with which a call that began at `began` ends. `settled` is true if nothing else is
/// left to do.
struct Refusal {
    began: i64,
    why: Why,
    settled: bool,
}

thread_local! {
    static REFUSAL: RefCell<Option<Refusal>> = const { RefCell::new(None) };
}

/// Remembers why a call ends; `settled` says that nothing needs to be dropped first.
pub(super) fn remember(began: i64, why: Why, settled: bool) {
    REFUSAL.set(Some(Refusal { began, why, settled }));
}

/// Records that the tables of the call are dropped.
pub(super) fn settle() {
    REFUSAL.with_borrow_mut(|pending| {
        if let Some(pending) = pending {
            pending.settled = true;
        }
    });
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

/// Returns the remaining task of a call that began at that time.
pub(super) fn left(began: i64) -> PendingTask {
    let Some(pending) = REFUSAL.take() else { return PendingTask::Nothing };
    // The error of an interrupted call is discarded.
    if pending.began != began {
        return PendingTask::Nothing;
    }
    if !pending.settled {
        REFUSAL.set(Some(pending));
        return PendingTask::Drop;
    }
    let (code, message, hint) = pending.why;
    PendingTask::Raise(SqlError::new(code, message).hint(hint))
}
