//! Near duplicates as a table, computed in parts on many servers. This module decides what a call
//! does, without a server.
//!
//! A call is a sequence of transactions. Each of them collects its knowledge in a
//! [`CallFacts`](state::CallFacts), [`plan`](plan::plan) derives [`CallStep`](step::CallStep)s from
//! it, and `src/pg/into` executes them. Some steps report facts on which later steps depend. A plan
//! ends with the first such step, and then planning continues with the new facts; or it ends with
//! the last step of the transaction. [`Turns`](neardup_core::turns::Turns) refuses to continue if a
//! plan brought no new facts.
//!
//! Completed stages are recorded in a log, so that a further call can continue after a crash.
//! Working tables on other servers are created and dropped there at once, even if the transaction
//! here is rolled back. So the log is created before any working table, and dropped after the last
//! working table. Before a working table is created, an existing table of its name is dropped.

pub mod estimate;
pub mod plan;
pub mod state;
pub mod step;

#[cfg(test)]
mod tests;
