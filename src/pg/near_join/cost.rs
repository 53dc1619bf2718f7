//! What a batch join is made by, and what it costs in comparison with other joins.

use std::ptr;

use pgrx::{PgList, pg_sys};

use super::clause::{KeyClause, NearClause, PlannedJoin, find, keys};
use crate::pg::near_join::planner::price;
use crate::pg::near_join::planner::share::ValueSample;

/// What a batch join is made by.
pub(super) struct BatchKey {
    pub clause: NearClause,
    pub keys: Vec<KeyClause>,
    /// The shares of all pairs of rows that the condition and the keys accept.
    share_near: f64,
    share_keys: f64,
}

impl BatchKey {
    /// Chooses the near condition that the fewest pairs pass, with all equalities.
    ///
    /// # Safety
    /// Nodes of the planner.
    pub(super) unsafe fn choose(join: &PlannedJoin) -> Option<Self> {
        let root = join.root;
        // SAFETY: the caller's promise.
        unsafe {
            let relations = join.relations();
            // Pairs are those of an inner join, whatever kind of join is made of them.
            let inner = pg_sys::SpecialJoinInfo {
                type_: pg_sys::NodeTag::T_SpecialJoinInfo,
                min_lefthand: relations[0],
                min_righthand: relations[1],
                syn_lefthand: relations[0],
                syn_righthand: relations[1],
                jointype: pg_sys::JoinType::JOIN_INNER,
                ..Default::default()
            };
            let share = |info: *mut pg_sys::RestrictInfo| {
                let inner = (&raw const inner).cast_mut();
                pg_sys::clause_selectivity(root, info.cast(), 0, pg_sys::JoinType::JOIN_INNER, inner)
            };
            let served = find(join).into_iter();
            let served = served.map(|clause| (share(clause.info), clause));
            let (share_near, clause) = served.min_by(|(a, _), (b, _)| a.total_cmp(b))?;
            let keys = keys(join);
            let share_keys = keys.iter().map(|key| share(key.info)).product();
            Some(Self { clause, keys, share_near, share_keys })
        }
    }

    /// Returns the costs until the first row and until the last one, except for those of the sides
    /// and of giving rows.
    ///
    /// # Safety
    /// Nodes of the planner.
    pub(super) unsafe fn costs(&self, join: &PlannedJoin, rows_of_sides: [f64; 2]) -> [f64; 2] {
        /// What starting the join costs, in the planner's units.
        const START: f64 = 100.0;
        /// How many operators it costs to read both rows of a pair.
        const PAIR: f64 = 30.0;
        /// How many operators it costs to compare two distinct documents that are near.
        const NEAR: f64 = 150.0;
        let (root, clause) = (join.root, &self.clause);
        // SAFETY: the caller's promise.
        unsafe {
            let others = PgList::<pg_sys::RestrictInfo>::from_pg(join.conditions);
            let others = others.iter_ptr().filter(|&info| info != clause.info);
            let others = others.fold(ptr::null_mut(), |all, info| pg_sys::lappend(all, info.cast()));
            let mut of_others = pg_sys::QualCost::default();
            pg_sys::cost_qual_eval(&raw mut of_others, others, root);
            let [outer, inner] = rows_of_sides;
            let mut pairs = outer * inner * self.share_near * self.share_keys;
            if join.kind.is_of_first_matches() && others.is_null() {
                pairs = pairs.min(outer);
            }
            let [rows, documents] = if clause.row_is_outer { [outer, inner] } else { [inner, outer] };
            let condition = &*(*clause.info).clause.cast::<pg_sys::OpExpr>();
            let sample = ValueSample::new(root, condition.opno, condition.inputcollid, condition.args);
            let mut near = sample.map_or(0.0, |sample| sample.near_values([rows, documents]));
            if !self.keys.is_empty() {
                // Only rows with equal keys are compared.
                near = near.min(outer * inner * self.share_near * self.share_keys);
            }
            let reading = rows * price::of_joined(root, clause.row)
                + documents * price::of_joined(root, clause.document);
            let operator = pg_sys::cpu_operator_cost;
            let startup = START + operator * reading + of_others.startup;
            let work = near * operator * NEAR + pairs * (operator * PAIR + of_others.per_tuple);
            [startup, startup + work]
        }
    }

    /// Returns the cost that a batch has to have so that it is chosen where it is cheaper, if that
    /// is not its own. The server prices a hash join that looks for first matches as if it checked
    /// the other conditions on at most one inner row of each outer row.
    ///
    /// # Safety
    /// Nodes of the planner.
    pub(super) unsafe fn against_loops(&self, join: &PlannedJoin, rows_of_sides: [f64; 2], cost: f64) -> f64 {
        if !join.kind.is_of_first_matches() {
            return cost;
        }
        // SAFETY: the caller's promise.
        unsafe {
            let [outer, inner] = rows_of_sides;
            let checked = (inner * self.share_keys).min(1.0 / self.share_near.max(f64::MIN_POSITIVE));
            let condition = &*(*self.clause.info).clause.cast::<pg_sys::OpExpr>();
            let check = price::of_comparison(join.root, condition.args).unwrap_or_default();
            if cost > outer * checked * check * pg_sys::cpu_operator_cost {
                return cost;
            }
            let others = PgList::<pg_sys::Path>::from_pg((*join.joined).pathlist);
            let least = |of_loops: bool| {
                let others = others.iter_ptr().filter(|&path| (*path).param_info.is_null());
                let others =
                    others.filter(|&path| ((*path).pathtype == pg_sys::NodeTag::T_NestLoop) == of_loops);
                others.map(|path| (*path).total_cost).fold(f64::INFINITY, f64::min)
            };
            // The price of loops is right, with and without an index.
            if least(true) < cost { cost } else { cost.min(0.9 * least(false)) }
        }
    }
}
