//! Rows of a set-returning function, returned in the mode that the server requests.
//!
//! If the function is called in FROM, all rows go to a tuplestore, which spills to disk and is
//! counted in temp_file_limit. If it is called in the select list, each row is returned when it is
//! found, and the work ends with the query.

use std::ffi::CStr;

use pgrx::pg_sys::{self, Datum};
use pgrx::{PgMemoryContexts, PgSqlErrorCode, check_for_interrupts};

use super::call::{FunctionCall, declared_otherwise};
use super::error::{Result, SqlError};
use super::temp_file::{Held, end_held};
use crate::pg::compat::attributes;
use neardup_core::allowance::Allowance;

/// A row with `N` columns, of which `None` is NULL.
pub(crate) type Row<const N: usize> = [Option<Datum>; N];

/// A source of rows with `N` columns.
pub(crate) trait RowSource<const N: usize> {
    /// Returns the next row, or `None` after the last row.
    fn next(&mut self) -> Result<Option<Row<N>>>;

    /// Returns the column names in the SQL declaration; values are assigned to columns by position.
    fn columns(&self) -> [&'static str; N];

    /// Passes all rows that are left to `put`. A source whose search runs in other threads may do
    /// so meanwhile.
    fn each(&mut self, put: &mut Put<'_, N>) -> Result<()> {
        while let Some(row) = self.next()? {
            put(row);
        }
        Ok(())
    }
}

/// Gets a row.
pub(crate) type Put<'a, const N: usize> = dyn FnMut(Row<N>) + 'a;

/// The rows that an iterator makes in the current memory context, with the names of their columns.
pub(crate) struct Rows<const N: usize, I>(pub [&'static str; N], pub I);

impl<const N: usize, I: Iterator<Item = Result<Row<N>>>> RowSource<N> for Rows<N, I> {
    fn columns(&self) -> [&'static str; N] {
        self.0
    }

    fn next(&mut self) -> Result<Option<Row<N>>> {
        self.1.next().transpose()
    }
}

impl<const N: usize> Rows<N, ()> {
    /// Makes rows of what `next` returns until it returns `None`.
    pub(crate) fn made_by(
        columns: [&'static str; N],
        mut next: impl FnMut() -> Result<Option<Row<N>>>,
    ) -> impl RowSource<N> {
        Rows(columns, std::iter::from_fn(move || next().transpose()))
    }
}

/// Returns a number of double precision as a value.
pub(crate) fn float(number: f64) -> Option<Datum> {
    Some(Datum::from(number.to_bits()))
}

/// Returns the values of a row, and which of them are NULL.
fn split<const N: usize>(row: Row<N>) -> ([Datum; N], [bool; N]) {
    (row.map(|value| value.unwrap_or(Datum::null())), row.map(|value| value.is_none()))
}

/// Reports whether the server wants all rows at once.
pub(crate) fn wants_all(call: FunctionCall) -> Result<bool> {
    // SAFETY: `resultinfo` is null or a node; a set-returning call has a ReturnSetInfo.
    unsafe {
        let info: *mut pg_sys::ReturnSetInfo = (*call.info).resultinfo.cast();
        if info.is_null() || (*info).type_ != pg_sys::NodeTag::T_ReturnSetInfo {
            return Err(SqlError::new(
                PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
                "set-valued function called in context that cannot accept a set",
            ));
        }
        Ok((*info).allowedModes & pg_sys::SetFunctionReturnMode::SFRM_Materialize_Preferred as i32 != 0)
    }
}

/// Answers one call of the server: with all rows, or with the next row. From its start to its last
/// row the search stays within the allowance of the call.
pub(crate) fn answer<R: RowSource<N> + 'static, const N: usize>(
    call: FunctionCall,
    start: impl FnOnce() -> Result<R>,
) -> Result<Datum> {
    if wants_all(call)? { all(call, start()?) } else { one(call, start) }
}

/// Returns all rows at once.
pub(crate) fn all<const N: usize>(call: FunctionCall, rows: impl RowSource<N>) -> Result<Datum> {
    let mut store = RowStore::new(call);
    // SAFETY: the server made the descriptor for the call.
    unsafe { check_names(store.descriptor, &rows.columns())? };
    store.put_all(rows)?;
    Ok(Datum::null())
}

/// Checks that SQL declares these columns, and not the columns of another version of the library.
///
/// # Safety
/// The descriptor was made by the server.
pub(crate) unsafe fn check_names(descriptor: pg_sys::TupleDesc, columns: &[&str]) -> Result<()> {
    // SAFETY: the caller's promise: the descriptor has `natts` attributes, whose names are C
    // strings.
    let declared = unsafe { attributes(descriptor) };
    // SAFETY: as above.
    let name = |attribute: &pg_sys::FormData_pg_attribute| unsafe {
        CStr::from_ptr(attribute.attname.data.as_ptr())
    };
    if declared
        .iter()
        .map(|column| name(column).to_bytes())
        .eq(columns.iter().map(|column| column.as_bytes()))
    {
        return Ok(());
    }
    let declared: Vec<_> = declared.iter().map(|column| name(column).to_string_lossy()).collect();
    let message = format!("a result has columns {}, declared as {}", columns.join(", "), declared.join(", "));
    Err(declared_otherwise(message))
}

/// Makes a row of the function's result type.
pub(crate) fn record<const N: usize>(call: FunctionCall, names: &[&str; N], row: Row<N>) -> Result<Datum> {
    let (mut values, mut nulls) = split(row);
    // SAFETY: the SQL declaration of the function has a result with these columns.
    unsafe {
        let mut descriptor = std::ptr::null_mut();
        pg_sys::get_call_result_type(call.info, std::ptr::null_mut(), &raw mut descriptor);
        let descriptor = pg_sys::BlessTupleDesc(descriptor);
        check_names(descriptor, names)?;
        let tuple = pg_sys::heap_form_tuple(descriptor, values.as_mut_ptr(), nulls.as_mut_ptr());
        Ok(pg_sys::HeapTupleHeaderGetDatum((*tuple).t_data))
    }
}

/// The store for rows that are returned all at once.
pub(crate) struct RowStore {
    store: *mut pg_sys::Tuplestorestate,
    descriptor: pg_sys::TupleDesc,
    given: u32,
}

impl RowStore {
    /// Makes the store of a call that wants all rows at once.
    pub(crate) fn new(call: FunctionCall) -> Self {
        // SAFETY: the server makes the descriptor of the columns that our SQL declares.
        unsafe { Self::with_columns(call, 0) }
    }

    /// Makes the store of a call that wants all rows at once, with the columns that the flags
    /// `MAT_SRF_*` of the server say.
    ///
    /// # Safety
    /// The rows to come have these columns.
    pub(crate) unsafe fn with_columns(call: FunctionCall, flags: u32) -> Self {
        // SAFETY: `info` is a call that accepts a materialised set; the server makes the store, and
        // the descriptor or a copy of it.
        unsafe {
            pg_sys::InitMaterializedSRF(call.info, flags);
            let result: *mut pg_sys::ReturnSetInfo = (*call.info).resultinfo.cast();
            Self { store: (*result).setResult, descriptor: (*result).setDesc, given: 0 }
        }
    }

    /// Removes all rows.
    pub(crate) fn clear(&mut self) {
        // SAFETY: a store that lives as long as the call.
        unsafe { pg_sys::tuplestore_clear(self.store) };
    }

    /// Adds all rows of a source.
    pub(crate) fn put_all<const N: usize>(&mut self, mut rows: impl RowSource<N>) -> Result<()> {
        rows.each(&mut |row| self.put(row))
    }

    /// Adds a row with as many columns as our SQL declares; values are copied.
    pub(crate) fn put<const N: usize>(&mut self, row: Row<N>) {
        const CHECK_EVERY: u32 = 1 << 10;
        let (mut values, mut nulls) = split(row);
        // SAFETY: the store and the descriptor live as long as the call; there are as many columns
        // as values.
        unsafe {
            pg_sys::tuplestore_putvalues(
                self.store,
                self.descriptor,
                values.as_mut_ptr(),
                nulls.as_mut_ptr(),
            );
        }
        self.given = self.given.wrapping_add(1);
        if self.given.is_multiple_of(CHECK_EVERY) {
            check_for_interrupts!();
        }
    }
}

/// A source of rows, and what it may hold.
type Searching<R> = (R, Option<Allowance>);

fn one<R: RowSource<N> + 'static, const N: usize>(
    call: FunctionCall,
    start: impl FnOnce() -> Result<R>,
) -> Result<Datum> {
    // SAFETY: the protocol of value-per-call functions (funcapi.h). The source of rows lives in the
    // memory context of the whole query. It is dropped when the rows or the query end; after an
    // error the server deletes the context, and with it the source, if it is still there.
    unsafe {
        let result: *mut pg_sys::ReturnSetInfo = (*call.info).resultinfo.cast();
        if (*(*call.info).flinfo).fn_extra.is_null() {
            let context = pg_sys::init_MultiFuncCall(call.info);
            let mut memory = PgMemoryContexts::For((*context).multi_call_memory_ctx);
            let (rows, descriptor) = memory.switch_to(|_| -> Result<_> {
                let mut descriptor = std::ptr::null_mut();
                pg_sys::get_call_result_type(call.info, std::ptr::null_mut(), &raw mut descriptor);
                let rows = start()?;
                check_names(descriptor, &rows.columns())?;
                Ok((rows, pg_sys::BlessTupleDesc(descriptor)))
            })?;
            // The rows are dropped first.
            let held = memory.leak_and_drop_on_delete(Held::new((rows, call.take_allowance())));
            (*context).user_fctx = held.cast();
            (*context).tuple_desc = descriptor;
            let argument = Datum::from(held);
            pg_sys::RegisterExprContextCallback((*result).econtext, Some(end_held::<Searching<R>>), argument);
        }
        let context = pg_sys::per_MultiFuncCall(call.info);
        let held: *mut Held<Searching<R>> = (*context).user_fctx.cast();
        let next = match (*held).get() {
            Some((rows, _)) => rows.next()?,
            None => None,
        };
        match next {
            Some(row) => {
                let (mut values, mut nulls) = split(row);
                (*context).call_cntr += 1;
                (*result).isDone = pg_sys::ExprDoneCond::ExprMultipleResult;
                let tuple =
                    pg_sys::heap_form_tuple((*context).tuple_desc, values.as_mut_ptr(), nulls.as_mut_ptr());
                Ok(pg_sys::HeapTupleHeaderGetDatum((*tuple).t_data))
            }
            None => {
                let argument = Datum::from(held);
                pg_sys::UnregisterExprContextCallback(
                    (*result).econtext,
                    Some(end_held::<Searching<R>>),
                    argument,
                );
                drop((*held).take());
                pg_sys::end_MultiFuncCall(call.info, context);
                (*result).isDone = pg_sys::ExprDoneCond::ExprEndResult;
                Ok(call.give::<i32>(None))
            }
        }
    }
}
