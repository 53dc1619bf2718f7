//! Inserts: each row is appended to the pending pages.

use pgrx::{PgMemoryContexts, pg_sys};

use crate::pg::index::families::groups::IndexedRow;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::layout::meta::{Directory, tid_of};
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::index::storage::flush;
use crate::pg::index::storage::pending;
use crate::pg::server::error::Result;
use crate::pg::server::guard::guard;

/// `aminsert`
#[allow(clippy::too_many_arguments)] // The server defines the parameters.
pub(crate) unsafe extern "C-unwind" fn insert(
    relation: pg_sys::Relation,
    values: *mut pg_sys::Datum,
    nulls: *mut bool,
    address: pg_sys::ItemPointer,
    _heap: pg_sys::Relation,
    _unique: pg_sys::IndexUniqueCheck::Type,
    _unchanged: bool,
    _info: *mut pg_sys::IndexInfo,
) -> bool {
    // SAFETY: this is the outermost frame; the server gives one value of each column of the index,
    // and the row's address.
    unsafe {
        guard(|| {
            let mut memory = PgMemoryContexts::new("neardup row of an insert");
            memory.switch_to(|_| {
                let index = OpenIndex::new(relation);
                insert_row(index, IndexedRow::read(index, values, nulls), tid_of(&*address))
            })
        });
    }
    // The index does not check uniqueness.
    false
}

/// Appends a row to the pending pages: what the family keeps of its value, in one item or several.
///
/// # Safety
/// `values` are of the types of the index's columns.
unsafe fn insert_row(index: OpenIndex, values: IndexedRow, tid: u64) -> Result<()> {
    let (_, keys) = ClassKeys::read(index);
    // SAFETY: the caller's promise.
    let (row, bytes) = unsafe { keys.keep(tid, values)? };
    let (mut grown, mut known) = (false, Some(keys.meta));
    keys.items(row, &bytes, &mut |item| {
        let meta = known.take().unwrap_or_else(|| Directory::read(index).meta);
        grown |= pending::append(index, meta, item);
    })?;
    if grown { flush::after_insert(index) } else { Ok(()) }
}
