//! Rows that Rust supplies to a statement of ours, which names them `FROM neardup_rows(…)`: so a step of a job calls Rust from
//! Rust, and the statement writes what comes.

use std::cell::Cell;
use std::ptr;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{Datum, Oid};

use crate::pg::server::call::{Call, sql_function};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::Store;

/// Puts rows into a store; the call is that of `neardup_rows`, whose argument the statement gives.
type Supply<'a> = dyn FnMut(Call, &mut Store) -> Result<()> + 'a;

struct Supplier<'a> {
    columns: &'a [Oid],
    supply: &'a mut Supply<'a>,
}

thread_local! {
    /// What supplies the statement that is run; null where there is none, or where it was asked already.
    static SUPPLIER: Cell<*mut ()> = const { Cell::new(ptr::null_mut()) };
}

/// Runs `work`, one statement of which reads rows with columns of these types from `supply`, once.
pub(crate) fn supplying<T>(
    columns: &[Oid],
    supply: &mut Supply<'_>,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    /// Puts back what was there before, however the work ends.
    struct Before(*mut ());
    impl Drop for Before {
        fn drop(&mut self) {
            SUPPLIER.set(self.0);
        }
    }
    let mut supplier = Supplier { columns, supply };
    let _before = Before(SUPPLIER.replace(ptr::from_mut(&mut supplier).cast()));
    work()
}

sql_function! {
    /// `neardup_rows(query)`: the rows that the library supplies to the statement.
    neardup_rows, pg_finfo_neardup_rows, |call| {
        let supplier: *mut Supplier<'_> = SUPPLIER.replace(ptr::null_mut()).cast();
        // SAFETY: null, or set by `supplying`, which waits for the statement, and borrowed by nothing else: whoever asks takes it.
        let Some(supplier) = (unsafe { supplier.as_mut() }) else {
            let message = "neardup_rows supplies statements of neardup only";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
                .hint("SELECT * FROM near_duplicates('docs', 0.8);"));
        };
        let mut store = Store::expected(call, supplier.columns)?;
        (supplier.supply)(call, &mut store)?;
        Ok(Datum::null())
    }
}
