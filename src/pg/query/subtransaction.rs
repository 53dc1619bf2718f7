//! Work that may fail without ending the call.

use pgrx::{PgSqlErrorCode, pg_sys};

use crate::pg::server::error::{Result, SqlError, is_in_class, settled};

/// Runs work in a subtransaction. Returns `None` if the work fails because of an invalid value. The
/// rules of [`apart`] apply to the work.
pub(crate) fn attempt<T>(work: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    match apart(work) {
        Ok(done) => Ok(Some(done)),
        // SAFETY: an error that was copied from the server.
        Err(SqlError::Server(error)) if is_of_a_value(unsafe { (*error).sqlerrcode }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Runs work in a subtransaction, which is rolled back after an error. The work must call the
/// server only through [`catch`](crate::pg::server::error::catch). The memory that it allocates
/// from the server is freed with the current memory context.
pub(crate) fn apart<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: the same steps as PL/pgSQL takes around a block with EXCEPTION; the work does not
    // unwind.
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

/// Reports whether an error is of a class for invalid values: bad data, a violated constraint, or
/// an unknown name.
fn is_of_a_value(code: i32) -> bool {
    let classes = [
        PgSqlErrorCode::ERRCODE_DATA_EXCEPTION,
        PgSqlErrorCode::ERRCODE_INTEGRITY_CONSTRAINT_VIOLATION,
        PgSqlErrorCode::ERRCODE_SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION,
    ];
    classes.iter().any(|&class| is_in_class(code, class))
}
