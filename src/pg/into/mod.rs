//! `near_duplicates_into`: near duplicates as a table, of documents on servers made there.
//!
//! The procedure calls [`transaction`] and commits until that says that it is done: each time it finds out what there is, and
//! carries out what `crate::into` plans. [`arguments`] are the arguments, [`documents`] what statements are told of them, [`place`] the names that are to be made of them, [`log`] the
//! log beside the result, [`spread`] the working tables and where their rows are, [`servers`] what is asked of servers and run
//! there, [`layout`] how Citus distributes the documents. [`tables`] makes the working tables; they are filled by [`on_servers`] or, in
//! Citus, by [`in_shards`], where [`stars`] makes clusters, too. [`outcome`] makes the tables that the caller named. [`reasons`]
//! words why a call ends, and [`refusal`] is an error that is raised once what the call made is gone. [`functions`] do what SQL cannot.
//!
//! Work runs as the caller where `pg_catalog` is the only schema of the search path, but for the reading of documents, which is
//! as in any query of the caller. Tables are found by name at each use, and [`own`] takes only those that are the caller's and just as
//! it made them, with the [`columns`] they were made with, and locks them: [`statements`] are about their numbers.

mod arguments;
mod columns;
mod documents;
mod functions;
mod in_shards;
mod layout;
mod log;
mod on_servers;
mod outcome;
mod own;
mod place;
mod reasons;
mod refusal;
mod servers;
mod spread;
mod stars;
mod statements;
mod tables;
mod transaction;
mod work;
