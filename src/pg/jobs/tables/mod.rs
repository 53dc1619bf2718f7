//! The tables of a job: each is a [`table`](crate::pg::procedure::table) found by its OID and
//! locked, [`all`] holds the tables of one job, with their columns.

pub(super) mod all;
