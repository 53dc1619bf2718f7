//! The rows of an index's table: scans them for a build or a check, reads their texts as the query
//! sees them, and checks addresses of rows before they are looked up.

use std::ffi::c_void;

use pgrx::PgMemoryContexts;
use pgrx::pg_sys::{self, Datum};

use crate::pg::index::families::groups::IndexedRow;
use crate::pg::index::families::values::text_of;
use crate::pg::index::layout::items::Tid;
use crate::pg::index::layout::meta::{address_of, tid_of};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::contexts::{in_context, new_context};
use crate::pg::server::error::{Result, catch};
use crate::pg::server::guard::guard;
use neardup_core::features::normalization::Normalization;

/// The rows of a scan of a table for an index on it.
pub(crate) enum ScannedRows {
    /// Those of all pages. The scan reports its progress.
    All,
    /// Those of a range of pages: the first one, and their number.
    Pages(u32, u32),
    /// Those of a scan that has begun, and that is ended.
    Begun(pg_sys::TableScanDesc),
}

/// What [`each_row`] is given.
struct RowsOfScan<F> {
    each: F,
    memory: pg_sys::MemoryContext,
}

/// Calls `each` with every row of a scan: its address, and what an index keeps of it.
/// `each` runs in a memory context that is reset after each row. Does the same as
/// table_index_build_scan of tableam.h, but without a guard of pgrx: expressions and predicates of
/// the index call functions of users, and the errors of these functions must arrive complete.
///
/// # Safety
/// The relations are an open table and an index of ours on it, which `info` describes.
pub(crate) unsafe fn scan_table<F: FnMut(Tid, IndexedRow) -> Result<()>>(
    [table, index]: [pg_sys::Relation; 2],
    info: *mut pg_sys::IndexInfo,
    rows: ScannedRows,
    each: F,
) -> Result<f64> {
    let memory = PgMemoryContexts::new("neardup row of a scan for an index");
    let mut state = RowsOfScan { each, memory: memory.value() };
    // Scans of the same table may be synchronized with each other, except scans of a range.
    let progress = matches!(rows, ScannedRows::All);
    let (join, first, count, scan) = match rows {
        ScannedRows::All => (true, 0, pg_sys::InvalidBlockNumber, std::ptr::null_mut()),
        ScannedRows::Pages(first, count) => (false, first, count, std::ptr::null_mut()),
        ScannedRows::Begun(scan) => (true, 0, pg_sys::InvalidBlockNumber, scan),
    };
    // SAFETY: the caller's promise; every table access method has this function, which gives the
    // callback the state that is passed here.
    unsafe {
        let scan_rows = (*(*table).rd_tableam).index_build_range_scan.expect("of every table access method");
        let state: *mut c_void = (&raw mut state).cast();
        catch(|| {
            let each = Some(each_row::<F> as _);
            scan_rows(table, index, info, join, false, progress, first, count, each, state, scan)
        })
    }
}

/// The callback that the server calls with every row of a scan for an index.
unsafe extern "C-unwind" fn each_row<F: FnMut(Tid, IndexedRow) -> Result<()>>(
    index: pg_sys::Relation,
    address: pg_sys::ItemPointer,
    values: *mut Datum,
    nulls: *mut bool,
    _alive: bool,
    state: *mut c_void,
) {
    // SAFETY: this is the outermost frame; the server gives one value of each column of the index,
    // the row's address, and our state.
    unsafe {
        guard(|| {
            let RowsOfScan { each, memory } = &mut *state.cast::<RowsOfScan<F>>();
            let row = || IndexedRow::read(OpenIndex::new(index), values, nulls);
            let result = in_context(*memory, || each(tid_of(&*address), row()));
            pg_sys::MemoryContextReset(*memory);
            result
        });
    }
}

/// A reader of the indexed column, which is a text.
pub(super) struct RowTexts {
    index: OpenIndex,
    routine: *const pg_sys::TableAmRoutine,
    fetch: *mut pg_sys::IndexFetchTableData,
    slot: *mut pg_sys::TupleTableSlot,
    snapshot: pg_sys::Snapshot,
    column: i16,
    /// The form in which the index has the texts.
    normalization: Option<Normalization>,
    heap: Heap,
    /// Holds what the server unpacks of the rows of a group.
    memory: pg_sys::MemoryContext,
}

