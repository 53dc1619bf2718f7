//! Functions of version 0.1.0 that refreshes no longer call. The SQL definitions of that version
//! declare them with these symbols, and the server looks for the symbols when these definitions are
//! installed, restored or upgraded with this library.

use pgrx::pg_sys::Datum;

use crate::pg::server::call::{Call, declared_otherwise, sql_function};
use crate::pg::server::error::Result;

/// Refuses a call, which only the SQL definitions of an older version make.
fn refuse(_: Call) -> Result<Datum> {
    Err(declared_otherwise("neardup has no such function any more".to_owned()))
}

sql_function! {
    /// `neardup_job_check(…)`
    neardup_job_check, pg_finfo_neardup_job_check, refuse
}
sql_function! {
    /// `neardup_job_lists(…)`
    neardup_job_lists, pg_finfo_neardup_job_lists, refuse
}
sql_function! {
    /// `neardup_job_merge(…)`
    neardup_job_merge, pg_finfo_neardup_job_merge, refuse
}
sql_function! {
    /// `neardup_job_pairs(…)`
    neardup_job_pairs, pg_finfo_neardup_job_pairs, refuse
}
sql_function! {
    /// `neardup_job_clusters(…)`
    neardup_job_clusters, pg_finfo_neardup_job_clusters, refuse
}
sql_function! {
    /// `neardup_job_grouping(…)`
    neardup_job_grouping, pg_finfo_neardup_job_grouping, refuse
}
