//! Scans the rows of an index's table for a build or a check.

use std::ffi::c_void;

use pgrx::pg_sys::{self, Datum};

use crate::pg::index::layout::items::Tid;
use crate::pg::index::layout::meta::tid_of;
use crate::pg::server::error::{Result, catch};

/// Calls `each` with a row of a scan of the table, then resets the memory context in which `each`
/// ran.
///
/// # Safety
/// The arguments are those of an `IndexBuildCallback`: one value of the index's only column, and
/// the row's address.
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

/// The callback that the server calls with every row of a scan for an index.
pub(crate) type EachRow = unsafe extern "C-unwind" fn(
    pg_sys::Relation,
    pg_sys::ItemPointer,
    *mut Datum,
    *mut bool,
    bool,
    *mut c_void,
);

/// A range of pages of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    /// The first page.
    pub first: u32,
    /// The number of pages.
    pub count: u32,
}

/// Does the same as table_index_build_scan of tableam.h, but without a guard of pgrx: expressions
/// and predicates of the index call functions of users, and the errors of these functions must
/// arrive complete. If `scan` is not null, it is used and ended. Without a range, all pages are
/// scanned.
///
/// # Safety
/// The relations are an open table and an index on it, which `info` describes, and `each` can take
/// `state`.
pub(crate) unsafe fn scan_table(
    [table, index]: [pg_sys::Relation; 2],
    info: *mut pg_sys::IndexInfo,
    progress: bool,
    each: EachRow,
    state: *mut c_void,
    scan: pg_sys::TableScanDesc,
    range: Option<Range>,
) -> Result<f64> {
    // SAFETY: the caller's promise; every table access method has this function.
    unsafe {
        let scan_rows = (*(*table).rd_tableam).index_build_range_scan.expect("of every table access method");
        let Range { first, count } = range.unwrap_or(Range { first: 0, count: pg_sys::InvalidBlockNumber });
        // Scans of the same table may be synchronized with each other, except scans of a range.
        let join = range.is_none();
        catch(|| scan_rows(table, index, info, join, false, progress, first, count, Some(each), state, scan))
    }
}
