//! Jobs that keep pairs and clusters up to date. This module decides what a refresh does, without a
//! server.
//!
//! A refresh is a sequence of transactions, each of which processes a batch of changed rows. A
//! transaction collects its knowledge in a [`JobFacts`](state::JobFacts), [`plan`](plan::plan)
//! derives [`RefreshStep`](step::RefreshStep)s from it, and `src/pg/jobs` executes them. Some steps
//! report facts on which later steps depend, such as the number of changed rows. A plan ends with
//! the first such step, and then planning continues with the new facts; or it ends with the last
//! step of the transaction. [`Turns`](neardup_core::turns::Turns) refuses to continue if a plan
//! brought no new facts.

pub mod plan;
pub mod state;
pub mod step;

#[cfg(test)]
mod tests;
