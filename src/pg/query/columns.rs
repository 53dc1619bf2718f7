//! Columns of results. Their types must be the types that are read or returned.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::names::type_name;
use crate::pg::compat::attributes;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::set_returning::{RowStore, wants_all};

/// Checks that the columns of a result have exactly the types `types`. The result of a statement
/// that never returns rows has no columns.
///
/// # Safety
/// The descriptor is null or was made by the server.
pub(super) unsafe fn check_columns(descriptor: pg_sys::TupleDesc, types: &[pg_sys::Oid]) -> Result<()> {
    // SAFETY: the caller's promise; the descriptor has `natts` attributes.
    let columns = unsafe { if descriptor.is_null() { &[] } else { attributes(descriptor) } };
    let mismatch = |message| Err(SqlError::new(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message));
    if columns.len() != types.len() {
        return mismatch(format!("a query gives {} columns, not {}", columns.len(), types.len()));
    }
    match columns.iter().zip(types).find(|(column, wanted)| column.atttypid != **wanted) {
        None => Ok(()),
        Some((column, &wanted)) => {
            // SAFETY: a name is a C string.
            let name = unsafe { c_string(column.attname.data.as_ptr()) };
            let (is, wanted) = (type_name(column.atttypid), type_name(wanted));
            mismatch(format!("column \"{name}\" of a query is of type {is}, not {wanted}"))
        }
    }
}

/// Returns the values of a row.
///
/// # Safety
/// The table has the row; its columns were checked.
pub(super) unsafe fn values_of<const N: usize>(
    table: *mut pg_sys::SPITupleTable,
    row: usize,
) -> [Option<Datum>; N] {
    let (mut values, mut nulls) = ([pg_sys::Datum::null(); N], [true; N]);
    // All columns in one call: the guard of a call takes as long as a value.
    // SAFETY: the caller's promise; there are as many columns as values.
    unsafe {
        let tuple = *(*table).vals.add(row);
        pg_sys::heap_deform_tuple(tuple, (*table).tupdesc, values.as_mut_ptr(), nulls.as_mut_ptr());
    }
    std::array::from_fn(|column| (!nulls[column]).then_some(values[column]))
}

impl RowStore {
    /// Makes the store for a call in a query that declares the columns of the result itself, as in
    /// `AS f(…)`. The declared columns must have the types `types`.
    pub(crate) fn expected(call: FunctionCall, types: &[pg_sys::Oid]) -> Result<Self> {
        wants_all(call)?;
        // SAFETY: `wants_all` has checked that this is a ReturnSetInfo; its descriptor is null or
        // was made by the server.
        unsafe {
            let result: *mut pg_sys::ReturnSetInfo = (*call.info).resultinfo.cast();
            if (*result).expectedDesc.is_null() {
                let message = "function returning record called in context that cannot accept type record";
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message)
                    .hint("Call it in FROM, with the names and types of its columns behind it."));
            }
            check_columns((*result).expectedDesc, types).map_err(|error| {
                let types: Vec<String> = types.iter().map(|&of| type_name(of)).collect();
                error.hint(format!("The types of its columns: {}.", types.join(", ")))
            })?;
            Ok(Self::with_columns(call, pg_sys::MAT_SRF_USE_EXPECTED_DESC))
        }
    }
}
