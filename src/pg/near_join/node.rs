//! The executor's node of a batch join.

use std::ffi::{CStr, c_int};
use std::ptr;

use pgrx::{PgMemoryContexts, pg_sys};

use super::path::{Methods, NAME};
use super::work::{Work, evaluate, unfold};
use crate::pg::query::decode::Kind;
use crate::pg::server::error::{Result, catch};
use crate::pg::server::guard::guard;
use crate::pg::server::held::Held;

// These run user-defined code or initialize it; errors must be returned with all details.
unsafe extern "C-unwind" {
    fn ExecInitNode(
        plan: *mut pg_sys::Plan,
        state: *mut pg_sys::EState,
        flags: c_int,
    ) -> *mut pg_sys::PlanState;
    fn ExecInitExpr(expression: *mut pg_sys::Expr, parent: *mut pg_sys::PlanState) -> *mut pg_sys::ExprState;
    fn ExecInitQual(qual: *mut pg_sys::List, parent: *mut pg_sys::PlanState) -> *mut pg_sys::ExprState;
    fn ExecEndNode(node: *mut pg_sys::PlanState);
    fn ExecReScan(node: *mut pg_sys::PlanState);
    fn ExecScan(
        node: *mut pg_sys::ScanState,
        next: pg_sys::ExecScanAccessMtd,
        again: pg_sys::ExecScanRecheckMtd,
    ) -> *mut pg_sys::TupleTableSlot;
    fn ExecScanReScan(node: *mut pg_sys::ScanState);
}

static NODE: Methods<pg_sys::CustomExecMethods> = Methods(pg_sys::CustomExecMethods {
    CustomName: NAME.as_ptr(),
    BeginCustomScan: Some(begin),
    ExecCustomScan: Some(execute),
    EndCustomScan: Some(end),
    ReScanCustomScan: Some(rescan),
    MarkPosCustomScan: None,
    RestrPosCustomScan: None,
    EstimateDSMCustomScan: None,
    InitializeDSMCustomScan: None,
    ReInitializeDSMCustomScan: None,
    InitializeWorkerCustomScan: None,
    ShutdownCustomScan: None,
    ExplainCustomScan: Some(explain),
});

/// The node. Arrays have the side of the rows first, and then that of the balls' documents.
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
    pub kind: Kind,
    /// The other conditions of the join, or null.
    others: *mut pg_sys::ExprState,
    /// For each side, a slot for a row that was kept, and the number of columns before those of
    /// the side.
    slots: [*mut pg_sys::TupleTableSlot; 2],
    before: [usize; 2],
    /// The join, once it has begun.
    work: *mut Held<Work>,
}

/// The numbers of the expressions of a plan. The value of a row and the document come first.
const BALL: i32 = 2;
const CONDITION: i32 = 3;
const OTHERS: i32 = 4;

/// Makes the node of a plan.
pub(super) unsafe extern "C-unwind" fn create(_plan: *mut pg_sys::CustomScan) -> *mut pg_sys::Node {
    // SAFETY: called by the server; all fields of the node may be zero but its tag and methods.
    unsafe {
        let node: *mut NearJoin = pg_sys::palloc0(size_of::<NearJoin>()).cast();
        (*node).scan.ss.ps.type_ = pg_sys::NodeTag::T_CustomScanState;
        (*node).scan.methods = &raw const NODE.0;
        (&raw mut (*node).kind).write(Kind::Text);
        node.cast()
    }
}

unsafe extern "C-unwind" fn begin(
    node: *mut pg_sys::CustomScanState,
    state: *mut pg_sys::EState,
    flags: c_int,
) {
    // SAFETY: called by the server with a node of `create` and a plan of `path`.
    unsafe {
        guard(|| {
            let node: *mut NearJoin = node.cast();
            let parent = &raw mut (*node).scan.ss.ps;
            let plan: *mut pg_sys::CustomScan = (*parent).plan.cast();
            let flags = flags & !(pg_sys::EXEC_FLAG_BACKWARD | pg_sys::EXEC_FLAG_MARK) as c_int;
            let expression = |n| pg_sys::list_nth((*plan).custom_exprs, n).cast::<pg_sys::Expr>();
            (*node).kind = Kind::of(pg_sys::exprType(expression(0).cast()));
            (*node).ball = catch(|| ExecInitExpr(expression(BALL), parent))?;
            (*node).others = catch(|| ExecInitQual(expression(OTHERS).cast(), parent))?;
            let mut columns = 0;
            for side in 0..2 {
                let child = pg_sys::list_nth((*plan).custom_plans, side as i32).cast();
                let child = catch(|| ExecInitNode(child, state, flags))?;
                (*node).children[side] = child;
                (*node).scan.custom_ps = pg_sys::lappend((*node).scan.custom_ps, child.cast());
                let descriptor = (*child).ps_ResultTupleDesc;
                (*node).slots[side] =
                    pg_sys::ExecInitExtraTupleSlot(state, descriptor, &raw const pg_sys::TTSOpsMinimalTuple);
                (*node).before[side] = columns;
                columns += (*descriptor).natts as usize;
                (*node).documents[side] = catch(|| ExecInitExpr(expression(side as i32), parent))?;
            }
            Ok(())
        });
    }
}

