//! All statements of jobs, made by functions with names. [`statement`] says where they may run.
//!
//! [`catalog`] asks the server's catalog, [`registry`] is about the tables of the extension, [`definitions`] makes and drops what
//! a job has beside its relation. What a refresh does is in [`rows`], [`pairs`], [`lists`] and [`clusters`], of the [`names`] of
//! its job; [`calls`] are those of the internal functions.

pub mod calls;
pub mod catalog;
pub mod clusters;
pub mod definitions;
pub mod lists;
pub mod names;
pub mod pairs;
pub mod registry;
pub mod rows;
pub mod statement;
