//! The outermost frame of every function that the server calls. It turns panics and errors that
//! unwind the function into errors of the server.
//!
//! pgrx turns every error of the server, and every error that Rust code raises, into a panic while
//! Rust code runs. Such a panic is not logged. A panic with a message is a bug: it is written to
//! the server's log with its location, and with a backtrace if RUST_BACKTRACE requests one. The
//! client sees nothing of this. The hook of pgrx is not used, because it stores the backtrace of
//! every panic and puts it into the DETAIL of the error.

use std::any::Any;
use std::borrow::Cow;
use std::ffi::{c_int, c_void};
use std::fmt::{self, Display};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};

use pgrx::pg_sys::panic::{CaughtError, ErrorReportWithLevel, pgrx_extern_c_guard};
use pgrx::{PgLogLevel, PgSqlErrorCode, pg_sys};

use super::error::{Result, SqlError, settled};
use super::{allocator, encoding, own_schema};

// The server's own functions, declared without the guards of pgrx. Such a guard turns an error into
// a panic, which loses the context of the error and, in encodings other than UTF-8, its texts.
unsafe extern "C-unwind" {
    fn ThrowErrorData(error: *mut pg_sys::ErrorData);
    fn ReThrowError(error: *mut pg_sys::ErrorData);
    fn geterrcode() -> c_int;
}

/// Called by the server for each message, before an error jumps. Whoever catches an error copies it
/// first: without memory for the copy the next error would follow, until the server gives up and
/// ends all sessions.
unsafe extern "C-unwind" fn make_room(_: *mut c_void) {
    // SAFETY: the server is reporting a message.
    if unsafe { geterrcode() } == PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY as c_int {
        allocator::make_room_for_an_error();
    }
}

/// Runs the body of a function that the server calls. Panics and the server's own errors unwind the
/// body and then continue in the server as errors. An error that the body returns continues there,
/// too. All of them are in the server's encoding and without details that only developers
/// understand. A panic that is a bug is reported in the server's log, not to the client
/// ([`super::guard`]).
///
/// # Safety
/// The caller is called by the server and holds nothing that is dropped: the server jumps over it.
pub(crate) unsafe fn guard<T>(body: impl FnOnce() -> Result<T>) -> T {
    /// The form of an error when everything else has been dropped.
    enum Ended {
        Own(*mut pg_sys::ErrorData),
        Server(*mut pg_sys::ErrorData),
    }
    let ended = || {
        let outcome = catch_unwind(AssertUnwindSafe(body));
        let ran_out = match &outcome {
            Ok(Ok(_)) => false,
            Ok(Err(SqlError::Own { code, .. })) => *code == PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
            // The server's errors are not inspected here.
            Ok(Err(SqlError::Server(_))) | Err(_) => true,
        };
        allocator::give_back(ran_out);
        if matches!(outcome, Ok(Err(SqlError::Own { .. }))) && ran_out {
            allocator::make_room_for_an_error();
        }
        match outcome {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(SqlError::Own { code, message, hint })) => {
                Err(Ended::Own(prepare(code, &shown(&message), None, hint.as_deref())))
            }
            Ok(Err(SqlError::Server(error))) => Err(Ended::Server(error)),
            Err(panic) => Err(Ended::Own(match bug(&*panic) {
                Some(what) => prepare_bug(what),
                None => reported(panic),
            })),
        }
    };
    allocator::fill();
    settled();
    // SAFETY: the caller's promise; nothing in this frame has to be dropped, either, when the
    // server jumps over it. The server restores its stack of contexts when it jumps.
    unsafe {
        let previous = pg_sys::error_context_stack;
        let mut context =
            pg_sys::ErrorContextCallback { previous, callback: Some(make_room), arg: std::ptr::null_mut() };
        pg_sys::error_context_stack = &raw mut context;
        let result = pgrx_extern_c_guard(ended);
        pg_sys::error_context_stack = previous;
        settled();
        match result {
            Ok(value) => return value,
            Err(Ended::Own(error)) => ThrowErrorData(error),
            Err(Ended::Server(error)) => ReThrowError(error),
        }
    }
    unreachable!("an ERROR does not return")
}

