//! An error that is raised once what the call made is gone, which has to be committed before.

use std::cell::RefCell;

use pgrx::PgSqlErrorCode;

use crate::pg::server::error::SqlError;

/// SQLSTATE, message and hint.
pub(super) type Why = (PgSqlErrorCode, String, String);

/// What a call that began then is to end with, and whether that is all there is to do.
struct Refusal {
    began: i64,
    why: Why,
    settled: bool,
}

thread_local! {
    static REFUSAL: RefCell<Option<Refusal>> = const { RefCell::new(None) };
}

/// Remembers why a call ends; `settled` says that nothing is to be dropped before.
pub(super) fn remember(began: i64, why: Why, settled: bool) {
    REFUSAL.set(Some(Refusal { began, why, settled }));
}

/// Says that what the call made is gone.
pub(super) fn settle() {
    REFUSAL.with_borrow_mut(|pending| {
        if let Some(pending) = pending {
            pending.settled = true;
        }
    });
}

/// What the transactions before left to this one.
pub(super) enum Pending {
    /// Nothing: the call goes on.
    Nothing,
    /// To drop what was made.
    Drop,
    /// To raise the error.
    Raise(SqlError),
}

/// What is left to do of a call that began then.
pub(super) fn left(began: i64) -> Pending {
    let Some(pending) = REFUSAL.take() else { return Pending::Nothing };
    // That of a call which was interrupted is forgotten.
    if pending.began != began {
        return Pending::Nothing;
    }
    if !pending.settled {
        REFUSAL.set(Some(pending));
        return Pending::Drop;
    }
    let (code, message, hint) = pending.why;
    Pending::Raise(SqlError::new(code, message).hint(hint))
}
