//! The tables of a job: each is a [`table`](crate::pg::procedure::table) found by its OID and locked, [`all`] are those of a
//! job, and [`columns`] says which columns they have.

pub(super) mod all;
pub(super) mod columns;
