//! The rows of the table under an index, as the server gives them to a build or a check.

use std::ffi::c_void;

use pgrx::pg_sys::{self, Datum};

use crate::pg::index::layout::items::Tid;
use crate::pg::index::layout::meta::tid_of;
use crate::pg::server::error::{Result, catch};

/// Calls `each` with a row of a scan of the table, and empties the memory context in which it works.
///
/// # Safety
/// As the server calls an `IndexBuildCallback`: one value of the index's only column, and the row's address.
pub(crate) unsafe fn row_of_scan(
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
pub(crate) type EachRow = unsafe extern "C-unwind" fn(
    pg_sys::Relation,
    pg_sys::ItemPointer,
    *mut Datum,
    *mut bool,
    bool,
    *mut c_void,
);

/// table_index_build_scan of tableam.h, without a guard of pgrx: expressions and predicates of the index call functions
/// of users, whose errors are to come back whole. A scan that is given is ended.
///
/// # Safety
/// The relations are an open table and an index on it, which `info` describes, and `each` can take `state`.
pub(crate) unsafe fn scan_table(
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
