//! Work that may fail, and whose failure is no end of the call.

use pgrx::{PgSqlErrorCode, pg_sys};

use crate::pg::server::error::{Result, SqlError, settled};

/// Runs work in a subtransaction: none if a value in it is not what it should be. It is such work as that of [`apart`].
pub(crate) fn attempt<T>(work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    match apart(work) {
        Ok(done) => Ok(Some(done)),
        // SAFETY: an error that was copied from the server.
        Err(SqlError::Server(error)) if is_of_a_value(unsafe { (*error).sqlerrcode }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Runs work in a subtransaction: after an error all is as before it. It must call nothing of the server but through
/// [`catch`](crate::pg::server::error::catch), and what it allocates goes with its memory context.
pub(crate) fn apart<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: what PL/pgSQL does around a block with EXCEPTION; the work does not unwind.
    unsafe {
        let (memory, owner) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        pg_sys::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::CurrentMemoryContext = memory;
        let result = work();
        if result.is_ok() {
            pg_sys::ReleaseCurrentSubTransaction();
        } else {
            pg_sys::RollbackAndReleaseCurrentSubTransaction();
            settled();
        }
        pg_sys::CurrentMemoryContext = memory;
        pg_sys::CurrentResourceOwner = owner;
        result
    }
}

/// Whether an error is of a class that bad values have: bad data, what a constraint refuses, and names of nothing.
fn is_of_a_value(code: i32) -> bool {
    /// The bits of an SQLSTATE that say its class.
    const CLASS: i32 = (1 << 12) - 1;
    let classes = [
        PgSqlErrorCode::ERRCODE_DATA_EXCEPTION,
        PgSqlErrorCode::ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION,
        PgSqlErrorCode::ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION,
    ];
    classes.iter().any(|&class| code & CLASS == class as i32 & CLASS)
}
