//! A cursor over a query of a few columns. Each fetch frees the rows of the previous fetch, so
//! memory does not grow with the number of rows.

use std::ffi::{c_char, c_long};
use std::ptr;

use pgrx::pg_sys::{self, Datum};
use pgrx::{PgList, check_for_interrupts};

use super::columns::{check_columns, values_of};
use super::prepared::{Prepared, Query, cleans_up, in_session};
use crate::pg::server::contexts::RowMemory;
use crate::pg::server::error::{Result, catch};

// The query may run user-defined functions, whose errors must be returned with all details.
unsafe extern "C-unwind" {
    fn SPI_cursor_open(
        name: *const c_char,
        plan: pg_sys::SPIPlanPtr,
        values: *mut Datum,
        nulls: *const c_char,
        read_only: bool,
    ) -> pg_sys::Portal;
    fn SPI_cursor_fetch(portal: pg_sys::Portal, forward: bool, count: c_long);
}

/// Opens a portal whose plan is not compiled. Reading rows gains nothing from that, and the
/// compiler takes some 50 MB, which would count against what `neardup.memory` promises.
fn planned_without_jit<T>(open: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: a variable that only this thread writes; the planner notes its value in the plan.
    unsafe {
        let enabled = pg_sys::jit_enabled;
        pg_sys::jit_enabled = false;
        let portal = open();
        pg_sys::jit_enabled = enabled;
        portal
    }
}

/// An open cursor over `N` columns, in its own SPI session. After an error the server itself cleans
/// up both.
#[derive(Debug)]
pub(crate) struct OpenCursor<const N: usize> {
    portal: pg_sys::Portal,
    table: *mut pg_sys::SPITupleTable,
    types: [pg_sys::Oid; N],
    /// Must be dropped last, because dropping it ends the session.
    _prepared: Prepared,
}

impl<const N: usize> OpenCursor<N> {
    /// Opens a cursor for a single SELECT that returns columns of exactly these types.
    pub(crate) fn open(query: &Query<'_>, types: [pg_sys::Oid; N]) -> Result<Self> {
        let mut prepared = Prepared::new(query)?;
        prepared.select()?;
        prepared.check(&types)?;
        let Prepared { plan, values, nulls, read_only, .. } = &mut prepared;
        let (values, nulls) = (values.as_mut_ptr(), nulls.as_ptr());
        // SAFETY: the plan has as many parameters as there are values; everything is copied.
        let portal = in_session(|| unsafe {
            planned_without_jit(|| catch(|| SPI_cursor_open(ptr::null(), *plan, values, nulls, *read_only)))
        })?;
        let cursor = Self { portal, table: ptr::null_mut(), types, _prepared: prepared };
        // The query may have been parsed again.
        cursor._prepared.check(&types)?;
        Ok(cursor)
    }

    /// Fetches the next rows, at most `rows` of them. The result is empty after the last row. The
    /// values of the rows live until the next fetch.
    pub(crate) fn fetch(&mut self, rows: usize) -> Result<impl Iterator<Item = [Option<Datum>; N]> + '_> {
        self.free();
        let portal = self.portal;
        // SAFETY: the portal is open; the table holds `numvals` rows of columns that are checked
        // first.
        unsafe {
            in_session(|| catch(|| SPI_cursor_fetch(portal, true, rows as c_long)))?;
            self.table = pg_sys::SPI_tuptable;
            let table = self.table;
            let count = if table.is_null() { 0 } else { (*table).numvals as usize };
            if count > 0 {
                check_columns((*table).tupdesc, &self.types)?;
            }
            Ok((0..count).map(move |row| values_of(table, row)))
        }
    }

    /// Returns the number of rows that the server's planner expects.
    pub(crate) fn expected_rows(&self) -> f64 {
        // SAFETY: the portal is open, and its statement is a SELECT, which has a plan.
        unsafe {
            let statement = pg_sys::PortalGetPrimaryStmt(self.portal);
            if statement.is_null() || (*statement).planTree.is_null() {
                return 0.0;
            }
            (*(*statement).planTree).plan_rows
        }
    }

    /// Calls `each` with every relation that the query reads.
    pub(crate) fn for_each_relation(&self, each: impl FnMut(pg_sys::Oid)) {
        // SAFETY: as above; the list has as many relations as it says.
        unsafe {
            let statement = pg_sys::PortalGetPrimaryStmt(self.portal);
            if let Some(statement) = statement.as_ref() {
                PgList::<pg_sys::Oid>::from_pg(statement.relationOids).iter_oid().for_each(each);
            }
        }
    }

    /// Calls `each` with all rows, which are fetched `rows` at a time. Memory that `each` leaves in
    /// the current memory context is freed row by row.
    pub(crate) fn for_each(
        mut self,
        rows: usize,
        mut each: impl FnMut([Option<Datum>; N]) -> Result<()>,
    ) -> Result<()> {
        let mut memory = RowMemory::new("neardup: rows of a query");
        loop {
            check_for_interrupts!();
            let mut fetched = 0;
            for row in self.fetch(rows)? {
                fetched += 1;
                memory.make(|| each(row))?;
            }
            if fetched == 0 {
                return Ok(());
            }
        }
    }

    /// Frees the rows of the last fetch. They are freed before a cursor that was opened later is
    /// dropped, because they may belong to its session.
    pub(crate) fn free(&mut self) {
        if !self.table.is_null() && !cleans_up() {
            // SAFETY: a table of ours, freed once.
            in_session(|| unsafe { pg_sys::SPI_freetuptable(self.table) });
            self.table = ptr::null_mut();
        }
    }
}

impl<const N: usize> Drop for OpenCursor<N> {
    fn drop(&mut self) {
        self.free();
        if !cleans_up() {
            // SAFETY: opened by us, once.
            in_session(|| unsafe { pg_sys::SPI_cursor_close(self.portal) });
        }
    }
}
