//! Estimates for the planner: how many rows a call on a relation returns.
//!
//! The share of rows that have a near duplicate is not known before the join. The shares below are
//! those of corpora in which every third document is a copy; what matters to a plan is that the
//! estimate grows with the relation.

use pgrx::pg_sys::{self, NodeTag};

use crate::pg::query::catalog::class;
use crate::pg::query::nodes::{constant, support};
use crate::pg::server::call::sql_functions;
use crate::pg::server::encoding::c_string;

sql_functions! {
    /// `near_duplicates_rows(internal) → internal`
    neardup_near_duplicates_rows: |call| support(call, |node| {
        // SAFETY: each of the planner's requests has the structure that its tag names.
        unsafe {
            let request: *mut pg_sys::SupportRequestRows = node.cast();
            let is_asked = (*node).type_ == NodeTag::T_SupportRequestRows;
            let Some(rows) = is_asked.then(|| rows((*request).node)).flatten() else { return Ok(None) };
            (*request).rows = rows;
        }
        Ok(Some(node))
    });
}

/// Returns the number of rows that a call returns for each row of the relation.
fn share(function: &str) -> f64 {
    match function {
        "near_duplicate_clusters" => 0.4,
        "eliminate" => 0.2,
        _ => 0.5,
    }
}

/// Estimates the rows of a call. Returns `None` if the relation is not known when the query is
/// planned, or was never analyzed.
///
/// # Safety
/// A node of the planner.
unsafe fn rows(node: *const pg_sys::Node) -> Option<f64> {
    // SAFETY: the caller's promise; the call of a function that exists has arguments in a list, and
    // the function has a name.
    unsafe {
        if node.is_null() || (*node).type_ != NodeTag::T_FuncExpr {
            return None;
        }
        let call: *const pg_sys::FuncExpr = node.cast();
        let name = pg_sys::get_func_name((*call).funcid);
        if name.is_null() {
            return None;
        }
        let name = c_string(name);
        let relations = if name.ends_with("_between") { 2 } else { 1 };
        let mut most = None::<f64>;
        for n in 0..relations {
            let relation = constant(pg_sys::list_nth((*call).args, n).cast())?;
            let tuples = tuples(pg_sys::Oid::from(relation.value() as u32))?;
            most = Some(most.map_or(tuples, |most| most.max(tuples)));
        }
        let share = match &*name {
            // An integer is in the low half of the value.
            "nearest" => {
                f64::from(constant(pg_sys::list_nth((*call).args, 1).cast())?.value() as i32).max(1.0)
            }
            name => share(name),
        };
        Some((most? * share).ceil().max(1.0))
    }
}

/// Returns the number of rows that the last ANALYZE or VACUUM of a relation found.
fn tuples(relation: pg_sys::Oid) -> Option<f64> {
    let (kind, tuples) = class(relation, |row| (row.relkind.cast_unsigned(), f64::from(row.reltuples)))?;
    (b"rpmf".contains(&kind) && tuples >= 0.0).then_some(tuples)
}
