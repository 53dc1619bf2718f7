//! The columns of a row of the join, and the expressions that are evaluated on it.
//!
//! Since version 16 the planner marks a column with the outer joins that may have made it NULL, so
//! above an outer join it is marked, and in the conditions of that join not yet. An expression of a
//! plan must have the marks of the plan's columns. We give the columns the marks that the join's
//! result has, and then every expression the marks of the columns.

use std::ptr;

use pgrx::{PgList, pg_sys};

use crate::pg::compat;

/// Returns the columns of both sides, which a row of the join has before it is projected.
///
/// # Safety
/// Plans, and the relation of their join.
pub(super) unsafe fn all_columns(
    sides: *mut pg_sys::List,
    joined: *mut pg_sys::RelOptInfo,
) -> *mut pg_sys::List {
    // SAFETY: the caller's promise; plans have lists of their columns.
    unsafe {
        let mut all = Vec::new();
        for side in PgList::<pg_sys::Plan>::from_pg(sides).iter_ptr() {
            for entry in PgList::<pg_sys::TargetEntry>::from_pg((*side).targetlist).iter_ptr() {
                all.push((*entry).expr.cast::<pg_sys::Node>());
            }
        }
        let result = variables((*(*joined).reltarget).exprs.cast(), &all);
        let mut columns = ptr::null_mut();
        for (column, number) in all.iter().zip(1..) {
            let column = marked_like(*column, &result).cast();
            let entry = pg_sys::makeTargetEntry(column, number, ptr::null_mut(), false);
            columns = pg_sys::lappend(columns, entry.cast());
        }
        columns
    }
}

/// Reports whether the result of a join has columns of one side.
///
/// # Safety
/// The plan of the side, and the relation of the join.
pub(super) unsafe fn are_in_result(side: *mut pg_sys::Plan, joined: *mut pg_sys::RelOptInfo) -> bool {
    // SAFETY: the caller's promise.
    unsafe {
        let columns = variables((*side).targetlist.cast(), &[]);
        let result = variables((*(*joined).reltarget).exprs.cast(), &[]);
        result.iter().any(|&one| columns.iter().any(|&other| is_same(one, other)))
    }
}

/// Returns a copy of an expression with the marks of the columns.
///
/// # Safety
/// An expression of the planner or null, and a list that [`all_columns`] made.
pub(super) unsafe fn on_columns(
    expression: *mut pg_sys::Node,
    columns: *mut pg_sys::List,
) -> *mut pg_sys::Node {
    // SAFETY: the caller's promise.
    unsafe {
        let columns = PgList::<pg_sys::TargetEntry>::from_pg(columns);
        let columns: Vec<_> = columns.iter_ptr().map(|entry| (*entry).expr.cast()).collect();
        let marked: Vec<_> = columns.iter().flat_map(|&column| variables(column, &columns)).collect();
        marked_like(expression, &marked)
    }
}

/// Returns a copy of an expression in which each variable has the marks of the same variable among
/// `others`, if it is there.
///
/// # Safety
/// Expressions of the planner.
unsafe fn marked_like(expression: *mut pg_sys::Node, others: &[*mut pg_sys::Node]) -> *mut pg_sys::Node {
    // SAFETY: the caller's promise. The variables are parts of the copy that we made.
    unsafe {
        if expression.is_null() {
            return expression;
        }
        let copy: *mut pg_sys::Node = pg_sys::copyObjectImpl(expression.cast()).cast();
        for variable in variables(copy, &[]) {
            if let Some(&other) = others.iter().find(|&&other| is_same(variable, other)) {
                compat::mark_nulled_like(variable, other);
            }
        }
        copy
    }
}

/// Returns the variables of an expression, and then those in placeholders that are not among the
/// columns of the sides: the join evaluates these itself.
///
/// # Safety
/// Expressions of the planner.
unsafe fn variables(expression: *mut pg_sys::Node, columns: &[*mut pg_sys::Node]) -> Vec<*mut pg_sys::Node> {
    let mut found = Vec::new();
    let mut within = vec![expression];
    // SAFETY: the caller's promise; a node of this tag is of this type.
    unsafe {
        while let Some(expression) = within.pop() {
            let parts = pg_sys::pull_var_clause(expression, pg_sys::PVC_INCLUDE_PLACEHOLDERS as i32);
            for variable in PgList::<pg_sys::Node>::from_pg(parts).iter_ptr() {
                if (*variable).type_ == pg_sys::NodeTag::T_PlaceHolderVar
                    && !columns.iter().any(|&column| is_same(variable, column))
                {
                    within.push((*variable.cast::<pg_sys::PlaceHolderVar>()).phexpr.cast());
                }
                found.push(variable);
            }
        }
    }
    found
}

/// Reports whether two nodes are the same column or the same placeholder, whatever their marks.
///
/// # Safety
/// Nodes of the planner.
unsafe fn is_same(one: *mut pg_sys::Node, other: *mut pg_sys::Node) -> bool {
    // SAFETY: the caller's promise; a node of this tag is of this type.
    unsafe {
        match ((*one).type_, (*other).type_) {
            (pg_sys::NodeTag::T_Var, pg_sys::NodeTag::T_Var) => {
                let (one, other) = (one.cast::<pg_sys::Var>(), other.cast::<pg_sys::Var>());
                ((*one).varno, (*one).varattno) == ((*other).varno, (*other).varattno)
            }
            (pg_sys::NodeTag::T_PlaceHolderVar, pg_sys::NodeTag::T_PlaceHolderVar) => {
                let (one, other) =
                    (one.cast::<pg_sys::PlaceHolderVar>(), other.cast::<pg_sys::PlaceHolderVar>());
                (*one).phid == (*other).phid
            }
            _ => false,
        }
    }
}
