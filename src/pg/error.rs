//! Errors as the server reports them: SQLSTATE, message, hint with a call that works.

use std::borrow::Cow;
use std::fmt;

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, PgSqlErrorCode};

use crate::error::Error;

/// An error on its way to the client.
#[derive(Debug)]
pub struct SqlError {
    code: PgSqlErrorCode,
    message: Message,
    hint: Option<Cow<'static, str>>,
}

/// A message. That of the core is put in words only when the call ends: when memory ran out there
/// is none for words before.
#[derive(Debug)]
enum Message {
    Text(String),
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

/// Results of this layer.
pub type Result<T> = std::result::Result<T, SqlError>;

impl SqlError {
    /// An error with its SQLSTATE.
    pub fn new(code: PgSqlErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: Message::Text(message.into()), hint: None }
    }

    /// A bad value of a parameter.
    pub fn parameter(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE, message)
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Ends the call with this error.
    pub fn raise(self) -> ! {
        let mut report = ErrorReport::new(self.code, self.message.to_string(), "neardup");
        if let Some(hint) = self.hint {
            report = report.set_hint(hint);
        }
        report.report(PgLogLevel::ERROR);
        unreachable!("an ERROR does not return")
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
            Error::Parameter { .. } => (Code::ERRCODE_INVALID_PARAMETER_VALUE, ""),
            Error::OutOfMemory { .. } => (
                Code::ERRCODE_OUT_OF_MEMORY,
                "Work on a part of the documents at a time, or on a machine with more memory.",
            ),
            Error::TooMany { .. } => (
                Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
                "Work on a part of the documents at a time, through a view.",
            ),
            Error::Stopped => (Code::ERRCODE_QUERY_CANCELED, ""),
            Error::Thread(_) => {
                (Code::ERRCODE_INSUFFICIENT_RESOURCES, "Lower the setting: SET neardup.threads = 1;")
            }
        };
        let hint = Some(hint).filter(|hint| !hint.is_empty()).map(Cow::Borrowed);
        Self { code, message: Message::Core(error), hint }
    }
}
