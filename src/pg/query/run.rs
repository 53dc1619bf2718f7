//! Runs a statement to its end, or only inspects it.

use std::ffi::{c_char, c_int, c_long};
use std::ptr;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::columns::{check_columns, values_of};
use super::moment::with_current;
use super::prepared::{Prepared, Query, in_session};
use crate::pg::compat::attributes;
use crate::pg::server::error::{Result, SqlError, catch};
use crate::pg::server::{deadline, encoding};
use neardup_core::memory;

// The statement may run user-defined functions, whose errors must be returned with all details.
unsafe extern "C-unwind" {
    fn SPI_execute_plan(
        plan: pg_sys::SPIPlanPtr,
        values: *mut Datum,
        nulls: *const c_char,
        read_only: bool,
        count: c_long,
    ) -> c_int;
    fn SPI_execute_snapshot(
        plan: pg_sys::SPIPlanPtr,
        values: *mut Datum,
        nulls: *const c_char,
        snapshot: pg_sys::Snapshot,
        crosscheck: pg_sys::Snapshot,
        read_only: bool,
        fire_triggers: bool,
        count: c_long,
    ) -> c_int;
}

/// The result of a statement.
#[derive(Debug)]
pub(crate) struct Done<const N: usize> {
    /// The number of rows that the statement returned or changed.
    pub rows: u64,
    /// The first row that the statement returned, copied into the memory context of the caller.
    pub first: Option<[Option<Datum>; N]>,
}

impl Query<'_> {
    /// Runs the statement to its end. If it may write, it uses the current
    /// [moment](super::moment). It must return columns of exactly the types `types`, and only a few
    /// rows, because all rows are in memory at once.
    pub(crate) fn run<const N: usize>(&self, types: [pg_sys::Oid; N]) -> Result<Done<N>> {
        let mut prepared = Prepared::new(self)?;
        prepared.check(&types)?;
        let Prepared { plan, values, nulls, read_only, .. } = &mut prepared;
        let (plan, values, nulls, read_only) = (*plan, values.as_mut_ptr(), nulls.as_ptr(), *read_only);
        // SAFETY: the plan has as many parameters as there are values, and everything stays in
        // place until the plan was run. The snapshot is registered; the server makes a copy of it
        // that shows the writes of this transaction.
        let run = |moment| unsafe {
            catch(|| match moment {
                Some(moment) if !read_only => {
                    SPI_execute_snapshot(plan, values, nulls, moment, ptr::null_mut(), false, true, 0)
                }
                _ => SPI_execute_plan(plan, values, nulls, read_only, 0),
            })
        };
        let code = deadline::run(|| with_current(|moment| in_session(|| run(moment))))?;
        if code < 0 {
            return Err(SqlError::new(
                PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
                "a statement that cannot be run inside a function",
            ));
        }
        // The statement may have been parsed again.
        prepared.check(&types)?;
        // SAFETY: the call set these variables; the table is null or holds `numvals` rows, whose
        // columns are checked first.
        unsafe {
            let (rows, table) = (pg_sys::SPI_processed, pg_sys::SPI_tuptable);
            if table.is_null() {
                return Ok(Done { rows, first: None });
            }
            let descriptor = (*table).tupdesc;
            check_columns(descriptor, &types)?;
            let first = ((*table).numvals > 0).then(|| values_of::<N>(table, 0));
            let attributes = attributes(descriptor);
            let copied = |column: usize, value| copy(value, &attributes[column]);
            let first =
                first.map(|row| std::array::from_fn(|column| row[column].map(|value| copied(column, value))));
            Ok(Done { rows, first })
        }
    }

    /// Returns the text of the statement without its terminator, so that it can be put in
    /// parentheses, and the types of its columns; for a domain, the base type. Fails if the text is
    /// not exactly one SELECT.
    pub(crate) fn only_select(&self) -> Result<(String, Vec<pg_sys::Oid>)> {
        let prepared = Prepared::new(self)?;
        let text = prepared.sql.as_bytes();
        prepared.select()?;
        // SAFETY: a source that has a query keeps its parse tree, which says where in the text the
        // statement is; the descriptor of a SELECT has its columns, or is null if there are none.
        let (start, length, types) = unsafe {
            let source = prepared.source()?;
            let (tree, descriptor) = ((*source).raw_parse_tree, (*source).resultDesc);
            let columns = if descriptor.is_null() { &[] } else { attributes(descriptor) };
            let types = columns.iter().map(|column| pg_sys::getBaseType(column.atttypid)).collect();
            ((*tree).stmt_location.max(0) as usize, (*tree).stmt_len as usize, types)
        };
        let rest = text.get(start..).unwrap_or_default();
        // Length 0 means the rest of the text.
        let statement = if length == 0 { rest } else { rest.get(..length).unwrap_or(rest) };
        let statement = encoding::to_utf8(statement)?.ok_or_else(|| SqlError::not_utf8("the query"))?;
        Ok((memory::owned(statement, "reading a query")?, types))
    }
}

/// Copies a value into the current memory context.
///
/// # Safety
/// The value belongs to the column.
unsafe fn copy(value: Datum, column: &pg_sys::FormData_pg_attribute) -> Datum {
    // SAFETY: the caller's promise: the value is in the datum itself, or is a varlena (-1), a C
    // string (-2), or of a fixed length.
    unsafe {
        match column.attlen {
            _ if column.attbyval => value,
            -1 => Datum::from(pg_sys::pg_detoast_datum_copy(value.cast_mut_ptr())),
            -2 => Datum::from(pg_sys::pstrdup(value.cast_mut_ptr())),
            length => {
                let copy: *mut u8 = pg_sys::palloc(length as usize).cast();
                copy.copy_from_nonoverlapping(value.cast_mut_ptr(), length as usize);
                Datum::from(copy)
            }
        }
    }
}
