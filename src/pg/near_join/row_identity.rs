//! How EXPLAIN shows the columns by which UPDATE and DELETE find the rows of a table with
//! partitions.
//!
//! In plans, these columns are no columns of a table, and the server cannot name them as columns of
//! a scan. It names them as the plan below does, by those of the first partition.

use std::ptr;

use pgrx::{PgList, pg_sys};

/// Returns a plan to show in place of a plan, or the plan itself if it has no such columns.
///
/// # Safety
/// A plan of a batch join that is ready to be executed. The result lives in the current memory
/// context.
pub(super) unsafe fn shown(plan: *mut pg_sys::CustomScan) -> *mut pg_sys::CustomScan {
    // SAFETY: the caller's promise. The plan is not changed, as it may be executed again: its copy
    // shares all but the list of columns.
    unsafe {
        let columns = PgList::<pg_sys::TargetEntry>::from_pg((*plan).custom_scan_tlist);
        if !columns.iter_ptr().any(|entry| is_of_rows((*entry).expr.cast())) {
            return plan;
        }
        let mut all = ptr::null_mut();
        for (entry, place) in columns.iter_ptr().zip(1..) {
            let entry: *mut pg_sys::TargetEntry = pg_sys::copyObjectImpl(entry.cast()).cast();
            if is_of_rows((*entry).expr.cast()) {
                (*entry).expr = below(plan.cast(), place, (*entry).expr);
            }
            all = pg_sys::lappend(all, entry.cast());
        }
        let copy: *mut pg_sys::CustomScan = pg_sys::palloc(size_of::<pg_sys::CustomScan>()).cast();
        ptr::copy_nonoverlapping(plan, copy, 1);
        (*copy).custom_scan_tlist = all;
        copy
    }
}

/// Reports whether an expression is a column by which rows are found.
///
/// # Safety
/// An expression of a plan.
unsafe fn is_of_rows(expression: *mut pg_sys::Node) -> bool {
    // SAFETY: the caller's promise; a node of this tag is of this type.
    unsafe {
        (*expression).type_ == pg_sys::NodeTag::T_Var
            && (*expression.cast::<pg_sys::Var>()).varno == pg_sys::ROWID_VAR
    }
}

/// Returns the column of a table that the plans below have in place of a column of a batch join, or
/// NULL if they have none.
///
/// # Safety
/// A plan of a batch join, one of its columns, and the number of the column.
unsafe fn below(plan: *mut pg_sys::Plan, mut place: i32, column: *mut pg_sys::Expr) -> *mut pg_sys::Expr {
    let mut plan = plan;
    let mut from = pg_sys::INDEX_VAR;
    // SAFETY: the caller's promise; a node of a tag is of its type.
    unsafe {
        while let Some((next, number)) = source(plan, place, from) {
            let entry = pg_sys::list_nth((*next).targetlist, number - 1).cast::<pg_sys::TargetEntry>();
            let expression = (*entry).expr;
            if (*expression).type_ != pg_sys::NodeTag::T_Var {
                break;
            }
            let variable = expression.cast::<pg_sys::Var>();
            if (*variable).varno > 0 {
                return expression;
            }
            (plan, place, from) = (next, i32::from((*variable).varattno), (*variable).varno);
        }
        let kind = pg_sys::exprType(column.cast());
        pg_sys::makeNullConst(kind, -1, pg_sys::Oid::INVALID).cast()
    }
}

/// Returns the plan that a column of a plan comes from, and the number of the column there.
///
/// # Safety
/// A plan, and the number of a column, `from` the rows of a batch join, or the plan below on the
/// left or on the right.
unsafe fn source(plan: *mut pg_sys::Plan, place: i32, from: i32) -> Option<(*mut pg_sys::Plan, i32)> {
    // SAFETY: the caller's promise; a node of a tag is of its type.
    unsafe {
        let below = match (*plan).type_ {
            pg_sys::NodeTag::T_CustomScan if from == pg_sys::INDEX_VAR => {
                let mut place = place;
                let sides =
                    PgList::<pg_sys::Plan>::from_pg((*plan.cast::<pg_sys::CustomScan>()).custom_plans);
                for side in sides.iter_ptr() {
                    let columns = PgList::<pg_sys::Node>::from_pg((*side).targetlist).len() as i32;
                    if place <= columns {
                        return Some((side, place));
                    }
                    place -= columns;
                }
                return None;
            }
            pg_sys::NodeTag::T_Append => {
                PgList::<pg_sys::Plan>::from_pg((*plan.cast::<pg_sys::Append>()).appendplans).get_ptr(0)?
            }
            pg_sys::NodeTag::T_MergeAppend => {
                PgList::<pg_sys::Plan>::from_pg((*plan.cast::<pg_sys::MergeAppend>()).mergeplans)
                    .get_ptr(0)?
            }
            _ if from == pg_sys::OUTER_VAR => (*plan).lefttree,
            _ if from == pg_sys::INNER_VAR => (*plan).righttree,
            _ => return None,
        };
        (!below.is_null()).then_some((below, place))
    }
}
