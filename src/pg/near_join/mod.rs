//! A join on `a.body <@ near(b.body, 0.8)` as one batch: both sides are read once and joined by the
//! exact join of sets, which finds the pairs that the operator accepts and no others.
//!
//! [`clause`] finds the condition in a join, [`path`] offers the batch join to the planner, which
//! compares its cost with that of loops and of searches by an index, and [`node`] is the executor's
//! node, with its [`state`]. [`work`] reads both sides and joins them.

mod clause;
mod methods;
mod node;
mod path;
mod state;
mod work;

pub(crate) use path::define;
