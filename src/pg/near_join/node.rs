//! The executor's node of a batch join, and what the planner and the executor know it by.

use std::ffi::{CStr, c_char, c_int};
use std::ptr;

use pgrx::{PgList, PgMemoryContexts, pg_sys};

use super::join_kind::JoinKind;
use super::key;
use super::row_identity::shown;
use super::state::{NearJoin, holds};
use super::work::JoinWork;
use crate::pg::query::decode::ColumnContent;
use crate::pg::server::error::{Result, catch};
use crate::pg::server::guard::guard;
use crate::pg::server::temp_file::Held;

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
    ExplainCustomScan: Some(explain),
    // SAFETY: functions, each of which may be missing.
    ..unsafe { std::mem::zeroed() }
});

/// The node: what the join reads, and the join once it has begun.
#[repr(C)]
struct Node {
    state: NearJoin,
    work: *mut Held<JoinWork>,
}

/// The numbers of the expressions of a plan. The value of a row and the document come first.
const BALL: i32 = 2;
const CONDITION: i32 = 3;
const OTHERS: i32 = 4;
const FILTERS: i32 = 5;
const KEYS: i32 = 6;
/// The place of the first key among the numbers of a plan.
const FIRST_KEY: i32 = 3;

/// Makes the node of a plan.
pub(super) unsafe extern "C-unwind" fn create(_plan: *mut pg_sys::CustomScan) -> *mut pg_sys::Node {
    // SAFETY: called by the server; all fields of the node may be zero but its tag and methods.
    unsafe {
        let node: *mut Node = pg_sys::palloc0(size_of::<Node>()).cast();
        let state = &raw mut (*node).state;
        (*state).scan.ss.ps.type_ = pg_sys::NodeTag::T_CustomScanState;
        (*state).scan.methods = &raw const NODE.0;
        (&raw mut (*state).kind).write(ColumnContent::Text);
        (&raw mut (*state).join).write(JoinKind::Inner);
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
            let parent: *mut pg_sys::PlanState = node.cast();
            let plan: *mut pg_sys::CustomScan = (*parent).plan.cast();
            let flags = flags & !(pg_sys::EXEC_FLAG_BACKWARD | pg_sys::EXEC_FLAG_MARK) as c_int;
            let expression = |n| pg_sys::list_nth((*plan).custom_exprs, n).cast::<pg_sys::Expr>();
            (*node).kind = ColumnContent::for_type(pg_sys::exprType(expression(0).cast()));
            (*node).ball = catch(|| ExecInitExpr(expression(BALL), parent))?;
            // Rows may have equal hashes and unequal keys.
            let keys = pg_sys::list_copy(expression(KEYS).cast());
            let others = pg_sys::list_concat(keys, expression(OTHERS).cast());
            (*node).others = catch(|| ExecInitQual(others, parent))?;
            (*node).filters = catch(|| ExecInitQual(expression(FILTERS).cast(), parent))?;
            let number = |n| pg_sys::list_nth_int((*plan).custom_private, n);
            (*node).join = JoinKind::numbered(number(0))?;
            (*parent).plan = shown(plan).cast();
            (*node).outer = usize::from(number(1) == 1);
            (*node).wanted = [true; 2];
            (*node).wanted[1 - (*node).outer] = number(2) == 1;
            let mut columns = 0;
            for side in 0..2 {
                let child = pg_sys::list_nth((*plan).custom_plans, side as i32).cast();
                let child = catch(|| ExecInitNode(child, state, flags))?;
                (*node).children[side] = child;
                let descriptor = (*child).ps_ResultTupleDesc;
                (*node).slots[side] =
                    pg_sys::ExecInitExtraTupleSlot(state, descriptor, &raw const pg_sys::TTSOpsMinimalTuple);
                (*node).before[side] = columns;
                columns += (*descriptor).natts as usize;
                (*node).documents[side] = catch(|| ExecInitExpr(expression(side as i32), parent))?;
            }
            let keys = PgList::<pg_sys::OpExpr>::from_pg(expression(KEYS).cast());
            for (key, n) in keys.iter_ptr().zip(FIRST_KEY..) {
                key::begin(node, key, number(n) == 1)?;
            }
            // EXPLAIN shows the sides in this order. In an inner join both are alike.
            let first = if (*node).join == JoinKind::Inner { 0 } else { (*node).outer };
            for side in [first, 1 - first] {
                (*node).scan.custom_ps =
                    pg_sys::lappend((*node).scan.custom_ps, (*node).children[side].cast());
            }
            Ok(())
        });
    }
}

