//! All statements of jobs, made by functions with names. [`statement`] says where they may run.
//!
//! [`catalog`] asks the server's catalog, [`registry`] is about the tables of the extension, [`definitions`] makes and drops what
//! a job has beside its relation. What a refresh does is in [`rows`], [`pairs`], [`lists`] and [`clusters`], of the [`names`] of
//! its job; [`citus`] asks how tables are spread, and spreads them.

pub(crate) mod catalog;
pub(super) mod clusters;
pub(super) mod definitions;
pub(super) mod lists;
pub(super) mod names;
pub(super) mod pairs;
pub(super) mod registry;
pub(super) mod rows;
