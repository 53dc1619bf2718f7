//! Errors as the server reports them: SQLSTATE, message, hint with a call that works.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use cee_scape::call_with_sigsetjmp;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::{CaughtError, ErrorReport, ErrorReportWithLevel, pgrx_extern_c_guard};
use pgrx::{PgLogLevel, PgSqlErrorCode};

use super::{allocator, encoding, panics};
use crate::error::Error;

/// An error on its way to the client.
#[derive(Debug)]
pub enum SqlError {
    /// One of ours.
    Own {
        /// Its SQLSTATE.
        code: PgSqlErrorCode,
        /// What is wrong.
        message: Message,
        /// What to do about it.
        hint: Option<Cow<'static, str>>,
    },
    /// One of the server's, from [`catch`].
    Server(*mut pg_sys::ErrorData),
}

/// A message. That of the core is put in words only when the call ends: when memory ran out there
/// is none for words before.
#[derive(Debug)]
pub enum Message {
    /// In words.
    Text(String),
    /// What the core says.
    Core(Error),
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Core(error) => error.fmt(f),
        }
    }
}

thread_local! {
    /// Whether an error that [`catch`] gave is on its way.
    static FAILING: Cell<bool> = const { Cell::new(false) };
}

/// Whether an error of the server is on its way back to it: what it cleans up is to be left to it.
pub fn is_failing() -> bool {
    FAILING.get()
}

/// Says that the error that was on its way is no more: its transaction was rolled back.
pub fn settled() {
    FAILING.set(false);
}

/// Results of this layer.
pub type Result<T> = std::result::Result<T, SqlError>;

impl SqlError {
    /// An error with its SQLSTATE.
    pub fn new(code: PgSqlErrorCode, message: impl Into<String>) -> Self {
        Self::Own { code, message: Message::Text(message.into()), hint: None }
    }

    /// A bad value of a parameter.
    pub fn parameter(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE, message)
    }

    /// What to do about it. Errors of the server have their own hints.
    #[must_use]
    pub fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        match self {
            Self::Own { code, message, .. } => Self::Own { code, message, hint: Some(hint.into()) },
            server @ Self::Server(_) => server,
        }
    }

    /// Ends the call with this error, where it cannot be returned.
    pub fn raise(self) -> ! {
        match self {
            Self::Own { code, message, hint } => {
                let mut report = ErrorReport::new(code, message.to_string(), "neardup");
                if let Some(hint) = hint {
                    report = report.set_hint(hint);
                }
                report.report(PgLogLevel::ERROR);
            }
            // SAFETY: the error was copied from the server.
            Self::Server(error) => unsafe { pg_sys::ReThrowError(error) },
        }
        unreachable!("an ERROR does not return")
    }
}

/// Ends the call if there is an error, where it cannot be returned.
pub fn or_raise<T>(result: crate::error::Result<T>) -> T {
    result.unwrap_or_else(|error| SqlError::from(error).raise())
}

/// An error as the server keeps errors: in its encoding, in the current memory context.
fn prepare(
    code: PgSqlErrorCode,
    message: &str,
    detail: Option<&str>,
    hint: Option<&str>,
) -> *mut pg_sys::ErrorData {
    let message = encoding::for_display(message);
    let [detail, hint] = [detail, hint].map(|text| text.map(encoding::for_display));
    // SAFETY: all zero is an error without any of its parts.
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

/// A bug of ours as the client gets to see it; the log has the words of the panic, which may quote data.
fn prepare_bug(what: &str) -> *mut pg_sys::ErrorData {
    let hint = "What went wrong is in the server's log. Please report it together with the call.";
    let error =
        prepare(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, "neardup has met a bug of its own", None, Some(hint));
    // SAFETY: made a moment ago; the log's detail is copied to the same memory.
    unsafe { (*error).detail_log = pg_sys::pstrdup(encoding::for_display(what).as_ptr()) };
    error
}

// The server's own functions, without the guards of pgrx: these make a panic of an error, which
// keeps neither its context nor, in other encodings than UTF-8, its texts.
unsafe extern "C-unwind" {
    fn ThrowErrorData(error: *mut pg_sys::ErrorData);
    fn ReThrowError(error: *mut pg_sys::ErrorData);
}

/// Runs the body of a function that the server calls. Panics and the server's own errors unwind it
/// and then go on in the server, and so does the error that it returns: in the server's encoding, and without
/// what only developers understand. A panic that is a bug is told in the server's log, not to the client
/// ([`super::panics`]).
///
/// # Safety
/// The caller is called by the server and holds nothing that is dropped: the server jumps over it.
pub unsafe fn guard<T>(body: impl FnOnce() -> Result<T>) -> T {
    /// What an error has become when everything else is dropped.
    enum Ended {
        Own(*mut pg_sys::ErrorData),
        Server(*mut pg_sys::ErrorData),
    }
    let ended = || {
        let outcome = catch_unwind(AssertUnwindSafe(body));
        allocator::give_back(match &outcome {
            Ok(Ok(_)) => false,
            Ok(Err(SqlError::Own { code, .. })) => *code == PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY,
            // Of the server's errors it is not asked what they were.
            Ok(Err(SqlError::Server(_))) | Err(_) => true,
        });
        match outcome {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(SqlError::Own { code, message, hint })) => {
                Err(Ended::Own(prepare(code, &message.to_string(), None, hint.as_deref())))
            }
            Ok(Err(SqlError::Server(error))) => Err(Ended::Server(error)),
            Err(panic) => Err(Ended::Own(match panics::bug(&*panic) {
                Some(what) => prepare_bug(what),
                None => reported(panic),
            })),
        }
    };
    allocator::fill();
    FAILING.set(false);
    // SAFETY: the caller's promise; nothing here is dropped either when the server jumps.
    unsafe {
        let result = pgrx_extern_c_guard(ended);
        FAILING.set(false);
        match result {
            Ok(value) => return value,
            Err(Ended::Own(error)) => ThrowErrorData(error),
            Err(Ended::Server(error)) => ReThrowError(error),
        }
    }
    unreachable!("an ERROR does not return")
}

