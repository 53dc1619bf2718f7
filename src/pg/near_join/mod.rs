//! A join on `a.body <@ near(b.body, 0.8)` as one batch: both sides are read once and joined by the
//! exact join of sets, which finds the pairs that the operator accepts and no others. An outer join
//! and EXISTS are made of the same pairs, by noting which rows have had a match.
//!
//! [`clause`] finds the condition in a join of a [`join_kind`], [`path`] offers the batch join to
//! the planner, which compares its [`cost`] with that of loops and of searches by an index, and
//! [`node`] is the executor's node, with its [`state`]. [`sides`] reads both sides, and [`work`]
//! joins them. Equalities of the join are a part of the [`key`]. [`planner`] answers the planner,
//! also where there is no join.

mod clause;
mod columns;
mod cost;
mod join_kind;
mod key;
mod node;
mod path;
pub(crate) mod planner;
mod row_identity;
mod sides;
mod state;
mod work;

pub(crate) use path::define;