impl RowTexts {
    /// Starts to read rows that the snapshot sees. Returns None if the index is not on a column but
    /// on an expression, or if the table cannot be read by addresses of rows.
    ///
    /// # Safety
    /// The relations stay open and the snapshot stays registered as long as the value lives. The
    /// snapshot is an MVCC snapshot.
    pub(super) unsafe fn new(
        index: OpenIndex,
        table: pg_sys::Relation,
        snapshot: pg_sys::Snapshot,
        normalization: Option<Normalization>,
    ) -> Result<Option<Self>> {
        // SAFETY: the caller's promise.
        unsafe {
            let column = index.table_column();
            let routine = (*table).rd_tableam;
            let Some(begin) = (*routine).index_fetch_begin.filter(|_| column > 0) else { return Ok(None) };
            let memory = new_context(pg_sys::CurrentMemoryContext, c"neardup texts of rows");
            let slot = pg_sys::table_slot_create(table, std::ptr::null_mut());
            let fetch = catch(|| begin(table))?;
            let heap = Heap::default();
            Ok(Some(Self { index, routine, fetch, slot, snapshot, column, normalization, heap, memory }))
        }
    }

    /// Calls `each` with the text of a row, unless the query does not see the row or the text is
    /// NULL.
    pub(super) fn read<T>(
        &mut self,
        tid: Tid,
        each: impl FnOnce(&str) -> neardup_core::error::Result<T>,
    ) -> Result<Option<T>> {
        self.heap.check(self.index, tid);
        // SAFETY: by the promise of `new`; the row stays in the slot until the next one is read.
        unsafe {
            let Some(fetch) = (*self.routine).index_fetch_tuple else { return Ok(None) };
            let (mut address, mut again, mut dead) = (address_of(tid), false, false);
            let (scan, snapshot, slot) = (self.fetch, self.snapshot, self.slot);
            let (address, again, dead) = (&raw mut address, &raw mut again, &raw mut dead);
            if !catch(|| fetch(scan, address, snapshot, slot, again, dead))? {
                return Ok(None);
            }
            let text = in_context(self.memory, || {
                let mut null = false;
                let value: Datum = pg_sys::slot_getattr(slot, self.column.into(), &raw mut null);
                (!null).then(|| text_of(value, self.normalization)).transpose()
            })?;
            Ok(text.map(|text| each(&text)).transpose()?)
        }
    }

    /// Frees what was unpacked.
    pub(super) fn reset(&mut self) {
        // SAFETY: nothing refers to this memory.
        unsafe { pg_sys::MemoryContextReset(self.memory) };
    }
}

impl Drop for RowTexts {
    fn drop(&mut self) {
        // After an error the server releases all of this.
        if !std::thread::panicking() {
            // SAFETY: made by us, released once.
            unsafe {
                if let Some(end) = (*self.routine).index_fetch_end {
                    end(self.fetch);
                }
                pg_sys::ExecDropSingleTupleTableSlot(self.slot);
                pg_sys::MemoryContextDelete(self.memory);
            }
        }
    }
}

/// A lower bound of the number of pages of a table.
#[derive(Debug, Default)]
pub(crate) struct Heap(u32);

impl Heap {
    /// Fails if a row is in a page that the table does not have. In this case the bytes of the
    /// index were changed by other means than the server, and a search for the row would look for a
    /// file that does not exist.
    pub(crate) fn check(&mut self, index: OpenIndex, tid: Tid) {
        let block = (tid >> 16) as u32;
        if block < self.0 {
            return;
        }
        // SAFETY: the scan of an index holds a lock on its table.
        self.0 = unsafe {
            let table = (*(*index.relation()).rd_index).indrelid;
            let table = pg_sys::table_open(table, pg_sys::NoLock as i32);
            let blocks = pg_sys::RelationGetNumberOfBlocksInFork(table, pg_sys::ForkNumber::MAIN_FORKNUM);
            pg_sys::table_close(table, pg_sys::NoLock as i32);
            blocks
        };
        if block >= self.0 {
            let name = index.name();
            let message =
                format!("index \"{name}\" has a row of block {block}, which its table does not have");
            index.damaged(message).raise();
        }
    }
}
