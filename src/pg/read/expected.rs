//! How much more data is to come than was read, for the message of a call that needs more memory.
//!
//! The planner knows the number of rows only if the tables were analysed, and one document may be
//! longer than all others together. So the size of the tables says how much there is at most: what
//! was read of them is counted as they store it.

use pgrx::pg_sys::{self, Datum};
use pgrx::{IntoDatum, direct_function_call};

use crate::pg::query::catalog::class;
use crate::pg::query::cursor::OpenCursor;

/// The bytes of a row that are not in its values: its header, its pointer, and its id.
const ROW: usize = 36;

/// The size of the tables of a query.
struct TableSizes {
    bytes: f64,
    /// Set if the planner knows how many rows they have.
    are_analysed: bool,
    /// Set if all of them are stored here.
    are_here: bool,
}

/// Returns how many times the data that a query returns is what was read: `rows`, with so many
/// `bytes` as they are stored. `from` is the relation that the query names.
pub(super) fn times_read<const N: usize>(
    cursor: &OpenCursor<N>,
    from: pg_sys::Oid,
    rows: usize,
    bytes: usize,
) -> f64 {
    let by_rows = cursor.expected_rows() / rows.max(1) as f64;
    let mut tables = TableSizes { bytes: 0.0, are_analysed: true, are_here: true };
    cursor.for_each_relation(|oid| tables.add(oid));
    // A view may return more than its tables store.
    let is_view = !matches!(kind(from), b'r' | b'p' | b'm');
    if !tables.are_here || is_view && tables.are_analysed {
        return by_rows;
    }
    by_rows.min(tables.bytes / (bytes + ROW * rows).max(1) as f64)
}

/// Returns the number of bytes that a value takes where it is stored.
///
/// # Safety
/// The value is of variable length.
pub(super) unsafe fn stored_bytes(value: Datum) -> usize {
    // SAFETY: the caller's promise.
    unsafe { pg_sys::toast_datum_size(value) }
}

fn kind(relation: pg_sys::Oid) -> u8 {
    // SAFETY: any OID may be looked up.
    unsafe { pg_sys::get_rel_relkind(relation).cast_unsigned() }
}

impl TableSizes {
    /// Adds a relation that a query reads.
    fn add(&mut self, relation: pg_sys::Oid) {
        match kind(relation) {
            // A view, or the parent of partitions, stores nothing itself.
            b'v' | b'p' => {}
            b'r' | b'm' | b't' => {
                // SAFETY: the relation is locked by the query; nothing is returned if it is gone.
                let bytes: Option<i64> =
                    unsafe { direct_function_call(pg_sys::pg_table_size, &[relation.into_datum()]) };
                self.bytes += bytes.unwrap_or_default() as f64;
                self.are_analysed &= class(relation, |row| row.reltuples).is_some_and(|rows| rows >= 0.0);
            }
            _ => self.are_here = false,
        }
    }
}
