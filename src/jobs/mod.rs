//! Jobs that keep pairs and clusters up to date: what a refresh does, decided without a server.
//!
//! A refresh is a row of transactions, each of which takes a batch of changed rows. A transaction
//! gathers what it knows in a [`State`](state::State), [`plan`](plan::plan) turns that into
//! [`Step`](step::Step)s, and `src/pg/jobs` carries them out. Some steps tell what those after them
//! depend on, such as how many rows have changed: a plan ends with such a step, or with the last
//! one of all, and planning goes on with what was learnt; [`Turns`](crate::turns::Turns) refuses to
//! where that is nothing.

pub mod plan;
pub mod state;
pub mod step;

#[cfg(test)]
mod tests;
