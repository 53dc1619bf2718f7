//! Offers the batch join to the planner, and makes its plan.

use std::ptr;

use pgrx::{PgList, pg_sys};

use super::clause::{NearClause, PlannedJoin};
use super::columns::{all_columns, are_in_result, on_columns};
use super::cost::BatchKey;
use super::join_kind::JoinKind;
use super::node;
use super::node::{Methods, NAME};
use crate::pg::server::guard::guard;
use crate::pg::server::settings;

static PATH: Methods<pg_sys::CustomPathMethods> = Methods(pg_sys::CustomPathMethods {
    CustomName: NAME.as_ptr(),
    PlanCustomPath: Some(plan),
    ReparameterizeCustomPathByChild: None,
});

/// The methods of a plan.
static PLAN: Methods<pg_sys::CustomScanMethods> = Methods(pg_sys::CustomScanMethods {
    CustomName: NAME.as_ptr(),
    CreateCustomScanState: Some(node::create),
});

/// The hook that another library had set before.
static mut BEFORE: pg_sys::set_join_pathlist_hook_type = None;

/// Lets the planner ask for batch joins. Called once when the library is loaded.
pub(crate) fn define() {
    // SAFETY: in the only thread of the backend; the methods live as long as the backend.
    unsafe {
        pg_sys::RegisterCustomScanMethods(&raw const PLAN.0);
        BEFORE = pg_sys::set_join_pathlist_hook;
        pg_sys::set_join_pathlist_hook = Some(offer);
    }
}

/// Adds the batch join to the paths of a join.
unsafe extern "C-unwind" fn offer(
    root: *mut pg_sys::PlannerInfo,
    joined: *mut pg_sys::RelOptInfo,
    outer: *mut pg_sys::RelOptInfo,
    inner: *mut pg_sys::RelOptInfo,
    kind: pg_sys::JoinType::Type,
    extra: *mut pg_sys::JoinPathExtraData,
) {
    // SAFETY: called by the planner; nodes of the planner.
    unsafe {
        if let Some(before) = BEFORE {
            before(root, joined, outer, inner, kind, extra);
        }
        let conditions = (*extra).restrictlist;
        let Some(kind) = JoinKind::from_type(kind) else { return };
        if conditions.is_null() || !settings::enable_near_join() {
            return;
        }
        guard(|| {
            let join = PlannedJoin { root, joined, sides: [outer, inner], kind, conditions };
            if let Some(key) = BatchKey::choose(&join) {
                add(&join, &key);
            }
            Ok(())
        });
    }
}

/// # Safety
/// Nodes of the planner.
unsafe fn add(join: &PlannedJoin, key: &BatchKey) {
    let &PlannedJoin { joined, sides, kind, conditions, .. } = join;
    // SAFETY: the caller's promise; a new node whose unset fields are zero.
    unsafe {
        let paths = sides.map(|side| (*side).cheapest_total_path);
        // A side that needs values of the other one cannot be read as a whole.
        if paths.iter().any(|&path| path.is_null() || !(*path).param_info.is_null())
            || !(*joined).lateral_relids.is_null()
        {
            return;
        }
        let path: *mut pg_sys::CustomPath = pg_sys::palloc0(size_of::<pg_sys::CustomPath>()).cast();
        let target = (*joined).reltarget;
        let base = &mut (*path).path;
        base.type_ = pg_sys::NodeTag::T_CustomPath;
        base.pathtype = pg_sys::NodeTag::T_CustomScan;
        base.parent = joined;
        base.pathtarget = target;
        base.rows = (*joined).rows;
        let rows = paths.map(|path| (*path).rows);
        let reading = paths.iter().map(|&path| (*path).total_cost).sum::<f64>() + (*target).cost.startup;
        let giving = base.rows * (pg_sys::cpu_tuple_cost + (*target).cost.per_tuple);
        let [startup, total] = key.costs(join, rows);
        base.total_cost = key.against_loops(join, rows, reading + total + giving);
        base.startup_cost = (reading + startup).min(base.total_cost);
        (*path).flags = pg_sys::CUSTOMPATH_SUPPORT_PROJECTION;
        (*path).methods = &raw const PATH.0;
        let NearClause { info, row, document, ball, row_is_outer } = key.clause;
        for side in if row_is_outer { paths } else { [paths[1], paths[0]] } {
            (*path).custom_paths = pg_sys::lappend((*path).custom_paths, side.cast());
        }
        // Whether the left value of each key comes from the side of the rows.
        let lefts = key.keys.iter().map(|key| i32::from(key.left_is_outer == row_is_outer));
        let numbers = [kind as i32, i32::from(!row_is_outer)].into_iter().chain(lefts);
        let numbers = numbers.fold(ptr::null_mut(), |all, n| pg_sys::lappend_int(all, n));
        let keys = key.keys.iter().fold(ptr::null_mut(), |all, key| pg_sys::lappend(all, key.info.cast()));
        for private in [
            numbers.cast(),
            conditions.cast(),
            info.cast(),
            row.cast(),
            document.cast(),
            ball.cast(),
            keys.cast(),
        ] {
            (*path).custom_private = pg_sys::lappend((*path).custom_private, private);
        }
        pg_sys::add_path(joined, path.cast());
    }
}

