//! Rows that Rust supplies to one of our statements, which reads them with `FROM neardup_rows(…)`.
//! This way a step calls Rust code from Rust code, and the statement writes the resulting rows.

use std::cell::Cell;
use std::ptr;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{Datum, Oid};

use crate::pg::query::as_user::INTERNAL;
use crate::pg::server::call::{FunctionCall, sql_function};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::RowStore;

/// A function that puts rows into a store. Its first argument is the call of `neardup_rows`, which
/// the statement makes with an argument.
type Supply<'a> = dyn FnMut(FunctionCall, &mut RowStore) -> Result<()> + 'a;

struct Supplier<'a> {
    columns: &'a [Oid],
    supply: &'a mut Supply<'a>,
}

thread_local! {
    /// The supplier for the running statement; null if there is none, or if it has already been
    /// used.
    static SUPPLIER: Cell<*mut ()> = const { Cell::new(ptr::null_mut()) };
}

/// Runs `work`, in which one statement reads rows with columns of these types from `supply`, once.
pub(crate) fn supplying<T>(
    columns: &[Oid],
    supply: &mut Supply<'_>,
    work: impl FnOnce() -> Result<T>,
) -> Result<T> {
    /// Restores the previous supplier, also after an error.
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

/// Returns the SQL expression by which a FROM clause reads the supplied rows, with columns of these
/// names and types. `query` is the argument of the call of `neardup_rows`, if it has one. The first
/// parameter is the last argument of internal functions.
pub(crate) fn supplied(internal: &str, query: Option<&str>, columns: &str) -> String {
    format!(
        "{INTERNAL}.neardup_rows(({})::pg_catalog.text{internal}) AS f({columns})",
        query.unwrap_or("NULL")
    )
}

sql_function! {
    /// `neardup_rows(query)`: returns the rows that the library supplies to the statement.
    neardup_rows, pg_finfo_neardup_rows, |call| {
        let supplier: *mut Supplier<'_> = SUPPLIER.replace(ptr::null_mut()).cast();
        // SAFETY: null, or set by `supplying`, which waits for the statement; nothing else borrows
        // it, because the caller takes it out of the cell.
        let Some(supplier) = (unsafe { supplier.as_mut() }) else {
            let message = "neardup_rows supplies statements of neardup only";
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
                .hint("SELECT * FROM near_duplicates('docs', 0.8);"));
        };
        let mut store = RowStore::expected(call, supplier.columns)?;
        (supplier.supply)(call, &mut store)?;
        Ok(Datum::null())
    }
}
