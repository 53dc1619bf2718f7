//! Jobs that keep pairs and clusters up to date. This module decides what a refresh does, without a
//! server.
//!
//! A refresh is a sequence of transactions, each of which processes a batch of changed rows. A
//! transaction collects its knowledge in a [`State`](state::State), [`plan`](plan::plan) derives
//! [`Step`](step::Step)s from it, and `src/pg/jobs` executes them. Some steps report facts on which
//! later steps depend, such as the number of changed rows. A plan ends with such a step, or with
//! the last step of all, and planning continues with the new facts.
//! [`Turns`](neardup_core::turns::Turns) refuses to continue if there are none.

pub mod plan;
pub mod state;
pub mod step;

#[cfg(test)]
mod tests;
