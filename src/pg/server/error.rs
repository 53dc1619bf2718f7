//! Errors as the server reports them: SQLSTATE, message, and a hint with a call that works.

use std::borrow::Cow;
use std::cell::Cell;
use std::ffi::CStr;
use std::fmt;
use std::mem::MaybeUninit;

use cee_scape::call_with_sigsetjmp;
use pgrx::pg_sys;
use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, PgSqlErrorCode};

use super::allocator;

use neardup_core::error::Error;

/// An error on its way to the client.
#[derive(Debug)]
pub(crate) enum SqlError {
    /// An error of this library.
    Own {
        /// The SQLSTATE.
        code: PgSqlErrorCode,
        /// The message.
        message: Message,
        /// The hint.
        hint: Option<Cow<'static, str>>,
    },
    /// An error of the server, from [`catch`].
    Server(*mut pg_sys::ErrorData),
}

const MEGABYTE: usize = 1 << 20;

/// A message. An error of the core is formatted as a message only when the call ends: after memory
/// ran out, there is no memory for a message until then.
#[derive(Debug)]
pub(crate) enum Message {
    /// A formatted message.
    Text(String),
    /// An error of the core.
    Core(Error),
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Core(Error::BeyondAllowance { doing, needed, allowed }) => {
                let [needed, allowed] = [needed, allowed].map(|bytes| bytes.div_ceil(MEGABYTE));
                write!(f, "{doing} may need {needed} MB of memory, and neardup.memory is {allowed} MB")
            }
            Self::Core(error) => error.fmt(f),
        }
    }
}

thread_local! {
    /// Set while an error that [`catch`] returned is being propagated.
    static FAILING: Cell<bool> = const { Cell::new(false) };
}

/// Reports whether an error of the server is being propagated back to the server. In this case the
/// server itself does the cleanup.
pub(crate) fn is_failing() -> bool {
    FAILING.get()
}

/// Records that no error is being propagated: a call begins or ends, or the transaction that failed
/// was rolled back.
pub(crate) fn settled() {
    FAILING.set(false);
}

/// The result type of this layer.
pub(crate) type Result<T> = std::result::Result<T, SqlError>;

impl SqlError {
    /// Makes an error with its SQLSTATE.
    pub(crate) fn new(code: PgSqlErrorCode, message: impl Into<String>) -> Self {
        Self::Own { code, message: Message::Text(message.into()), hint: None }
    }

    /// Makes an error for a bad value of a parameter.
    pub(crate) fn parameter(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE, message)
    }

    /// Makes the error for bytes that should be text.
    pub(crate) fn not_utf8(what: impl fmt::Display) -> Self {
        let message = format!("{what} is not valid UTF-8");
        Self::new(PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE, message)
    }

    /// Sets the hint. Errors of the server have their own hints.
    #[must_use]
    pub(crate) fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        match self {
            Self::Own { code, message, .. } => Self::Own { code, message, hint: Some(hint.into()) },
            server @ Self::Server(_) => server,
        }
    }

    /// Sets the hint of an error of the server about a function, type or relation that is not found
    /// by a name without a schema. The hint is ASCII, whatever the encoding is.
    #[must_use]
    pub(crate) fn hint_for_names(self, hint: &CStr) -> Self {
        const CODES: [PgSqlErrorCode; 3] = [
            PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION,
            PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT,
            PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
        ];
        let Self::Server(error) = self else { return self };
        // SAFETY: the error was copied from the server, with texts that are null or C strings. The
        // hint is allocated by the server, as the rest of the error is.
        unsafe {
            let message = (*error).message;
            let is_plain = !message.is_null() && !CStr::from_ptr(message).to_bytes().contains(&b'.');
            if is_plain && CODES.iter().any(|&code| code as i32 == (*error).sqlerrcode) {
                (*error).hint = pg_sys::pstrdup(hint.as_ptr());
            }
        }
        self
    }

    /// Multiplies the memory that a call is said to need, if that is the error: `times` is how many
    /// times the data is that comes in addition.
    #[must_use]
    pub(crate) fn for_more_data(self, times: impl FnOnce() -> f64) -> Self {
        match self {
            Self::Own {
                message: Message::Core(Error::BeyondAllowance { doing, needed, allowed }), ..
            } => {
                let needed = (needed as f64 * times().max(1.0)) as usize;
                Error::BeyondAllowance { doing, needed, allowed }.into()
            }
            other => other,
        }
    }

    /// Ends the call with this error, in code that cannot return it.
    pub(crate) fn raise(self) -> ! {
        match self {
            Self::Own { code, message, hint } => {
                let report = ErrorReport::new(code, message.to_string(), "neardup");
                match hint {
                    Some(hint) => report.set_hint(hint),
                    None => report,
                }
                .report(PgLogLevel::ERROR);
            }
            // SAFETY: the error was copied from the server.
            Self::Server(error) => unsafe { pg_sys::ReThrowError(error) },
        }
        unreachable!("an ERROR does not return")
    }
}

