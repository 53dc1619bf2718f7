//! Reads and writes rows of tables by the OID of the table. SQL text would need the name of the
//! table, which the owner of the schema can change between two lookups. When a user writes to a
//! table that a job watches, a trigger notes the changes by this code, and the user's write must
//! not fail because of a rename.

use pgrx::pg_sys::{self, Datum, Oid};

use crate::pg::compat;
use crate::pg::server::call::declared_otherwise;
use crate::pg::server::error::Result;

/// Inserts rows into a table that has no triggers, policies or computed columns.
pub(crate) struct Inserter {
    relation: pg_sys::Relation,
    state: *mut pg_sys::EState,
    result: *mut pg_sys::ResultRelInfo,
    slot: *mut pg_sys::TupleTableSlot,
}

impl Inserter {
    /// Prepares to insert into a table that is locked for this.
    pub(crate) fn new(table: Oid) -> Self {
        // SAFETY: a locked table cannot be dropped; everything is released in drop, or by the
        // server after an error. The table is not part of a query, so an error about a row names no
        // columns.
        unsafe {
            let relation = pg_sys::table_open(table, pg_sys::NoLock as i32);
            let state = pg_sys::CreateExecutorState();
            let result: *mut pg_sys::ResultRelInfo =
                pg_sys::palloc0(size_of::<pg_sys::ResultRelInfo>()).cast();
            (*result).type_ = pg_sys::NodeTag::T_ResultRelInfo;
            pg_sys::InitResultRelInfo(result, relation, 0, std::ptr::null_mut(), 0);
            pg_sys::ExecOpenIndices(result, false);
            let operations = &raw const pg_sys::TTSOpsVirtual;
            let slot = pg_sys::MakeSingleTupleTableSlot((*relation).rd_att, operations);
            Self { relation, state, result, slot }
        }
    }

    /// Inserts a row. Further columns, which may have been dropped, are NULL.
    ///
    /// # Safety
    /// The table begins with these columns, and the values have their types.
    pub(crate) unsafe fn insert<const N: usize>(&mut self, row: [Option<Datum>; N]) {
        // SAFETY: the caller's promise; a slot has room for all columns of the table.
        unsafe {
            if let Some(clear) = (*(*self.slot).tts_ops).clear {
                clear(self.slot);
            }
            let count = (*(*self.relation).rd_att).natts as usize;
            for (column, value) in row.into_iter().chain(std::iter::repeat(None)).take(count).enumerate() {
                *(*self.slot).tts_values.add(column) = value.unwrap_or(Datum::null());
                *(*self.slot).tts_isnull.add(column) = value.is_none();
            }
            pg_sys::ExecStoreVirtualTuple(self.slot);
            pg_sys::ExecSimpleRelationInsert(self.result, self.state, self.slot);
            let context = (*self.state).es_per_tuple_exprcontext;
            if !context.is_null() {
                pg_sys::MemoryContextReset((*context).ecxt_per_tuple_memory);
            }
        }
    }
}

impl Drop for Inserter {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: made by us, released once.
            unsafe {
                pg_sys::ExecCloseIndices(self.result);
                pg_sys::ExecDropSingleTupleTableSlot(self.slot);
                pg_sys::FreeExecutorState(self.state);
                pg_sys::relation_close(self.relation, pg_sys::NoLock as i32);
            }
        }
    }
}

/// Calls `read` with the first `N` columns of the row whose primary key is `key`. The row is in its
/// current state, even if the transaction's snapshot shows another state. Returns `None` if there
/// is no such row. Columns after the first `least`, which another version of the extension may not
/// have, are NULL if they are missing.
///
/// # Safety
/// The table is locked, none of its first `N` columns was dropped, and the first one is its primary
/// key, an `oid`. The values are valid only within the call.
pub(crate) unsafe fn read<const N: usize, T>(
    table: Oid,
    key: Oid,
    least: usize,
    read: impl FnOnce([Option<Datum>; N]) -> Result<T>,
) -> Result<Option<T>> {
    // SAFETY: the caller's promise. After an error the server closes what was opened.
    unsafe {
        let relation = pg_sys::table_open(table, pg_sys::NoLock as i32);
        // Another version of the extension may have more columns, or fewer.
        let columns = (*(*relation).rd_att).natts as usize;
        if columns < least {
            let message = format!("a table of the extension has {columns} columns, and should have {least}");
            return Err(declared_otherwise(message));
        }
        let mut wanted = pg_sys::ScanKeyData::default();
        let (equals, key) = (Oid::from(pg_sys::F_OIDEQ), Datum::from(key));
        pg_sys::ScanKeyInit(&raw mut wanted, 1, pg_sys::BTEqualStrategyNumber as u16, equals, key);
        let index = compat::primary_key(relation);
        // Rows of a catalog can be read in their current state without a new snapshot, which a
        // parallel plan does not allow.
        let snapshot = if table.to_u32() < pg_sys::FirstNormalObjectId {
            std::ptr::null_mut()
        } else {
            pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot())
        };
        let has_index = index != pg_sys::InvalidOid;
        let scan = pg_sys::systable_beginscan(relation, index, has_index, snapshot, 1, &raw mut wanted);
        let tuple = pg_sys::systable_getnext(scan);
        let found = (!tuple.is_null()).then(|| {
            let (mut values, mut nulls) = (vec![Datum::null(); columns], vec![true; columns]);
            pg_sys::heap_deform_tuple(tuple, (*relation).rd_att, values.as_mut_ptr(), nulls.as_mut_ptr());
            read(std::array::from_fn(|column| (nulls.get(column) == Some(&false)).then(|| values[column])))
        });
        pg_sys::systable_endscan(scan);
        if !snapshot.is_null() {
            pg_sys::UnregisterSnapshot(snapshot);
        }
        pg_sys::relation_close(relation, pg_sys::NoLock as i32);
        found.transpose()
    }
}
