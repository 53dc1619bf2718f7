//! `near_duplicates_into`: makes a table of near duplicates. Pairs of documents that are on servers
//! are found on these servers.
//!
//! The procedure calls [`transaction`] and commits, until the transaction reports that it is done.
//! Each transaction [looks](look) for the current state, and carries out the plan of `plan`, which
//! is compiled without a server. [`work`] is what its steps work with. [`arguments`] are the
//! arguments, [`method`] how their method is made in parts, [`place`] the names of tables to make,
//! [`log`](statements::log) the log next to the result.
//!
//! The working [`tables`] are spread over the [`nodes`]: over servers of postgres_fdw, over the
//! nodes of Citus, or in parts on this server. The [`statements`] that fill a table have a file of
//! its name: how a part is joined is in `statements/candidates.rs`, and how the statement reaches a
//! part on another server in `nodes/mod.rs`. [`look`] says how to bring a finished result up to
//! date by the tables that are kept. If the documents are on this server, sessions share the work
//! by taking [`parts`](statements::parts); parts that other nodes join are taken in groups.
//! [`outcome`] makes the tables that the caller named.
//!
//! [`session`] keeps why a call ends until the tables of the call are dropped, and [`retry`]
//! repeats steps that failed because of a node. `statements/calls` lists calls and drops
//! what they left, [`estimate`] says beforehand what a call takes on each node.
//!
//! Work runs as the caller with `pg_catalog` as the only schema of the search path, except for
//! reading documents, which runs like any query of the caller.
//! Tables are found by name at each use, and [`statements`] refer to the OIDs of those that were
//! accepted.

mod arguments;
mod estimate;
mod look;
mod method;
mod nodes;
mod outcome;
mod place;
mod retry;
mod session;
mod statements;
mod tables;
mod transaction;
mod work;
