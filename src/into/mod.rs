//! Near duplicates as a table, made in parts on many servers: what a call does, decided without a server.
//!
//! A call is a row of transactions. Each of them gathers what it knows in a
//! [`State`](state::State), [`plan`](plan::plan) turns that into [`Step`](step::Step)s, and
//! `src/pg/into` carries them out. Some steps tell what those after them depend on: a plan ends
//! with such a step, or with the last one of the transaction, and planning goes on with what was
//! learnt; [`Turns`](crate::turns::Turns) refuses to where that is nothing.
//!
//! What is done stands in a log, so that a further call goes on after a crash. Working tables on other servers are made and
//! dropped there at once, whatever becomes of the transaction here: so the log is there before any of them, and goes after
//! the last one; and a table is dropped before it is made.

pub mod plan;
pub mod state;
pub mod step;

#[cfg(test)]
mod tests;
