//! What a call of a comparison costs, in operators of the planner: it grows with the lengths of the
//! values, so that a scan of short names is not taken for one of long articles.
//!
//! The numbers were measured on names of 40 bytes and articles of 300 and 3,000 bytes, and compared
//! with what a scan costs in the planner's units.

use pgrx::pg_sys;

use super::call::BallCall;
use crate::pg::query::nodes::{call_of, columns_in};

/// The length that is assumed of values without statistics, in bytes.
const UNKNOWN: f64 = 500.0;

/// Answers the planner's question what a call costs. Returns false if it is no comparison.
///
/// # Safety
/// A request of the planner.
pub(crate) unsafe fn answer(request: *mut pg_sys::SupportRequestCost) -> bool {
    // SAFETY: the caller's promise; a node of a tag is of its type.
    unsafe {
        let node = (*request).node;
        if node.is_null() {
            return false;
        }
        let Some((_, arguments, _)) = call_of(node) else { return false };
        let Some(operators) = of_comparison((*request).root, arguments) else { return false };
        (*request).startup = 0.0;
        (*request).per_tuple = operators * pg_sys::cpu_operator_cost;
        true
    }
}

/// Returns the price of comparing a value with a ball, the arguments of an operator or a function.
/// The ball of a constant is prepared once, other balls for each call.
///
/// # Safety
/// The planner's state, or null, and the arguments of an expression of it.
pub(crate) unsafe fn of_comparison(
    root: *mut pg_sys::PlannerInfo,
    arguments: *mut pg_sys::List,
) -> Option<f64> {
    // SAFETY: the caller's promise; pull_varnos takes what the planner has.
    unsafe {
        let call = BallCall::parse(arguments)?;
        let of_value = 30.0 + 2.0 * length(root, call.row);
        let is_stable = !root.is_null() && pg_sys::pull_varnos(root, call.ball).is_null();
        Some(if is_stable { of_value } else { of_value + 600.0 + 2.0 * length(root, call.ball) })
    }
}

/// Returns the price of a document in a join of two sets of documents.
///
/// # Safety
/// As for [`of_comparison`].
pub(crate) unsafe fn of_joined(root: *mut pg_sys::PlannerInfo, document: *mut pg_sys::Node) -> f64 {
    // SAFETY: the caller's promise.
    unsafe { 500.0 + 2.5 * length(root, document) }
}

/// Returns the length that an expression is expected to have: that of the columns in it, or of a
/// constant.
///
/// # Safety
/// As for [`of_comparison`].
unsafe fn length(root: *mut pg_sys::PlannerInfo, node: *mut pg_sys::Node) -> f64 {
    // SAFETY: the caller's promise; a node of this tag is of this type.
    unsafe {
        if (*node).type_ == pg_sys::NodeTag::T_Const {
            let constant: *const pg_sys::Const = node.cast();
            let is_long = !(*constant).constisnull && (*constant).constlen == -1;
            return if is_long {
                pgrx::varsize_any((*constant).constvalue.cast_mut_ptr()) as f64
            } else {
                8.0
            };
        }
        if root.is_null() {
            return UNKNOWN;
        }
        let variables = columns_in(node);
        if variables.is_empty() {
            return UNKNOWN;
        }
        variables.iter_ptr().map(|variable| of_column(root, variable.cast())).sum()
    }
}

/// Returns the mean length of a column.
///
/// # Safety
/// As for [`of_comparison`].
unsafe fn of_column(root: *mut pg_sys::PlannerInfo, variable: *const pg_sys::Var) -> f64 {
    // SAFETY: the caller's promise; the array has this many entries.
    unsafe {
        let Ok(relation) = usize::try_from((*variable).varno) else { return UNKNOWN };
        if relation >= (*root).simple_rel_array_size as usize || (*root).simple_rte_array.is_null() {
            return UNKNOWN;
        }
        let entry = *(*root).simple_rte_array.add(relation);
        if entry.is_null() || (*entry).rtekind != pg_sys::RTEKind::RTE_RELATION {
            return UNKNOWN;
        }
        let width = pg_sys::get_attavgwidth((*entry).relid, (*variable).varattno);
        if width > 0 { f64::from(width) } else { UNKNOWN }
    }
}
