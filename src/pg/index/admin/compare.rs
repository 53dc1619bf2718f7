//! Checks that an index has every row of its table.

use std::ffi::c_void;

use pgrx::{PgMemoryContexts, PgSqlErrorCode, pg_sys};

use super::filter::{BloomFilter, NULL};
use super::marks::RowMarks;
use crate::pg::index::am::table::{row_of_scan, scan_table};
use crate::pg::index::am::user_index::UserIndex;
use crate::pg::index::layout::items::{HeapRow, Item};
use crate::pg::index::opclass::keys::ClassKeys;
use crate::pg::index::opclass::posted::Posted;
use crate::pg::index::opclass::values::StoredValue;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::guard::guard;

/// A registered snapshot of the transaction. After an error the server releases it.
pub(super) struct Snapshot(pg_sys::Snapshot);

impl Snapshot {
    /// Takes a snapshot whose rows are all in the index. A new snapshot always qualifies. An old
    /// one may show row versions from before the index was made, which the index need not have.
    pub(super) fn new(index: OpenIndex) -> Result<Self> {
        // SAFETY: runs inside a transaction; the relation of an index has the index's row of
        // pg_index, which begins with the header of a table row.
        unsafe {
            let snapshot = pg_sys::GetTransactionSnapshot();
            let relation = &*index.relation();
            let is_old = pg_sys::XactIsoLevel >= pg_sys::XACT_REPEATABLE_READ as i32;
            if is_old
                && (*relation.rd_index).indcheckxmin
                && !pg_sys::TransactionIdPrecedes(made_by(relation.rd_indextuple), (*snapshot).xmin)
            {
                let message = format!(
                    "index \"{}\" is too new to be checked with this transaction's snapshot",
                    index.name()
                );
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE, message)
                    .hint("Try again later in a new transaction, or at READ COMMITTED."));
            }
            Ok(Self(pg_sys::RegisterSnapshot(snapshot)))
        }
    }

    fn release(self) {
        // SAFETY: we registered it, once.
        unsafe { pg_sys::UnregisterSnapshot(self.0) };
    }
}

/// Returns the transaction that inserted a row, like HeapTupleHeaderGetXmin of htup_details.h.
///
/// # Safety
/// `tuple` is a row of a table.
unsafe fn made_by(tuple: pg_sys::HeapTuple) -> pg_sys::TransactionId {
    // SAFETY: the caller's promise.
    unsafe {
        let header = &*(*tuple).t_data;
        let frozen = pg_sys::HEAP_XMIN_FROZEN as u16;
        if header.t_infomask & frozen == frozen {
            return pg_sys::FrozenTransactionId;
        }
        header.t_choice.t_heap.t_xmin
    }
}

/// The state of the table scan that compares rows with the index.
struct TableComparison {
    index: OpenIndex,
    keys: ClassKeys,
    filter: BloomFilter,
    posted: Posted,
    memory: pg_sys::MemoryContext,
}

/// Checks that the index has every row that the snapshot shows. `keys` must be the keys with which
/// `filter` was filled.
pub(super) fn compare(
    UserIndex { index, table, .. }: UserIndex,
    keys: ClassKeys,
    snapshot: Snapshot,
    filter: BloomFilter,
) -> Result<()> {
    let memory = PgMemoryContexts::new("neardup row of an index check");
    let mut comparison =
        TableComparison { index, keys, filter, posted: Posted::default(), memory: memory.value() };
    // SAFETY: the table of an open index; CREATE INDEX CONCURRENTLY does the same to learn which
    // rows a snapshot shows.
    unsafe {
        let scan = pg_sys::table_beginscan_strat(table, snapshot.0, 0, std::ptr::null_mut(), true, true);
        let info = pg_sys::BuildIndexInfo(index.relation());
        (*info).ii_Concurrent = true;
        let state: *mut c_void = (&raw mut comparison).cast();
        scan_table([table, index.relation()], info, false, compare_row, state, scan, None)?;
    }
    snapshot.release();
    Ok(())
}

unsafe extern "C-unwind" fn compare_row(
    _index: pg_sys::Relation,
    address: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    nulls: *mut bool,
    _alive: bool,
    state: *mut c_void,
) {
    // SAFETY: this is the outermost frame; the server gives one value of the index's only column,
    // the row's address, and our state.
    unsafe {
        guard(|| {
            let comparison = &mut *state.cast::<TableComparison>();
            row_of_scan(comparison.memory, address, values, nulls, |tid, value| comparison.row(tid, value))
        });
    }
}

impl TableComparison {
    /// # Safety
    /// `value` is of the type of the index's column.
    unsafe fn row(&mut self, tid: u64, value: Option<pg_sys::Datum>) -> Result<()> {
        let there = match value {
            None => self.filter.has(tid, NULL),
            Some(value) => {
                // SAFETY: the caller's promise.
                let StoredValue { flags, bytes } = unsafe { self.keys.keep(value)? };
                let item = Item { row: HeapRow::new(tid, flags), bytes: &bytes };
                let marks = RowMarks::new(&self.keys, &item, &mut self.posted);
                let is_split = marks.split.is_some_and(|mark| self.filter.has(tid, mark));
                marks.row.is_none_or(|mark| is_split || self.filter.has(tid, mark))
                    && marks.signatures.iter().all(|&signature| self.filter.has(tid, signature))
            }
        };
        if there {
            return Ok(());
        }
        let (name, block, offset) = (self.index.name(), tid >> 16, tid & 0xffff);
        let message = format!("row ({block},{offset}) of the table is missing in index \"{name}\"");
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_INDEX_CORRUPTED, message)
            .hint(format!("Please REINDEX it: REINDEX INDEX {};", self.index.quoted())))
    }
}