/// Formats a message, or its beginning if it is long: it may quote a value of the caller.
fn shown(message: &impl Display) -> String {
    /// More bytes than are shown ([`encoding::for_display`]).
    const MOST: usize = 32 << 10;
    struct Beginning(String);
    impl fmt::Write for Beginning {
        fn write_str(&mut self, more: &str) -> fmt::Result {
            let room = MOST.saturating_sub(self.0.len());
            self.0.push_str(&more[..more.floor_char_boundary(room)]);
            if self.0.len() < MOST { Ok(()) } else { Err(fmt::Error) }
        }
    }
    let mut shown = Beginning(String::new());
    // Fails when there is enough of it.
    let _ = fmt::write(&mut shown, format_args!("{message}"));
    shown.0
}

/// Returns the error that unwound a call, in the server's form: an error that was raised, or an
/// error of the server that a guard of pgrx caught. pgrx itself would report the error in UTF-8
/// even if the database has another encoding. Any other panic continues as a panic.
fn reported(panic: Box<dyn std::any::Any + Send>) -> *mut pg_sys::ErrorData {
    let report: &ErrorReportWithLevel =
        match (panic.downcast_ref::<CaughtError>(), panic.downcast_ref::<ErrorReportWithLevel>()) {
            (Some(CaughtError::PostgresError(report) | CaughtError::ErrorReport(report)), _) => report,
            (None, Some(report)) => report,
            _ => resume_unwind(panic),
        };
    prepare(report.sql_error_code(), report.message(), report.detail(), report.hint())
}

/// Makes an error in the server's form and encoding, in the current memory context.
fn prepare(
    code: PgSqlErrorCode,
    message: &str,
    detail: Option<&str>,
    hint: Option<&str>,
) -> *mut pg_sys::ErrorData {
    let message = encoding::for_display(message);
    // Without memory the catalogues cannot be read, and hints about memory show no calls.
    let hint = hint.map(|hint| match code {
        PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY => Cow::Borrowed(hint),
        _ => own_schema::calls(hint),
    });
    let [detail, hint] = [detail, hint.as_deref()].map(|text| text.map(encoding::for_display));
    // SAFETY: if all bytes are zero, the error has none of its parts.
    unsafe {
        let error: *mut pg_sys::ErrorData = pg_sys::palloc0(size_of::<pg_sys::ErrorData>()).cast();
        (*error).elevel = PgLogLevel::ERROR as i32;
        (*error).sqlerrcode = code as i32;
        (*error).message = pg_sys::pstrdup(message.as_ptr());
        if let Some(detail) = detail {
            (*error).detail = pg_sys::pstrdup(detail.as_ptr());
        }
        if let Some(hint) = hint {
            (*error).hint = pg_sys::pstrdup(hint.as_ptr());
        }
        error
    }
}

/// Makes the error that the client sees for a bug of this library. Only the log has the message of
/// the panic, which may quote data.
fn prepare_bug(what: &str) -> *mut pg_sys::ErrorData {
    let hint = "What went wrong is in the server's log. Please report it together with the call.";
    let error =
        prepare(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, "neardup has met a bug of its own", None, Some(hint));
    // SAFETY: the error was just made; the log's detail is copied to the same memory context.
    unsafe { (*error).detail_log = pg_sys::pstrdup(encoding::for_display(what).as_ptr()) };
    error
}

/// Returns the message of a panic that is a bug, or `None` if the panic is an error that is being
/// propagated.
pub(crate) fn bug(panic: &(dyn Any + Send)) -> Option<&str> {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str))
}

/// Replaces the panic hook of pgrx by one that writes only bugs to the server's log. Called when
/// the library is loaded.
pub(crate) fn log_bugs() {
    drop(take_hook());
    // pgrx's hook is removed, so this is the initial hook of the standard library.
    let log = take_hook();
    set_hook(Box::new(move |info| {
        if bug(info.payload()).is_some() {
            log(info);
        }
    }));
}

#[cfg(all(feature = "pg_test", not(test)))]
super::call::sql_functions! {
    /// A function that always has a bug, for the test of how bugs are reported. No SQL file of the
    /// extension declares it.
    neardup_bug: |_| panic!("a bug for tests");
}
