//! All statements of jobs, made by named functions. [`statement`](crate::pg::procedure::statement)
//! says where they may run.
//!
//! [`catalog`] asks the server's catalog, [`registry`] reads and writes the tables of the
//! extension, [`definitions`] creates and drops the tables of a job.
//! A refresh uses [`rows`], [`pairs`], [`lists`] and [`clusters`], with the [`names`] of its job;
//! [`citus`](crate::pg::procedure::citus) asks how tables are distributed, and distributes them.

pub(crate) mod catalog;
pub(super) mod clusters;
pub(super) mod definitions;
pub(super) mod lists;
pub(super) mod names;
pub(super) mod pairs;
pub(super) mod registry;
pub(super) mod rows;
