//! A cursor over a query of a few columns. What a fetch brought is freed by the next one: memory does
//! not grow with the number of rows.

use std::ffi::{c_char, c_int, c_long};
use std::ptr;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::encoding;
use super::error::{Result, SqlError, catch};

// The query may run anybody's functions: errors of these are to come back whole.
unsafe extern "C-unwind" {
    fn SPI_cursor_open_with_args(
        name: *const c_char,
        source: *const c_char,
        arguments: c_int,
        types: *mut pg_sys::Oid,
        values: *mut Datum,
        nulls: *const c_char,
        read_only: bool,
        options: c_int,
    ) -> pg_sys::Portal;
    fn SPI_cursor_fetch(portal: pg_sys::Portal, forward: bool, count: c_long);
}

/// An open cursor in an SPI session of its own. After an error the server itself cleans both up.
#[derive(Debug)]
pub struct Cursor {
    portal: pg_sys::Portal,
    table: *mut pg_sys::SPITupleTable,
    /// Whether the server is about to clean up.
    failed: bool,
}

impl Cursor {
    /// Opens a cursor for a query without parameters, in the snapshot of the calling statement.
    pub fn open(sql: &str) -> Result<Self> {
        let sql = encoding::to_server(sql)?;
        // SAFETY: connects once and finishes in drop; the query is a C string, copied by the server.
        let portal = unsafe {
            if pg_sys::SPI_connect() != pg_sys::SPI_OK_CONNECT as i32 {
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, "SPI_connect failed"));
            }
            let (name, source, nulls) = (ptr::null(), sql.as_ptr(), ptr::null());
            let (types, values) = (ptr::null_mut(), ptr::null_mut());
            let options = pg_sys::CURSOR_OPT_NO_SCROLL as i32;
            catch(|| SPI_cursor_open_with_args(name, source, 0, types, values, nulls, true, options))?
        };
        Ok(Self { portal, table: ptr::null_mut(), failed: false })
    }

    /// The next rows, at most `rows`, of the first `N` columns; none after the last. A
    /// column that the query does not have reads as NULL. Their
    /// values live until the next fetch.
    pub fn fetch<const N: usize>(
        &mut self,
        rows: usize,
    ) -> Result<impl Iterator<Item = [Option<Datum>; N]> + '_> {
        self.free();
        let portal = self.portal;
        // SAFETY: the portal is open; the table holds `numvals` rows of the query's columns; others read as NULL.
        unsafe {
            if let Err(error) = catch(|| SPI_cursor_fetch(portal, true, rows as c_long)) {
                self.failed = true;
                return Err(error);
            }
            self.table = pg_sys::SPI_tuptable;
            let table = self.table;
            let count = if table.is_null() { 0 } else { (*table).numvals as usize };
            Ok((0..count).map(move |row| {
                let tuple = *(*table).vals.add(row);
                std::array::from_fn(|column| {
                    let mut null = false;
                    let datum =
                        pg_sys::SPI_getbinval(tuple, (*table).tupdesc, column as i32 + 1, &raw mut null);
                    (!null).then_some(datum)
                })
            }))
        }
    }

    fn free(&mut self) {
        if !self.table.is_null() {
            // SAFETY: a table of ours, freed once.
            unsafe { pg_sys::SPI_freetuptable(self.table) };
            self.table = ptr::null_mut();
        }
    }
}

impl Drop for Cursor {
    fn drop(&mut self) {
        // After an error the server is about to drop both with the transaction.
        if !self.failed && !std::thread::panicking() {
            self.free();
            // SAFETY: opened by us, once.
            unsafe {
                pg_sys::SPI_cursor_close(self.portal);
                pg_sys::SPI_finish();
            }
        }
    }
}
