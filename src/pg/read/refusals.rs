//! What is said of documents that cannot be read.

use pgrx::PgSqlErrorCode;

use super::source::DocumentSource;
use crate::pg::server::error::SqlError;
use neardup_core::error::Error;

impl DocumentSource {
    pub(super) fn null_id(&self) -> SqlError {
        SqlError::new(
            PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED,
            format!("column \"{}\" of {} holds NULL, which cannot be an id", self.id_column, self.relation),
        )
        .hint(format!("Name a column without NULL with {} => '…'.", self.id_argument))
    }

    pub(super) fn double_id(&self) -> SqlError {
        SqlError::new(
            PgSqlErrorCode::ERRCODE_UNIQUE_VIOLATION,
            format!("an id stands in more than one row of {}", self.relation),
        )
        .hint(format!(
            "Every document needs an id of its own; name another column with {} => '…'.",
            self.id_argument
        ))
    }

    /// Returns the error for a sketch that is not comparable with the sketches before it.
    pub(super) fn not_comparable(&self, error: Error, id: &str) -> SqlError {
        let Error::Unlike { a, b, .. } = error else { return error.into() };
        let Self { text_column, relation, .. } = self;
        let message = format!(
            "sketches that were made in different ways cannot be compared: with id {id} of {relation}, column \
             \"{text_column}\" holds one of {b}, and before one of {a}"
        );
        SqlError::parameter(message).hint(
            "Make all of them in the same way: with the same arguments, by the same version of neardup; or leave \
             others out through a view.",
        )
    }

    /// Returns the error for a document that a worker could not read.
    pub(super) fn unreadable(&self, why: Error, id: &str) -> SqlError {
        match why {
            Error::NotText => self.not_text(id),
            _ => SqlError::new(
                PgSqlErrorCode::ERRCODE_DATA_CORRUPTED,
                format!("the document with id {id} of {} is stored compressed, and damaged", self.relation),
            )
            .hint("Write it anew, or leave it out through a view."),
        }
    }

    pub(super) fn not_text(&self, id: &str) -> SqlError {
        SqlError::not_utf8(format_args!("the document with id {id} of {}", self.relation))
            .hint("Convert it with convert_from(…, 'its encoding'), or leave it out through a view.")
    }
}
