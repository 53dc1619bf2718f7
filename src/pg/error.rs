//! Errors as the server reports them: SQLSTATE, message, hint with a call that works.

use pgrx::pg_sys::panic::ErrorReport;
use pgrx::{PgLogLevel, PgSqlErrorCode};

/// An error on its way to the client.
#[derive(Debug)]
pub struct SqlError {
    code: PgSqlErrorCode,
    message: String,
    hint: Option<String>,
}

/// Results of this layer.
pub type Result<T> = std::result::Result<T, SqlError>;

impl SqlError {
    /// An error with its SQLSTATE.
    pub fn new(code: PgSqlErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: None }
    }

    /// A bad value of a parameter.
    pub fn parameter(message: impl Into<String>) -> Self {
        Self::new(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE, message)
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Ends the call with this error.
    pub fn raise(self) -> ! {
        let mut report = ErrorReport::new(self.code, self.message, "neardup");
        if let Some(hint) = self.hint {
            report = report.set_hint(hint);
        }
        report.report(PgLogLevel::ERROR);
        unreachable!("an ERROR does not return")
    }
}

impl From<crate::error::Error> for SqlError {
    fn from(error: crate::error::Error) -> Self {
        use crate::error::Error;
        let message = error.to_string();
        match error {
            Error::Parameter { name: name @ ("k" | "shingle"), .. } => Self::parameter(message)
                .hint(format!("5 words are a common length of a shingle, 1 compares words: {name} => 5")),
            Error::Parameter { .. } => Self::parameter(message),
            Error::OutOfMemory { .. } => Self::new(PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY, message)
                .hint("Work on a part of the documents at a time, or on a machine with more memory."),
            Error::TooMany { .. } => Self::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message)
                .hint("Work on a part of the documents at a time, through a view."),
            Error::Stopped => Self::new(PgSqlErrorCode::ERRCODE_QUERY_CANCELED, "canceling statement"),
            Error::Thread(_) => Self::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_RESOURCES, message)
                .hint("Lower the setting: SET neardup.threads = 1;"),
        }
    }
}
