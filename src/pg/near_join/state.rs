//! The state of a batch join: its two sides, and the expressions that are evaluated on its rows.

use std::ffi::c_int;
use std::ptr;

use pgrx::pg_sys;

use super::join_kind::JoinKind;
use crate::pg::query::decode::ColumnContent;
use crate::pg::server::contexts::in_context;
use crate::pg::server::error::{Result, catch};

// Columns may have to be unpacked, so errors must be returned with all details.
unsafe extern "C-unwind" {
    fn slot_getsomeattrs_int(slot: *mut pg_sys::TupleTableSlot, attributes: c_int);
}

/// The server's part of a node, and what the join reads. Arrays have the side of the rows first,
/// and then that of the balls' documents.
#[repr(C)]
pub(super) struct NearJoin {
    /// The server's part of the node.
    pub scan: pg_sys::CustomScanState,
    /// The plans of the sides.
    pub children: [*mut pg_sys::PlanState; 2],
    /// The documents of a row of each side.
    pub documents: [*mut pg_sys::ExprState; 2],
    /// A ball around a placeholder document.
    pub ball: *mut pg_sys::ExprState,
    /// The kind of documents.
    pub kind: ColumnContent,
    /// The kind of the join.
    pub join: JoinKind,
    /// The number of the outer side.
    pub outer: usize,
    /// The sides whose rows are wanted after their documents have been read.
    pub wanted: [bool; 2],
    /// The equalities that are the key of groups, each a [`super::key::Equality`], or null.
    pub keys: *mut pg_sys::List,
    /// The other conditions that say which rows match, or null.
    pub others: *mut pg_sys::ExprState,
    /// The conditions on the rows of the join, or null.
    pub filters: *mut pg_sys::ExprState,
    /// For each side, a slot for a row that was kept, and the number of columns before those of
    /// the side.
    pub slots: [*mut pg_sys::TupleTableSlot; 2],
    pub before: [usize; 2],
    /// For EXPLAIN ANALYZE: the pairs of distinct documents that earlier scans compared, their
    /// memory, and the rows that the other conditions and the filters removed.
    pub candidates: u64,
    pub memory: u64,
    pub removed: [u64; 2],
}

impl NearJoin {
    /// Makes the row of the join of a row of one side; the columns of the other side are NULL.
    ///
    /// # Safety
    /// A node that the server has initialized, and a slot with a row of the side.
    pub(super) unsafe fn show(&mut self, side: usize, slot: *mut pg_sys::TupleTableSlot) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            let row = self.begin_row();
            self.put(side, slot)?;
            pg_sys::ExecStoreVirtualTuple(row);
            (*self.scan.ss.ps.ps_ExprContext).ecxt_scantuple = row;
            Ok(())
        }
    }

    /// Makes the row of the join of rows that were kept; the columns of a side without one are
    /// NULL.
    ///
    /// # Safety
    /// A node that the server has initialized, and tuples of its sides.
    pub(super) unsafe fn show_kept(&mut self, tuples: [Option<pg_sys::MinimalTuple>; 2]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            let row = self.begin_row();
            for (side, tuple) in tuples.into_iter().enumerate() {
                if let Some(tuple) = tuple {
                    let slot = self.slots[side];
                    pg_sys::ExecStoreMinimalTuple(tuple, slot, false);
                    self.put(side, slot)?;
                }
            }
            pg_sys::ExecStoreVirtualTuple(row);
            Ok(())
        }
    }

    /// Empties the row of the join. Until they are put into it, its columns are NULL.
    ///
    /// # Safety
    /// A node that the server has initialized.
    unsafe fn begin_row(&mut self) -> *mut pg_sys::TupleTableSlot {
        // SAFETY: the caller's promise.
        unsafe {
            let row = self.scan.ss.ss_ScanTupleSlot;
            pg_sys::ExecClearTuple(row);
            let all = (*(*row).tts_tupleDescriptor).natts as usize;
            std::slice::from_raw_parts_mut((*row).tts_isnull, all).fill(true);
            row
        }
    }

    /// Puts the columns of one side into the row of the join, which is empty.
    ///
    /// # Safety
    /// As for [`NearJoin::show`].
    unsafe fn put(&mut self, side: usize, slot: *mut pg_sys::TupleTableSlot) -> Result<()> {
        // SAFETY: the caller's promise; the row of the join has the columns of both sides.
        unsafe {
            unfold(slot)?;
            let row = self.scan.ss.ss_ScanTupleSlot;
            let (before, count) = (self.before[side], (*(*slot).tts_tupleDescriptor).natts as usize);
            ptr::copy_nonoverlapping((*slot).tts_values, (*row).tts_values.add(before), count);
            ptr::copy_nonoverlapping((*slot).tts_isnull, (*row).tts_isnull.add(before), count);
            Ok(())
        }
    }
}

/// Reports whether the row of the join satisfies conditions, which may be null.
///
/// # Safety
/// A node that the server has initialized, with a row, and conditions of it.
pub(super) unsafe fn holds(conditions: *mut pg_sys::ExprState, node: *mut NearJoin) -> Result<bool> {
    // SAFETY: the caller's promise; a condition gives a bool.
    unsafe {
        if conditions.is_null() {
            return Ok(true);
        }
        let context = (*node).scan.ss.ps.ps_ExprContext;
        (*context).ecxt_scantuple = (*node).scan.ss.ss_ScanTupleSlot;
        pg_sys::MemoryContextReset((*context).ecxt_per_tuple_memory);
        Ok(evaluate(conditions, node)?.is_some_and(|holds| holds.value() != 0))
    }
}

/// Evaluates an expression of a node on its row of the join, in the memory of a row. Returns None
/// for NULL.
///
/// # Safety
/// A node that the server has initialized, and an expression of it.
pub(super) unsafe fn evaluate(
    expression: *mut pg_sys::ExprState,
    node: *mut NearJoin,
) -> Result<Option<pg_sys::Datum>> {
    // SAFETY: the caller's promise; the memory context is set back, and by the server after an
    // error.
    unsafe {
        let context = (*node).scan.ss.ps.ps_ExprContext;
        let mut null = false;
        let value = (*expression).evalfunc.map(|evaluate| {
            let evaluate = || catch(|| evaluate(expression, context, &raw mut null));
            in_context((*context).ecxt_per_tuple_memory, evaluate)
        });
        Ok(value.transpose()?.filter(|_| !null))
    }
}

/// Reads all attributes of a slot into its arrays.
///
/// # Safety
/// A slot with a row.
unsafe fn unfold(slot: *mut pg_sys::TupleTableSlot) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        let all = (*(*slot).tts_tupleDescriptor).natts;
        if i32::from((*slot).tts_nvalid) < all {
            catch(|| slot_getsomeattrs_int(slot, all))?;
        }
        Ok(())
    }
}
