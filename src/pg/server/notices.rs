//! What a call tells its caller beside the answer: notices and warnings.
//!
//! After each message the server looks for interrupts, and pgrx has no guard there: the error of a
//! cancel would jump over the frames of Rust code, and what these hold would never be freed. So
//! interrupts wait until the message is sent. All messages go through this file.

#[cfg(all(feature = "pg_test", not(test)))]
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, PgSqlErrorCode};

use super::executor::hold_interrupts;

/// Tells the caller something.
pub(crate) fn notice(message: impl Into<String>) {
    report(PgLogLevel::NOTICE, message);
}

/// Tells the caller something, and what to do about it.
pub(crate) fn notice_with(message: impl Into<String>, hint: impl Into<String>) {
    send(PgLogLevel::NOTICE, made(message).set_hint(hint));
}

/// Warns the caller, and says what to do about it.
pub(crate) fn warning_with(message: impl Into<String>, hint: impl Into<String>) {
    let report = ErrorReport::new(PgSqlErrorCode::ERRCODE_WARNING, message.into(), "neardup");
    send(PgLogLevel::WARNING, report.set_hint(hint));
}

/// Writes a message of another level: for who debugs, for the log, or as the answer of what
/// validates something.
pub(crate) fn report(level: PgLogLevel, message: impl Into<String>) {
    send(level, made(message));
}

fn made(message: impl Into<String>) -> ErrorReport {
    ErrorReport::new(PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION, message.into(), "neardup")
}

fn send(level: PgLogLevel, report: ErrorReport) {
    let _held = hold_interrupts();
    report.report(level);
}

/// Does work while a cancel is pending, and returns whether it still is: for tests.
#[cfg(all(feature = "pg_test", not(test)))]
pub(crate) fn with_pending_cancel(work: impl FnOnce()) -> bool {
    // SAFETY: flags of this process, as the handler of a cancel sets them.
    let set = |pending| unsafe {
        pg_sys::QueryCancelPending = pending;
        pg_sys::InterruptPending = pending;
    };
    set(1);
    work();
    // SAFETY: as above.
    let is_pending = unsafe { pg_sys::QueryCancelPending } != 0;
    set(0);
    is_pending
}
