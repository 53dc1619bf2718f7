//! All statements of `near_duplicates_into`, made by functions with names; they run as the caller, where `pg_catalog` is all of
//! the search path.
//!
//! [`catalog`] asks the server's catalog, [`log`] is about the log, [`definitions`] makes and drops tables here, [`remote`] says
//! what is run on the servers themselves; [`fill`] fills the working tables, [`outcome`] makes the result of them, [`citus`] does both where
//! Citus has the documents, and [`stars`] makes clusters there.

pub(super) mod catalog;
pub(super) mod citus;
pub(super) mod definitions;
pub(super) mod fill;
pub(super) mod log;
pub(super) mod outcome;
pub(super) mod remote;
pub(super) mod stars;
