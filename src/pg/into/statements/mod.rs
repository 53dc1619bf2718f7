//! All statements of `near_duplicates_into`. They run as the caller, with `pg_catalog` as the whole
//! search path.
//!
//! [`definitions`] says what the working tables are, and makes and drops them. The other tables'
//! files fill them, each wherever its rows are: [`seen`] has the documents and their changes, then
//! come [`sets`], [`members`], [`ranks`], [`routes`], [`candidates`] and [`pairs`],
//! [`stars`] for clusters in Citus, and the [`result`]. [`named`] opens the tables that they name.
//! [`join`] are the parts of these statements that describe the method. Sessions that share the
//! work take [`parts`] of it.
//!
//! [`catalog`] asks the server's catalog, and [`citus`] says how Citus distributes the documents,
//! and distributes tables like them. [`log`] is the log next to the result, [`servers`] has
//! the requests to servers. [`calls`] finds what calls have left, and [`estimate`] takes
//! the steps of a call on a sample.

mod calls;
pub(super) mod candidates;
pub(super) mod catalog;
pub(super) mod citus;
pub(super) mod definitions;
pub(super) mod estimate;
pub(super) mod join;
pub(super) mod log;
pub(super) mod members;
mod named;
pub(super) mod pairs;
pub(super) mod parts;
pub(super) mod ranks;
pub(super) mod result;
pub(super) mod routes;
pub(super) mod seen;
pub(super) mod servers;
pub(super) mod sets;
pub(super) mod stars;

/// The bits of a number that is not negative.
const POSITIVE: &str = "9223372036854775807::int8";

/// The condition in Citus, behind the name of a table that has sets, that a document with tokens is
/// the first one of those with the same set: only that one has the set.
const IS_FIRST: &str = "set IS NOT NULL";
