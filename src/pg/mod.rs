//! The thin layer that knows PostgreSQL: arguments in, rows out, errors with their SQLSTATE.
//!
//! The SQL objects are declared in `sql/*.sql`; each C function that these files name is defined in
//! this module.
#![allow(unsafe_code)] // Only this module calls the server; every use says why it is sound.

mod compat;
pub(crate) mod functions;
mod index;
mod into;
mod jobs;
mod near_join;
mod procedure;
mod query;
pub(crate) mod read;
pub(crate) mod request;
pub(crate) mod server;

use pgrx::prelude::*;
use server::{explaining, guard, settings};

::pgrx::pg_module_magic!(name, version);

extension_sql_file!("../../sql/version.sql", name = "version");
extension_sql_file!("../../sql/texts/building_blocks.sql", name = "building_blocks");
extension_sql_file!("../../sql/texts/signatures.sql", name = "signatures");
extension_sql_file!("../../sql/texts/spans.sql", name = "spans");
extension_sql_file!("../../sql/passages/lcs.sql", name = "lcs");
extension_sql_file!("../../sql/texts/codes.sql", name = "codes");
extension_sql_file!("../../sql/sketches/sketch_types.sql", name = "sketch_types");
extension_sql_file!("../../sql/sketches/minhash_simhash.sql", name = "sketches", requires = ["sketch_types"]);
extension_sql_file!("../../sql/near/sketch_balls.sql", name = "near", requires = ["sketch_types"]);
extension_sql_file!("../../sql/pairs/explain.sql", name = "explain", requires = ["sketch_types"]);
extension_sql_file!("../../sql/near/near_sets.sql", name = "near_sets", requires = ["near"]);
extension_sql_file!("../../sql/near/near_runs.sql", name = "near_runs", requires = ["near"]);
extension_sql_file!("../../sql/near/shares.sql", name = "shares");
extension_sql_file!("../../sql/index.sql", name = "index", requires = ["sketches", "near_sets", "near_runs"]);
extension_sql_file!("../../sql/pairs/near_duplicates.sql", name = "near_duplicates");
extension_sql_file!("../../sql/pairs/near_duplicates_stats.sql", name = "near_duplicates_stats");
extension_sql_file!("../../sql/suggest.sql", name = "suggest");
extension_sql_file!("../../sql/pairs/nearest.sql", name = "nearest", requires = ["near_duplicates"]);
extension_sql_file!(
    "../../sql/passages/partial_duplicates.sql",
    name = "passages",
    requires = ["near_duplicates"]
);
extension_sql_file!("../../sql/passages/runs.sql", name = "runs");
extension_sql_file!(
    "../../sql/clusters/near_duplicate_clusters.sql",
    name = "clusters",
    requires = ["near_duplicates"]
);
extension_sql_file!("../../sql/clusters/clusters_of_pairs.sql", name = "clusters_of_pairs");
extension_sql_file!("../../sql/clusters/eliminate.sql", name = "eliminate", requires = ["near_duplicates"]);
extension_sql_file!("../../sql/report.sql", name = "report");
extension_sql_file!("../../sql/jobs.sql", name = "jobs");
extension_sql_file!("../../sql/into.sql", name = "into", requires = ["jobs"]);
extension_sql_file!("../../sql/internal.sql", name = "internal", finalize);

/// Called once when the library is loaded into a backend.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    guard::log_bugs();
    #[cfg(feature = "pg_test")]
    server::allocator::report::begin();
    settings::define();
    explaining::define();
    index::define();
    near_join::define();
    near_join::planner::threshold::define();
}
