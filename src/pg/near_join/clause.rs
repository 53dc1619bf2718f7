//! The condition of a join that the batch join can serve.

use pgrx::{PgList, pg_sys};

use super::join_kind::JoinKind;
use crate::pg::query::nodes::{constant, placeholder_document, with_argument};
use crate::pg::query::ours::symbol;
use crate::pg::server::call::varlena_bytes;

/// The functions of the operators whose left argument is the value of a row.
pub(super) const IN_BALL: [&[u8]; 3] =
    [b"neardup_text_in_ball", b"neardup_lexemes_in_ball", b"neardup_array_in_ball"];
/// The functions of the operators whose left argument is the ball.
const CONTAINS: [&[u8]; 3] = [
    b"neardup_text_ball_contains",
    b"neardup_text_ball_contains_lexemes",
    b"neardup_text_ball_contains_array",
];
/// The functions that make a ball around a document.
const NEAR: [&[u8]; 4] = [
    b"neardup_near_set_text",
    b"neardup_near_set_tokens",
    b"neardup_near_set_lexemes",
    b"neardup_near_set_numbers",
];

/// A join that the planner plans.
pub(super) struct PlannedJoin {
    pub root: *mut pg_sys::PlannerInfo,
    pub joined: *mut pg_sys::RelOptInfo,
    /// The outer and the inner side.
    pub sides: [*mut pg_sys::RelOptInfo; 2],
    pub kind: JoinKind,
    pub conditions: *mut pg_sys::List,
}

impl PlannedJoin {
    /// Reports whether the join may be made by a condition: it says which rows match, and is no
    /// condition on the rows that an outer join gives; and no condition of a security barrier comes
    /// before it.
    ///
    /// # Safety
    /// Nodes of the planner.
    unsafe fn may_use(&self, info: *mut pg_sys::RestrictInfo) -> bool {
        let joined = self.joined;
        // SAFETY: the caller's promise. The filter is the macro RINFO_IS_PUSHED_DOWN of the server.
        unsafe {
            let is_filter =
                (*info).is_pushed_down || !pg_sys::bms_is_subset((*info).required_relids, (*joined).relids);
            !(self.kind.has_null_rows() && is_filter)
                && pg_sys::restriction_is_securely_promotable(info, joined)
        }
    }

    /// Returns the relations of the outer and of the inner side.
    ///
    /// # Safety
    /// Nodes of the planner.
    pub(super) unsafe fn relations(&self) -> [pg_sys::Relids; 2] {
        // SAFETY: the caller's promise.
        self.sides.map(|side| unsafe { (*side).relids })
    }
}

/// A condition `row <@ near(document, …)` whose two values come from the two sides of a join.
pub(super) struct NearClause {
    /// The condition, as the planner keeps it.
    pub info: *mut pg_sys::RestrictInfo,
    /// The value of a row.
    pub row: *mut pg_sys::Node,
    /// The document in the middle of the ball.
    pub document: *mut pg_sys::Node,
    /// The ball around a placeholder document, which shows how documents are compared.
    pub ball: *mut pg_sys::Node,
    /// Set if the value of a row comes from the outer side.
    pub row_is_outer: bool,
}

/// A condition `one = other` whose two values come from the two sides of a join and can be hashed.
pub(super) struct KeyClause {
    /// The condition, as the planner keeps it.
    pub info: *mut pg_sys::RestrictInfo,
    /// Set if its left value comes from the outer side.
    pub left_is_outer: bool,
}

/// Finds the conditions that the batch join can be made by. Returns none if conditions that depend
/// on no row have to be checked first.
///
/// # Safety
/// Nodes of the planner.
pub(super) unsafe fn find(join: &PlannedJoin) -> Vec<NearClause> {
    let root = join.root;
    // SAFETY: the caller's promise; a list of conditions.
    unsafe {
        let conditions = PgList::<pg_sys::RestrictInfo>::from_pg(join.conditions);
        if conditions.iter_ptr().any(|info| (*info).pseudoconstant) {
            return Vec::new();
        }
        let sides = join.relations();
        let served = conditions.iter_ptr().filter_map(|info| {
            if !join.may_use(info) {
                return None;
            }
            let (row, document, ball) = parts((*info).clause.cast())?;
            let is_from = |node, side| {
                let relations = pg_sys::pull_varnos(root, node);
                !relations.is_null() && pg_sys::bms_is_subset(relations, side)
            };
            let row_is_outer = if is_from(row, sides[0]) && is_from(document, sides[1]) {
                true
            } else if is_from(row, sides[1]) && is_from(document, sides[0]) {
                false
            } else {
                return None;
            };
            let depends_on_rows = (1..PgList::<pg_sys::Node>::from_pg((*ball).args).len()).any(|n| {
                !pg_sys::pull_varnos(root, pg_sys::list_nth((*ball).args, n as i32).cast()).is_null()
            });
            let clause: *mut pg_sys::Node = (*info).clause.cast();
            if depends_on_rows
                || pg_sys::contain_volatile_functions(clause)
                || pg_sys::contain_subplans(clause)
            {
                return None;
            }
            let ball = around_placeholder(ball)?;
            Some(NearClause { info, row, document, ball, row_is_outer })
        });
        served.collect()
    }
}