/// Reports whether an SQLSTATE is in the class of another one.
pub(crate) fn is_in_class(code: i32, of: PgSqlErrorCode) -> bool {
    /// The bits of an SQLSTATE that encode its class.
    const CLASS: i32 = (1 << 12) - 1;
    code & CLASS == of as i32 & CLASS
}

/// Returns the value of a result, or ends the call with its error. For code that cannot return the
/// error.
pub(crate) fn or_raise<T>(result: neardup_core::error::Result<T>) -> T {
    result.unwrap_or_else(|error| SqlError::from(error).raise())
}

/// Calls functions of the server that run user-defined code, and returns their errors with all
/// details. After such an error, the current call of our function must end with this error, and
/// must not call the server before that except to free memory.
///
/// # Safety
/// `call` calls such functions without a guard of pgrx and holds nothing that is dropped: an error
/// jumps over it.
pub(crate) unsafe fn catch<T: Copy>(call: impl FnOnce() -> T) -> Result<T> {
    // SAFETY: the same steps as PG_TRY and PG_CATCH of elog.h.
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
        // If the call did not fail, any failure inside it was handled there.
        FAILING.set(jumped != 0);
        if jumped == 0 {
            return Ok(result.assume_init());
        }
        pg_sys::CurrentMemoryContext = memory;
        allocator::make_room_for_an_error();
        let error = pg_sys::CopyErrorData();
        pg_sys::FlushErrorState();
        // Such an error still has to be reported; another one may be handled.
        if (*error).sqlerrcode != PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY as i32 {
            allocator::fill();
        }
        Err(SqlError::Server(error))
    }
}

impl From<Error> for SqlError {
    fn from(error: Error) -> Self {
        use PgSqlErrorCode as Code;
        let (code, hint) = match &error {
            Error::Parameter { .. } => (Code::ERRCODE_INVALID_PARAMETER_VALUE, ""),
            Error::OutOfMemory { .. } => (
                Code::ERRCODE_OUT_OF_MEMORY,
                "Work on a part of the documents at a time, or on a machine with more memory.",
            ),
            Error::BeyondAllowance { needed, .. } => {
                let (code, hint) = (Code::ERRCODE_CONFIGURATION_LIMIT_EXCEEDED, more_memory(*needed));
                return Self::Own { code, message: Message::Core(error), hint: Some(hint.into()) };
            }
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
            Error::Damaged => (Code::ERRCODE_DATA_CORRUPTED, ""),
            Error::NotText => (Code::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE, ""),
            Error::File { .. } => (Code::ERRCODE_IO_ERROR, ""),
            Error::TooDifferent { .. } => (
                Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                "Compare parts of them: substring(text from 1 for 1000000)",
            ),
            Error::Stopped => (Code::ERRCODE_QUERY_CANCELED, ""),
            // Before this point, the error that the source stored replaces this error.
            Error::Source => (Code::ERRCODE_INTERNAL_ERROR, ""),
            Error::NothingLearnt { .. } => {
                (Code::ERRCODE_INTERNAL_ERROR, "This is a bug of neardup: please report it with the call.")
            }
            Error::Thread(_) => {
                (Code::ERRCODE_INSUFFICIENT_RESOURCES, "Lower the setting: SET neardup.threads = 1;")
            }
        };
        let hint = Some(hint).filter(|hint| !hint.is_empty()).map(Cow::Borrowed);
        Self::Own { code, message: Message::Core(error), hint }
    }
}

/// Returns the hint for a call that would hold `needed` bytes, and may not. It names a round number
/// that is greater by at least a quarter: what the next steps of the call need is not known before.
/// A number that the setting cannot have comes from a wrong estimate of the number of rows.
fn more_memory(needed: usize) -> String {
    const MOST_MEMORY: usize = i32::MAX as usize >> 10;
    let needed = needed.div_ceil(MEGABYTE);
    let least = needed.saturating_add(needed / 4);
    let above = least.checked_next_power_of_two().unwrap_or(least);
    let round = if above / 4 * 3 >= least { above / 4 * 3 } else { above };
    if round > MOST_MEMORY {
        return "The need is computed from the number of rows that the planner expects: ANALYZE the tables if it is wrong. Or work on a part of the documents at a time, through a view.".to_owned();
    }
    format!("SET neardup.memory = '{round}MB'; or work on a part of the documents at a time, through a view.")
}
