//! `near_duplicates_into`: near duplicates as a table, of documents on servers made there.
//!
//! The procedure calls [`transaction`] and commits until that says that it is done: each time it finds out what there is, and
//! carries out what `crate::into` plans. [`arguments`] are the arguments, [`documents`] what statements are told of them, [`place`] the names that are to be made of them, [`log`] the
//! log beside the result, [`spread`] the working tables and where their rows are, [`servers`] what is asked of servers and run
//! there, [`layout`] how Citus has the documents, [`tables`] how tables are filled and [`in_shards`] how those of Citus are, [`stars`] how clusters are made there, [`outcome`] what becomes of them, [`refusal`] an error that is raised when what was
//! made is gone. [`functions`] do what SQL cannot.
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
mod outcome;
mod own;
mod place;
mod refusal;
mod servers;
mod spread;
mod stars;
mod statements;
mod tables;
mod transaction;
mod work;
