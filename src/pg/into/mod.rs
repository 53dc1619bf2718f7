//! `near_duplicates_into`: makes a table of near duplicates. Pairs of documents that are on servers
//! are found on these servers.
//!
//! The procedure calls [`transaction`] and commits, until the transaction reports that it is done.
//! Each transaction [looks](look) for the current state, and carries out the plan of `plan`, which
//! is compiled without a server. [`work`] is what its steps work with. [`arguments`] are the
//! arguments, [`method`] how their method is made in parts, [`documents`] the parameters of
//! statements, [`place`] the names of tables to make, [`log`] the log next to the result.
//!
//! [`spread`] are the working tables, [`kept`] those that bring a finished result up to date
//! ([`update`]). They are spread over [`nodes`]: [`servers`] of postgres_fdw, or the nodes that
//! Citus has by its [`layout`], or none. [`tables`] makes and fills them, and the [`statements`]
//! that fill a table have a file for each table. If the documents are on this server, sessions
//! share the work by taking [`parts`]; parts that other nodes join are taken in [`groups`].
//! [`outcome`] makes the tables that the caller named.
//!
//! [`reasons`] makes the error that says why a call ends, [`session`] keeps it until the tables of
//! the call are dropped, and [`retry`] repeats steps that failed because of a node. [`connection`] is a request to a server with a deadline, by [`libpq`] and the options
//! that a [`mapping`] has. [`runs`] lists calls and what they left, by the logs that [`known_log`]
//! reads, and [`clean`] drops it. [`estimate`] says beforehand what a call takes on each node, by
//! [`measure`], which takes its steps on a sample.
//!
//! Work runs as the caller with `pg_catalog` as the only schema of the search path, except for
//! reading documents, which runs like any query of the caller.
//! Tables are found by name at each use. [`own`] accepts and locks only tables that belong to the
//! caller and are exactly as the call made them, with their original [`columns`]: [`statements`]
//! refer to their OIDs.

mod arguments;
mod clean;
mod columns;
mod connection;
mod documents;
mod estimate;
mod groups;
mod kept;
mod known_log;
mod layout;
mod libpq;
mod limits;
mod log;
mod look;
mod mapping;
mod measure;
mod method;
mod near_duplicates_plan;
mod nodes;
mod outcome;
mod own;
mod parts;
mod place;
mod reasons;
mod retry;
mod runs;
mod servers;
mod session;
mod spread;
mod statements;
mod tables;
mod transaction;
mod update;
mod work;
