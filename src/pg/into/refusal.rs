//! An error that is raised once what the call made is gone, which has to be committed before.

use std::cell::RefCell;

use pgrx::PgSqlErrorCode;

use crate::pg::server::error::SqlError;

/// SQLSTATE, message and hint.
pub(super) type Why = (PgSqlErrorCode, String, String);

/// What a call that began then is to end with, and whether that is all there is to do.
struct Pending {
    began: i64,
    why: Why,
    settled: bool,
}

thread_local! {
    static PENDING: RefCell<Option<Pending>> = const { RefCell::new(None) };
}

/// Remembers why a call ends; `settled` says that nothing is to be dropped before.
pub(super) fn remember(began: i64, why: Why, settled: bool) {
    PENDING.set(Some(Pending { began, why, settled }));
}

/// Says that what the call made is gone.
pub(super) fn settle() {
    PENDING.with_borrow_mut(|pending| {
        if let Some(pending) = pending {
            pending.settled = true;
        }
    });
}

/// What the transactions before left to this one.
pub(super) enum Left {
    /// Nothing: the call goes on.
    Nothing,
    /// To drop what was made.
    Drop,
    /// To raise the error.
    Raise(SqlError),
}

/// What is left to do of a call that began then.
pub(super) fn left(began: i64) -> Left {
    let Some(pending) = PENDING.take() else { return Left::Nothing };
    // That of a call which was interrupted is forgotten.
    if pending.began != began {
        return Left::Nothing;
    }
    if !pending.settled {
        PENDING.set(Some(pending));
        return Left::Drop;
    }
    let (code, message, hint) = pending.why;
    Left::Raise(SqlError::new(code, message).hint(hint))
}
