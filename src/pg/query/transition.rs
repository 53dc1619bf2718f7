//! The rows that a statement changed, as the server stores them for its triggers (transition
//! tables).

use std::ffi::c_int;

use pgrx::pg_sys::{self, Datum};

use crate::pg::compat::attributes;
use crate::pg::server::error::catch;

unsafe extern "C-unwind" {
    fn datumIsEqual(a: Datum, b: Datum, by_value: bool, length: c_int) -> bool;
    fn datum_image_eq(a: Datum, b: Datum, by_value: bool, length: c_int) -> bool;
}

/// The rows of a transition table, in order.
pub(crate) struct TransitionRows {
    store: *mut pg_sys::Tuplestorestate,
    pointer: i32,
    slot: *mut pg_sys::TupleTableSlot,
    done: bool,
}

/// A row of a transition table, valid until the next row is read.
pub(crate) struct TransitionRow {
    slot: *mut pg_sys::TupleTableSlot,
}

impl TransitionRows {
    /// Starts at the first row. Returns `None` if `store` is null: the trigger has no such table.
    ///
    /// # Safety
    /// The store is null, or holds rows of the relation, which is open; the store and the relation
    /// live as long as this value.
    pub(crate) unsafe fn new(
        store: *mut pg_sys::Tuplestorestate,
        relation: pg_sys::Relation,
    ) -> Option<Self> {
        if store.is_null() {
            return None;
        }
        // SAFETY: the caller's promise. Other readers of the same store have their own read
        // pointers.
        unsafe {
            let pointer = pg_sys::tuplestore_alloc_read_pointer(store, pg_sys::EXEC_FLAG_REWIND as i32);
            pg_sys::tuplestore_select_read_pointer(store, pointer);
            pg_sys::tuplestore_rescan(store);
            let operations = &raw const pg_sys::TTSOpsMinimalTuple;
            let slot = pg_sys::MakeSingleTupleTableSlot((*relation).rd_att, operations);
            Some(Self { store, pointer, slot, done: false })
        }
    }

    /// Returns the next row, or `None` after the last row.
    pub(crate) fn next(&mut self) -> Option<TransitionRow> {
        // SAFETY: by the promise of `new`.
        unsafe {
            pg_sys::tuplestore_select_read_pointer(self.store, self.pointer);
            let got = pg_sys::tuplestore_gettupleslot(self.store, true, false, self.slot);
            self.done |= !got;
            got.then_some(TransitionRow { slot: self.slot })
        }
    }

    /// Reports whether there are no more rows, even if the end has not been read yet.
    pub(crate) fn is_done(&mut self) -> bool {
        self.done || self.next().is_none()
    }
}

impl Drop for TransitionRows {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: made by us, dropped once.
            unsafe { pg_sys::ExecDropSingleTupleTableSlot(self.slot) };
        }
    }
}

impl TransitionRow {
    /// Returns the value of the column with the number `number`, or `None` if it is NULL or is
    /// computed only when it is read.
    pub(crate) fn get(&self, number: i16) -> Option<Datum> {
        let mut null = false;
        // SAFETY: a row of a relation that has the column.
        let value = unsafe { pg_sys::slot_getattr(self.slot, number.into(), &raw mut null) };
        (!null).then_some(value)
    }

    /// Reports whether two rows have the same bytes in a column. Bytes are compared because a
    /// collation may treat different words as equal.
    pub(crate) fn same(a: &Self, b: &Self, number: i16) -> bool {
        match (a.get(number), b.get(number)) {
            (None, None) => true,
            (Some(left), Some(right)) => {
                // SAFETY: the column exists; its values are of its type.
                unsafe {
                    let attribute = &attributes((*a.slot).tts_tupleDescriptor)[number as usize - 1];
                    let (by_value, length) = (attribute.attbyval, attribute.attlen.into());
                    // If an out-of-line value is unchanged, both rows have the same pointer to it.
                    datumIsEqual(left, right, by_value, length)
                        || catch(|| datum_image_eq(left, right, by_value, length))
                            .unwrap_or_else(|error| error.raise())
                }
            }
            _ => false,
        }
    }
}
