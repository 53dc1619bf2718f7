//! The common parts of the two procedures that commit: `neardup_refresh` and
//! `near_duplicates_into`.
//!
//! Each call of a step function is one [`transaction`]: it plans from its state, carries out the
//! steps, and plans again, while a [`session_lock`] keeps other sessions out between transactions.
//! Sessions that share work take parts of it by a [`part_lock`](session_lock). A [`statement`] runs
//! as the owner of the tables, with `pg_catalog` as the only schema in the search path; a [`table`]
//! is found by its OID, and locked and checked at each use: it must have the [`form`] in which it
//! was made by its [`definition`], and nothing that runs code ([`brought_along`]). A statement
//! writes rows that Rust code makes ([`rows`]). [`citus`] asks how Citus distributes a
//! relation, and distributes tables.

pub(crate) mod brought_along;
pub(crate) mod citus;
pub(crate) mod definition;
pub(crate) mod form;
pub(crate) mod rows;
pub(crate) mod session_lock;
pub(crate) mod statement;
pub(crate) mod table;
pub(crate) mod transaction;
