//! All statements of jobs. [`statement`](crate::pg::procedure::statement) says where they may run.
//!
//! [`definition`] asks for what a relation is and [`dependency`] for what its tables depend on,
//! [`registry`] reads and writes the tables of the extension, [`definitions`] makes the objects of
//! a job. The steps of a refresh are in [`rows`], [`pairs`],
//! [`lists`], [`clusters`] and [`tables`]: each runs its statements, and stores their results in
//! the state of the [`work`]. `crate::jobs::step` says what each step is for.
//! [`citus`](crate::pg::procedure::citus) asks how tables are distributed, and distributes them.

pub(super) mod clusters;
pub(super) mod definition;
pub(crate) mod definitions;
pub(super) mod dependency;
mod limits;
pub(super) mod lists;
pub(super) mod pairs;
pub(super) mod registry;
pub(super) mod rows;
pub(super) mod tables;
pub(super) mod work;