/// Finds the equalities of a join that can be the key of its groups.
///
/// # Safety
/// Nodes of the planner.
pub(super) unsafe fn keys(join: &PlannedJoin) -> Vec<KeyClause> {
    // SAFETY: the caller's promise; a list of conditions.
    unsafe {
        let sides = join.relations();
        let hashed = PgList::<pg_sys::RestrictInfo>::from_pg(join.conditions);
        let hashed = hashed.iter_ptr().filter_map(|info| {
            if !(*info).can_join || (*info).hashjoinoperator == pg_sys::InvalidOid || !join.may_use(info) {
                return None;
            }
            let is_of = |[left, right]: [pg_sys::Relids; 2]| {
                pg_sys::bms_is_subset((*info).left_relids, left)
                    && pg_sys::bms_is_subset((*info).right_relids, right)
            };
            let left_is_outer = is_of(sides);
            (left_is_outer || is_of([sides[1], sides[0]])).then_some(KeyClause { info, left_is_outer })
        });
        hashed.collect()
    }
}

/// Returns the value of a row, the document, and the call that makes the ball around it.
///
/// # Safety
/// `clause` is an expression of the planner.
unsafe fn parts(
    clause: *mut pg_sys::Node,
) -> Option<(*mut pg_sys::Node, *mut pg_sys::Node, *mut pg_sys::FuncExpr)> {
    // SAFETY: the caller's promise; a node of this tag is of this type.
    unsafe {
        if clause.is_null() || (*clause).type_ != pg_sys::NodeTag::T_OpExpr {
            return None;
        }
        let operator: *mut pg_sys::OpExpr = clause.cast();
        let arguments = PgList::<pg_sys::Node>::from_pg((*operator).args);
        let (first, second) = arguments.get_ptr(0).zip(arguments.get_ptr(1))?;
        // A cheap look first: most conditions of joins have no call on either side.
        let is_call = |node: *mut pg_sys::Node| (*node).type_ == pg_sys::NodeTag::T_FuncExpr;
        if !is_call(first) && !is_call(second) {
            return None;
        }
        let function = symbol(pg_sys::get_opcode((*operator).opno))?;
        let (row, ball) = if IN_BALL.contains(&&*function) {
            (first, second)
        } else if CONTAINS.contains(&&*function) {
            (second, first)
        } else {
            return None;
        };
        if !is_call(ball) {
            return None;
        }
        let ball: *mut pg_sys::FuncExpr = ball.cast();
        let function = symbol((*ball).funcid)?;
        if !NEAR.contains(&&*function) || function == NEAR[0] && !is_of_sets_of_plain_text(ball) {
            return None;
        }
        let document = PgList::<pg_sys::Node>::from_pg((*ball).args).get_ptr(0)?;
        (pg_sys::exprType(row) == pg_sys::exprType(document)).then_some((row, document, ball))
    }
}

/// Reports whether the tokenizer and the method are known, and neither pages of HTML are read nor
/// characters compared.
///
/// # Safety
/// A call of `near` of a text, whose argument 4 is the tokenizer and argument 5 the method.
unsafe fn is_of_sets_of_plain_text(ball: *mut pg_sys::FuncExpr) -> bool {
    [(4, &b"html"[..]), (5, b"edit")].into_iter().all(|(argument, other)| {
        // SAFETY: the caller's promise; a constant of type text.
        unsafe {
            let Some(node) = PgList::<pg_sys::Node>::from_pg((*ball).args).get_ptr(argument) else {
                return false;
            };
            (*node).type_ == pg_sys::NodeTag::T_Const
                && constant(node).is_none_or(|value| varlena_bytes(value) != other)
        }
    })
}

/// Returns the call with a placeholder in place of the document, or None if the document is of a
/// type that `near` takes only by a cast.
///
/// # Safety
/// A call of `near`.
unsafe fn around_placeholder(ball: *mut pg_sys::FuncExpr) -> Option<*mut pg_sys::Node> {
    // SAFETY: the caller's promise.
    unsafe {
        let document = PgList::<pg_sys::Node>::from_pg((*ball).args).get_ptr(0)?;
        Some(with_argument(ball, 0, placeholder_document(pg_sys::exprType(document))?))
    }
}
