//! All statements of `near_duplicates_into`, made by named functions. They run as the caller, with
//! `pg_catalog` as the whole search path.
//!
//! [`catalog`] asks the server's catalog, and [`citus_catalog`] that of Citus. [`log`] reads and
//! writes the log, [`definitions`] makes and drops local tables, [`remote`] has the statements that
//! run on the servers. [`fill`] fills the working tables, and [`outcome`] makes the result from
//! these; [`citus`] and [`citus_result`] do both if the documents are in Citus, and [`stars`] makes
//! clusters there. [`here`] fills the tables that sessions share, and notes the parts that are
//! done. [`update`] has the statements that bring a result up to date. [`runs`] finds what calls
//! have left, and [`estimate`] takes the steps of a call on a sample.

pub(super) mod catalog;
pub(super) mod citus;
pub(super) mod citus_catalog;
pub(super) mod citus_result;
pub(super) mod definitions;
pub(super) mod estimate;
pub(super) mod fill;
pub(super) mod here;
pub(super) mod log;
pub(super) mod outcome;
pub(super) mod remote;
pub(super) mod runs;
pub(super) mod stars;
pub(super) mod update;