/// Returns the next row of the join; an empty slot follows the last one.
///
/// # Safety
/// A node that the server has initialized.
unsafe fn next_row(node: *mut Node) -> Result<*mut pg_sys::TupleTableSlot> {
    // SAFETY: the caller's promise. The work lives in the memory of the query, and is dropped with
    // it if the node is not ended.
    unsafe {
        let state = &raw mut (*node).state;
        let work = match (*node).work.as_mut().and_then(|held| held.get()) {
            Some(work) => work,
            None => begun(node)?,
        };
        let row = (*state).scan.ss.ss_ScanTupleSlot;
        while let Some(candidate) = work.next()? {
            (*state).show_kept(candidate.tuples)?;
            if let Some(pair) = candidate.pair {
                if !holds((*state).others, state)? {
                    (*state).removed[0] += 1;
                    continue;
                }
                if !work.note(pair) {
                    continue;
                }
            }
            if holds((*state).filters, state)? {
                return Ok(row);
            }
            (*state).removed[1] += 1;
        }
        pg_sys::ExecClearTuple(row);
        Ok(row)
    }
}

/// Begins the join.
///
/// # Safety
/// As for [`next_row`].
unsafe fn begun<'a>(node: *mut Node) -> Result<&'a mut JoinWork> {
    // SAFETY: the caller's promise. What is held stays in the memory of the query, also for the
    // join of a further scan.
    unsafe {
        let state = &raw mut (*node).state;
        let query = (*(*state).scan.ss.ps.state).es_query_cxt;
        let mut memory = PgMemoryContexts::For(query);
        let work = memory.switch_to(|_| JoinWork::new(state))?;
        if (*node).work.is_null() {
            (*node).work = memory.leak_and_drop_on_delete(Held::empty());
        }
        Ok((*(*node).work).put(work))
    }
}

/// Ends the join, if it has begun.
///
/// # Safety
/// A node of `create`.
unsafe fn stop(node: *mut Node) {
    // SAFETY: the caller's promise; a work that this node made.
    unsafe {
        if !(*node).work.is_null()
            && let Some(work) = (*(*node).work).take()
        {
            let state = &mut (*node).state;
            state.candidates += work.candidates();
            state.memory = state.memory.max(work.memory);
        }
    }
}

unsafe extern "C-unwind" fn execute(node: *mut pg_sys::CustomScanState) -> *mut pg_sys::TupleTableSlot {
    // SAFETY: called by the server; this frame holds nothing that is dropped.
    unsafe { ExecScan(&raw mut (*node).ss, Some(next), Some(again)) }
}

unsafe extern "C-unwind" fn next(node: *mut pg_sys::ScanState) -> *mut pg_sys::TupleTableSlot {
    // SAFETY: called by the server with our node, which begins with this part.
    unsafe { guard(|| next_row(node.cast())) }
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
            stop(node.cast());
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
            stop(node.cast());
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
            let join = (*node.cast::<NearJoin>()).join;
            // As of other joins, the text of a plan names any kind but the usual one.
            if join != JoinKind::Inner || (*state).format != pg_sys::ExplainFormat::EXPLAIN_FORMAT_TEXT {
                pg_sys::ExplainPropertyText(c"Join Type".as_ptr(), join.name().as_ptr(), state);
            }
            let show = |label: &CStr, expression: *mut pg_sys::Node| {
                let text = pg_sys::deparse_expression(expression, context, true, false);
                pg_sys::ExplainPropertyText(label.as_ptr(), text, state);
            };
            show(c"Near Cond", pg_sys::list_nth((*plan).custom_exprs, CONDITION).cast());
            let filters = [
                (c"Key Cond", KEYS, None),
                (c"Join Filter", OTHERS, Some((c"Rows Removed by Join Filter", 0))),
                (c"Filter", FILTERS, Some((c"Rows Removed by Filter", 1))),
            ];
            let node: *mut Node = node.cast();
            let instrument = (*node).state.scan.ss.ps.instrument;
            let loops = if (*state).analyze && !instrument.is_null() { (*instrument).nloops } else { 0.0 };
            let is_analyzed = loops > 0.0;
            let count = |label: &CStr, unit: *const c_char, all: f64| {
                pg_sys::ExplainPropertyInteger(label.as_ptr(), unit, all.round() as i64, state);
            };
            for (label, conditions, removed) in filters {
                let conditions: *mut pg_sys::List = pg_sys::list_nth((*plan).custom_exprs, conditions).cast();
                if conditions.is_null() {
                    continue;
                }
                show(label, pg_sys::make_ands_explicit(conditions).cast());
                if let Some((label, n)) = removed.filter(|_| is_analyzed) {
                    count(label, ptr::null(), (*node).state.removed[n] as f64 / loops);
                }
            }
            if is_analyzed {
                let NearJoin { mut candidates, mut memory, .. } = (*node).state;
                if let Some(work) = (*node).work.as_mut().and_then(|held| held.get()) {
                    candidates += work.candidates();
                    memory = memory.max(work.memory);
                }
                count(c"Candidates", ptr::null(), candidates as f64 / loops);
                count(c"Memory", c"kB".as_ptr(), (memory as f64 / 1024.0).ceil());
            }
            Ok(())
        });
    }
}

/// The name of the node in plans.
pub(super) const NAME: &CStr = c"NearJoin";

/// Methods that the server only reads.
pub(super) struct Methods<T>(pub T);
// SAFETY: nothing in it changes, and the name is a constant.
unsafe impl<T> Sync for Methods<T> {}
