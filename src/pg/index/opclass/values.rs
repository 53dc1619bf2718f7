//! Rows and values as the server gives them, taken apart.

use std::ffi::c_void;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::class::Class;
use super::keys::Keys;
use crate::hash;
use crate::memory;
use crate::pg::index::layout::items::Tid;
use crate::pg::index::layout::meta::tid_of;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding;
use crate::pg::server::error::{Result, SqlError, catch};

/// A text, as UTF-8.
///
/// # Safety
/// `value` is a text and not NULL.
pub unsafe fn text_of(value: Datum) -> Result<String> {
    // SAFETY: the caller's promise.
    let text = encoding::to_utf8(unsafe { varlena_bytes(value) })?.ok_or_else(|| {
        SqlError::new(
            PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
            "a text to be indexed is not valid UTF-8",
        )
    })?;
    Ok(encoding::own(&text)?)
}

/// Calls `each` with a row of a scan of the table, and empties the memory context in which it works.
///
/// # Safety
/// As the server calls an `IndexBuildCallback`: one value of the index's only column, and the row's address.
pub unsafe fn row_of_scan(
    memory: pg_sys::MemoryContext,
    address: pg_sys::ItemPointer,
    values: *mut Datum,
    nulls: *mut bool,
    each: impl FnOnce(Tid, Option<Datum>) -> Result<()>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let before = pg_sys::MemoryContextSwitchTo(memory);
        let result = each(tid_of(&*address), (!*nulls).then(|| *values));
        pg_sys::MemoryContextSwitchTo(before);
        pg_sys::MemoryContextReset(memory);
        result
    }
}

/// What the server calls with every row of a scan for an index.
pub type EachRow = unsafe extern "C-unwind" fn(
    pg_sys::Relation,
    pg_sys::ItemPointer,
    *mut Datum,
    *mut bool,
    bool,
    *mut c_void,
);

/// table_index_build_scan of tableam.h, without a guard of pgrx: expressions and predicates of the index are anybody's
/// functions, whose errors are to come back whole. A scan that is given is ended.
///
/// # Safety
/// The relations are an open table and an index on it, which `info` describes, and `each` can take `state`.
pub unsafe fn scan_table(
    [table, index]: [pg_sys::Relation; 2],
    info: *mut pg_sys::IndexInfo,
    progress: bool,
    each: EachRow,
    state: *mut c_void,
    scan: pg_sys::TableScanDesc,
) -> Result<f64> {
    // SAFETY: the caller's promise; every table access method has this function.
    unsafe {
        let scan_rows = (*(*table).rd_tableam).index_build_range_scan.expect("of every table access method");
        let all = pg_sys::InvalidBlockNumber;
        catch(|| scan_rows(table, index, info, true, false, progress, 0, all, Some(each), state, scan))
    }
}

impl Keys {
    /// The signatures of an array, ascending.
    ///
    /// # Safety
    /// As in [`Self::keep`].
    pub unsafe fn elements(&self, value: Datum) -> Result<Vec<u64>> {
        let (element, length, by_value, align) = match self.class {
            Class::Uuid => (pg_sys::UUIDOID, 16, false, b'c'),
            _ => (pg_sys::INT8OID, 8, true, b'd'),
        };
        let mut signatures = Vec::new();
        // SAFETY: an array of this type, which the server takes apart into memory of its own.
        unsafe {
            let array = pg_sys::pg_detoast_datum(value.cast_mut_ptr());
            let (mut elements, mut nulls, mut count) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
            pg_sys::deconstruct_array(
                array.cast(),
                element,
                length,
                by_value,
                align as std::ffi::c_char,
                &raw mut elements,
                &raw mut nulls,
                &raw mut count,
            );
            memory::reserve(&mut signatures, count as usize, "reading an array")?;
            for n in 0..count as usize {
                if !*nulls.add(n) {
                    let element = *elements.add(n);
                    signatures.push(match self.class {
                        Class::Uuid => {
                            hash::hash_bytes(std::slice::from_raw_parts(element.cast_mut_ptr::<u8>(), 16))
                        }
                        _ => hash::mix(element.value() as u64),
                    });
                }
            }
            pg_sys::pfree(elements.cast());
            pg_sys::pfree(nulls.cast());
        }
        signatures.sort_unstable();
        signatures.dedup();
        Ok(signatures)
    }
}