/// The error that unwound a call: one that was raised, or one of the server's under a guard of pgrx, which would
/// report it in UTF-8 whatever the database has. A panic of ours goes on as such.
fn reported(panic: Box<dyn std::any::Any + Send>) -> *mut pg_sys::ErrorData {
    let report: &ErrorReportWithLevel =
        match (panic.downcast_ref::<CaughtError>(), panic.downcast_ref::<ErrorReportWithLevel>()) {
            (Some(CaughtError::PostgresError(report) | CaughtError::ErrorReport(report)), _) => report,
            (None, Some(report)) => report,
            _ => resume_unwind(panic),
        };
    prepare(report.sql_error_code(), report.message(), report.detail(), report.hint())
}

/// Calls functions of the server that run other people's code. An error of theirs comes back whole.
/// The call must end with it, and call nothing of the server before that but to free memory.
///
/// # Safety
/// `call` calls such functions without a guard of pgrx and holds nothing that is dropped: an error
/// jumps over it.
pub unsafe fn catch<T: Copy>(call: impl FnOnce() -> T) -> Result<T> {
    // SAFETY: what PG_TRY and PG_CATCH of elog.h do.
    unsafe {
        let memory = pg_sys::CurrentMemoryContext;
        let handler = pg_sys::PG_exception_stack;
        let context = pg_sys::error_context_stack;
        let mut result = MaybeUninit::uninit();
        let jumped = call_with_sigsetjmp(false, |here| {
            pg_sys::PG_exception_stack = std::ptr::from_ref(here).cast_mut().cast();
            result.write(call());
            0
        });
        pg_sys::PG_exception_stack = handler;
        pg_sys::error_context_stack = context;
        // What failed inside of a call that did not fail was taken care of there.
        FAILING.set(jumped != 0);
        if jumped == 0 {
            return Ok(result.assume_init());
        }
        pg_sys::CurrentMemoryContext = memory;
        let error = pg_sys::CopyErrorData();
        pg_sys::FlushErrorState();
        Err(SqlError::Server(error))
    }
}

impl From<Error> for SqlError {
    fn from(error: Error) -> Self {
        use PgSqlErrorCode as Code;
        let (code, hint) = match &error {
            Error::Parameter { name: "k", .. } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                "5 words are a common length of a shingle, 1 compares words: k => 5",
            ),
            Error::Parameter { name: "permutations", .. } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                "More permutations make better estimates and longer sketches: permutations => 128",
            ),
            Error::Parameter { name: "bits", .. } => {
                (Code::ERRCODE_INVALID_PARAMETER_VALUE, "More bits tell documents apart better: bits => 64")
            }
            Error::Parameter { name: "similarity", .. } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                "Texts that share four fifths of their shingles: near('some text', 0.8)",
            ),
            Error::Parameter { name: "distance", .. } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                "At most 3 unlike bits of 64 are usual: near(simhash('some text'), 3)",
            ),
            Error::Parameter { name: "groups", .. } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                "Six groups of 14 values are usual: supershingles(minhash('some text', k => 8, permutations => 84), 6)",
            ),
            Error::Parameter { .. } => (Code::ERRCODE_INVALID_PARAMETER_VALUE, ""),
            Error::OutOfMemory { .. } => (
                Code::ERRCODE_OUT_OF_MEMORY,
                "Work on a part of the documents at a time, or on a machine with more memory.",
            ),
            Error::TooMany { .. } => (
                Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                "Work on a part of the documents at a time, through a view.",
            ),
            Error::Unlike { .. } => (
                Code::ERRCODE_INVALID_PARAMETER_VALUE,
                "Make both in the same way: with the same arguments, by the same version of neardup. Sketches of an older version have to be made anew, and their indexes rebuilt: REINDEX.",
            ),
            Error::Malformed { .. } => (
                Code::ERRCODE_DATA_CORRUPTED,
                "Make it anew from its text; an index on it needs REINDEX then.",
            ),
            Error::TooDifferent { .. } => (
                Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                "Compare parts of them: substring(text from 1 for 1000000)",
            ),
            Error::Stopped => (Code::ERRCODE_QUERY_CANCELED, ""),
            Error::Thread(_) => {
                (Code::ERRCODE_INSUFFICIENT_RESOURCES, "Lower the setting: SET neardup.threads = 1;")
            }
        };
        let hint = Some(hint).filter(|hint| !hint.is_empty()).map(Cow::Borrowed);
        Self::Own { code, message: Message::Core(error), hint }
    }
}
