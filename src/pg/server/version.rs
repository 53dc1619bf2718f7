//! The version of the library, which may differ from the version of the SQL definitions that call
//! it.

use std::cmp::Ordering;

use pgrx::PgSqlErrorCode;

use super::error::SqlError;

/// The version of the library.
pub(crate) const LIBRARY: &str = env!("CARGO_PKG_VERSION");

/// Returns the error for SQL definitions whose version is not that of the library.
pub(crate) fn mismatch(message: String, sql: &str) -> SqlError {
    let hint = match compare(sql, LIBRARY) {
        Ordering::Less => "ALTER EXTENSION neardup UPDATE;",
        // A session loads the library only once.
        _ => "Start a new session; if that does not help, install the library of the same version.",
    };
    SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message).hint(hint)
}

/// Compares versions part by part, as numbers.
pub(crate) fn compare(a: &str, b: &str) -> Ordering {
    let parts = |version: &str| -> Vec<u64> {
        version.split(['.', '-']).map(|part| part.parse().unwrap_or(0)).collect()
    };
    parts(a).cmp(&parts(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pg_versions_are_in_order() {
        let ordered = ["0.1.0", "0.2.0", "0.2.1", "0.10.0", "1.0.0", "1.0.1", "10.0.0"];
        for (n, a) in ordered.iter().enumerate() {
            for (m, b) in ordered.iter().enumerate() {
                assert_eq!(compare(a, b), n.cmp(&m), "{a} {b}");
            }
        }
    }
}
