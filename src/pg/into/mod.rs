//! `near_duplicates_into`: makes a table of near duplicates. Pairs of documents that are on servers
//! are found on these servers.
//!
//! The procedure calls [`transaction`] and commits, until the transaction reports that it is done.
//! Each transaction [looks](look) for the current state, and carries out the plan of `crate::into`.
//! [`arguments`] are the arguments, [`method`] how their method is made in parts, [`documents`] the
//! parameters of statements, [`place`] the names of tables to make, [`log`] the log next to the
//! result, [`spread`] the working tables and the place of their rows, [`servers`] the requests to
//! servers and the statements that run there, [`layout`] the distribution of the documents by
//! Citus. [`tables`] makes the working tables. They are filled by [`on_servers`] or, in Citus, by
//! [`in_shards`], where [`stars`] also makes clusters, or by [`here`] if the documents are on this
//! server and are joined in parts, which sessions share: [`in_parts`] finds these tables, and
//! [`parts`] takes the parts; [`groups`] takes those that other nodes join. [`outcome`] makes the
//! tables that the caller named. [`reasons`] makes the error that says why a call ends, and
//! [`refusal`] is an error that is raised once the tables of the call are dropped. [`retry`]
//! repeats steps that failed because of a node, and [`connection`] is a request to a server with a
//! deadline, by [`libpq`] and the options that a [`mapping`] has. [`update`] brings a finished
//! result up to date by working tables that are [`kept`], in Citus as [`update_shards`] does.
//! [`runs`] lists calls and what they left, by the logs that [`known_log`] reads, and [`clean`]
//! drops it. [`estimate`] says beforehand what a call takes on each node, by [`measure`], which
//! takes its steps on a sample.
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
mod here;
mod in_parts;
mod in_shards;
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
mod on_servers;
mod outcome;
mod own;
mod parts;
mod place;
mod reasons;
mod refusal;
mod retry;
mod runs;
mod servers;
mod spread;
mod stars;
mod statements;
mod tables;
mod transaction;
mod update;
mod update_shards;
mod work;