/// Makes the plan of a path.
unsafe extern "C-unwind" fn plan(
    _root: *mut pg_sys::PlannerInfo,
    joined: *mut pg_sys::RelOptInfo,
    path: *mut pg_sys::CustomPath,
    columns: *mut pg_sys::List,
    _clauses: *mut pg_sys::List,
    sides: *mut pg_sys::List,
) -> *mut pg_sys::Plan {
    // SAFETY: called by the planner with a path that `add` made, and the plans of its two sides.
    unsafe {
        guard(|| {
            let private = |n| pg_sys::list_nth((*path).custom_private, n);
            let (numbers, info) = (private(0).cast(), private(2).cast::<pg_sys::RestrictInfo>());
            let outer = pg_sys::list_nth_int(numbers, 1);
            let plan: *mut pg_sys::CustomScan = pg_sys::palloc0(size_of::<pg_sys::CustomScan>()).cast();
            (*plan).scan.plan.type_ = pg_sys::NodeTag::T_CustomScan;
            (*plan).scan.plan.targetlist = columns;
            (*plan).flags = (*path).flags;
            (*plan).custom_plans = sides;
            (*plan).custom_scan_tlist = all_columns(sides, joined);
            let kind = JoinKind::numbered(pg_sys::list_nth_int(numbers, 0))?;
            let [others, filters] = conditions(private(1).cast(), info, kind, joined);
            let keys = pg_sys::get_actual_clauses(private(6).cast());
            let others = pg_sys::list_difference_ptr(others, keys);
            // The order is that of the constants in `node`. The other conditions are no qual of the
            // plan, as EXPLAIN would show their columns without the tables.
            let of_pair = [private(3), private(4), private(5), (*info).clause.cast()];
            for expression in of_pair.into_iter().chain([others.cast(), filters.cast(), keys.cast()]) {
                let expression = on_columns(expression.cast(), (*plan).custom_scan_tlist);
                (*plan).custom_exprs = pg_sys::lappend((*plan).custom_exprs, expression.cast());
            }
            // Whether the rows of the inner side are wanted after their documents have been read.
            let inner = pg_sys::list_nth(sides, 1 - outer).cast();
            let is_wanted = !others.is_null()
                || !keys.is_null()
                || match kind {
                    JoinKind::Anti => false,
                    JoinKind::Semi => are_in_result(inner, joined),
                    _ => true,
                };
            let mut of_plan = pg_sys::list_truncate(pg_sys::list_copy(numbers), 2);
            of_plan = pg_sys::lappend_int(of_plan, is_wanted.into());
            for n in 2..PgList::<std::ffi::c_void>::from_pg(numbers).len() as i32 {
                of_plan = pg_sys::lappend_int(of_plan, pg_sys::list_nth_int(numbers, n));
            }
            (*plan).custom_private = of_plan;
            (*plan).methods = &raw const PLAN.0;
            Ok(plan.cast())
        })
    }
}

/// Returns the conditions of a join that say which rows match, without the one that the batch join
/// is made by, and those on the rows that the join gives.
///
/// # Safety
/// Nodes of the planner.
unsafe fn conditions(
    all: *mut pg_sys::List,
    near: *mut pg_sys::RestrictInfo,
    kind: JoinKind,
    joined: *mut pg_sys::RelOptInfo,
) -> [*mut pg_sys::List; 2] {
    let (mut matching, mut filters) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the caller's promise; both lists are new.
    unsafe {
        if kind.has_null_rows() {
            pg_sys::extract_actual_join_clauses(all, (*joined).relids, &raw mut matching, &raw mut filters);
        } else {
            matching = pg_sys::extract_actual_clauses(all, false);
        }
        [pg_sys::list_delete_ptr(matching, (*near).clause.cast()), filters]
    }
}
