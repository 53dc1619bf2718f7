//! The tables of a job: each is a [`table`](crate::pg::procedure::table) found by its OID and
//! locked, [`all`] holds the tables of one job, and [`columns`] lists their columns.

pub(super) mod all;
pub(super) mod columns;