impl NearJoin {
    /// Makes the row of the join of a row of one side; the columns of the other side are NULL.
    ///
    /// # Safety
    /// A node that the server has initialized, and a slot with a row of the side.
    pub(super) unsafe fn show(&mut self, side: usize, slot: *mut pg_sys::TupleTableSlot) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe {
            let row = self.scan.ss.ss_ScanTupleSlot;
            pg_sys::ExecClearTuple(row);
            let all = (*(*row).tts_tupleDescriptor).natts as usize;
            std::slice::from_raw_parts_mut((*row).tts_isnull, all).fill(true);
            self.put(side, slot)?;
            pg_sys::ExecStoreVirtualTuple(row);
            (*self.scan.ss.ps.ps_ExprContext).ecxt_scantuple = row;
            Ok(())
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

    /// Returns the next row of the join; an empty slot follows the last one.
    ///
    /// # Safety
    /// A node that the server has initialized.
    unsafe fn next(&mut self) -> Result<*mut pg_sys::TupleTableSlot> {
        // SAFETY: the caller's promise. The work lives in the memory of the query, and is dropped
        // with it if the node is not ended.
        unsafe {
            if self.work.is_null() {
                let mut memory = PgMemoryContexts::For((*self.scan.ss.ps.state).es_query_cxt);
                let node: *mut Self = self;
                let work = memory.switch_to(|_| Work::new(node))?;
                self.work = memory.leak_and_drop_on_delete(Held::new(work));
            }
            let row = self.scan.ss.ss_ScanTupleSlot;
            pg_sys::ExecClearTuple(row);
            let Some(work) = (*self.work).get() else { return Ok(row) };
            while let Some(tuples) = work.next()? {
                for (side, tuple) in tuples.into_iter().enumerate() {
                    pg_sys::ExecStoreMinimalTuple(tuple, self.slots[side], false);
                    self.put(side, self.slots[side])?;
                }
                pg_sys::ExecStoreVirtualTuple(row);
                if self.others_hold()? {
                    break;
                }
                pg_sys::ExecClearTuple(row);
            }
            Ok(row)
        }
    }

    /// Reports whether the row of the join satisfies the other conditions.
    ///
    /// # Safety
    /// A node that the server has initialized, with a row.
    unsafe fn others_hold(&mut self) -> Result<bool> {
        if self.others.is_null() {
            return Ok(true);
        }
        let node: *mut Self = self;
        // SAFETY: the caller's promise; a condition gives a bool.
        unsafe {
            let context = self.scan.ss.ps.ps_ExprContext;
            (*context).ecxt_scantuple = self.scan.ss.ss_ScanTupleSlot;
            pg_sys::MemoryContextReset((*context).ecxt_per_tuple_memory);
            Ok(evaluate(self.others, node)?.is_some_and(|holds| holds.value() != 0))
        }
    }

    /// Ends the join, if it has begun.
    fn stop(&mut self) {
        if !self.work.is_null() {
            // SAFETY: a work that this node made.
            drop(unsafe { (*self.work).take() });
            self.work = ptr::null_mut();
        }
    }
}

unsafe extern "C-unwind" fn execute(node: *mut pg_sys::CustomScanState) -> *mut pg_sys::TupleTableSlot {
    // SAFETY: called by the server; this frame holds nothing that is dropped.
    unsafe { ExecScan(&raw mut (*node).ss, Some(next), Some(again)) }
}

unsafe extern "C-unwind" fn next(node: *mut pg_sys::ScanState) -> *mut pg_sys::TupleTableSlot {
    // SAFETY: called by the server with our node, which begins with this part.
    unsafe { guard(|| (*node.cast::<NearJoin>()).next()) }
}

/// Called in place of [`next`] when a row that was locked has changed: both sides then have one row
/// each, and the join is made of these.
unsafe extern "C-unwind" fn again(node: *mut pg_sys::ScanState, _row: *mut pg_sys::TupleTableSlot) -> bool {
    // SAFETY: as for `next`.
    unsafe { u32::from((*next(node)).tts_flags) & pg_sys::TTS_FLAG_EMPTY == 0 }
}

unsafe extern "C-unwind" fn end(node: *mut pg_sys::CustomScanState) {
    // SAFETY: called by the server with a node of `create` that began.
    unsafe {
        guard(|| {
            let node: *mut NearJoin = node.cast();
            (*node).stop();
            for child in (*node).children {
                catch(|| ExecEndNode(child))?;
            }
            Ok(())
        });
    }
}

unsafe extern "C-unwind" fn rescan(node: *mut pg_sys::CustomScanState) {
    // SAFETY: as for `end`.
    unsafe {
        guard(|| {
            let node: *mut NearJoin = node.cast();
            (*node).stop();
            catch(|| ExecScanReScan(&raw mut (*node).scan.ss))?;
            let changed = (*node).scan.ss.ps.chgParam;
            for child in (*node).children {
                if !changed.is_null() {
                    pg_sys::UpdateChangedParamSet(child, changed);
                }
                // A child whose parameters have changed begins again when it is read.
                if (*child).chgParam.is_null() {
                    catch(|| ExecReScan(child))?;
                }
            }
            Ok(())
        });
    }
}

unsafe extern "C-unwind" fn explain(
    node: *mut pg_sys::CustomScanState,
    ancestors: *mut pg_sys::List,
    state: *mut pg_sys::ExplainState,
) {
    // SAFETY: called by the server with a node of `create`.
    unsafe {
        guard(|| {
            let plan: *mut pg_sys::CustomScan = (*node).ss.ps.plan.cast();
            let context = pg_sys::set_deparse_context_plan((*state).deparse_cxt, plan.cast(), ancestors);
            let show = |label: &CStr, expression: *mut pg_sys::Node| {
                let text = pg_sys::deparse_expression(expression, context, true, false);
                pg_sys::ExplainPropertyText(label.as_ptr(), text, state);
            };
            show(c"Near Cond", pg_sys::list_nth((*plan).custom_exprs, CONDITION).cast());
            let others: *mut pg_sys::List = pg_sys::list_nth((*plan).custom_exprs, OTHERS).cast();
            if !others.is_null() {
                show(c"Join Filter", pg_sys::make_ands_explicit(others).cast());
            }
            Ok(())
        });
    }
}
