//! Hints for a job that cannot go on.

use pgrx::PgSqlErrorCode;

use crate::pg::request::example::literal;
use crate::pg::server::error::SqlError;

/// The hint for the case that a job's tables are not as expected and the relation is not known.
pub(super) const ANEW: &str =
    "Begin the job anew: SELECT neardup_unwatch('docs'); SELECT neardup_watch('docs', 0.8);";

/// Returns the hint to start the job of a relation from scratch.
pub(super) fn anew(docs: &str) -> String {
    format!("Begin anew: SELECT neardup_unwatch({0}); SELECT neardup_watch({0}, 0.8);", literal(docs))
}

/// Returns the error for a relation that has the name that a table of a job needs.
pub(super) fn in_the_way(name: &str) -> SqlError {
    let message = format!("relation \"{name}\" already exists, and the job needs a table of this name");
    SqlError::new(PgSqlErrorCode::ERRCODE_DUPLICATE_TABLE, message)
        .hint("Rename or drop it, or watch a view of another name.")
}

/// Returns the error for a job that cannot go on in the current state.
pub(super) fn not_now(message: impl Into<String>, hint: String) -> SqlError {
    SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message).hint(hint)
}
