//! Reads the texts of rows from the table of an index, as the query sees them.

use pgrx::pg_sys::{self, Datum};

use super::heap::Heap;
use crate::pg::index::layout::items::Tid;
use crate::pg::index::layout::meta::address_of;
use crate::pg::index::opclass::values::text_of;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::error::{Result, catch};
use neardup_core::features::normalization::Normalization;

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
        // SAFETY: the caller's promise; an index of ours has one column.
        unsafe {
            let column = (*(*index.relation()).rd_index).indkey.values.as_slice(1)[0];
            let routine = (*table).rd_tableam;
            let Some(begin) = (*routine).index_fetch_begin.filter(|_| column > 0) else { return Ok(None) };
            let memory = pg_sys::AllocSetContextCreateInternal(
                pg_sys::CurrentMemoryContext,
                c"neardup texts of rows".as_ptr(),
                pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
                pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
                pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
            );
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
            let before = pg_sys::MemoryContextSwitchTo(self.memory);
            let mut null = false;
            let value: Datum = pg_sys::slot_getattr(slot, self.column.into(), &raw mut null);
            let text = if null { None } else { Some(text_of(value, self.normalization)?) };
            pg_sys::MemoryContextSwitchTo(before);
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
