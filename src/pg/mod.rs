//! The thin layer that knows PostgreSQL: arguments in, rows out, errors with their SQLSTATE.
//!
//! The SQL objects are declared in `sql/*.sql`; each C function there is a function of this module.
#![allow(unsafe_code)] // The one door to the server's C interface; every use says why it is sound.

mod as_owner;
mod attempt;
mod by_number;
mod call;
mod clusters;
mod codes;
mod columns;
mod cursor;
mod decode;
mod eliminate;
mod encoding;
mod error;
mod example;
mod explain;
mod functions;
mod html;
mod ids;
mod index;
mod jobs;
mod join;
mod lcs;
mod methods;
mod near;
mod operators;
mod pair_clusters;
mod pairs;
mod panics;
mod passages;
mod plan;
mod progress;
mod query;
mod reading;
mod report;
mod request;
mod reserve;
mod rows;
mod settings;
mod shares;
mod sites;
mod sketch_types;
mod sketches;
mod source;
mod spans;
mod stats;
mod temp_file;
mod transition;
mod workers;
mod written_ids;

use pgrx::prelude::*;

::pgrx::pg_module_magic!(name, version);

extension_sql_file!("../../sql/building_blocks.sql", name = "building_blocks");
extension_sql_file!("../../sql/html.sql", name = "html");
extension_sql_file!("../../sql/plan.sql", name = "plan");
extension_sql_file!("../../sql/sketch_types.sql", name = "sketch_types");
extension_sql_file!("../../sql/sketches.sql", name = "sketches", requires = ["sketch_types"]);
extension_sql_file!("../../sql/near_duplicates.sql", name = "near_duplicates");
extension_sql_file!("../../sql/signature.sql", name = "signature", requires = ["sketches"]);
extension_sql_file!("../../sql/spans.sql", name = "spans");
extension_sql_file!("../../sql/lcs.sql", name = "lcs");
extension_sql_file!("../../sql/codes.sql", name = "codes");
extension_sql_file!("../../sql/passages.sql", name = "passages", requires = ["near_duplicates"]);
extension_sql_file!("../../sql/clusters.sql", name = "clusters", requires = ["near_duplicates"]);
extension_sql_file!("../../sql/report.sql", name = "report", requires = ["clusters"]);
extension_sql_file!("../../sql/jobs.sql", name = "jobs", requires = ["clusters"]);

/// Called once when the library is loaded into a backend.
#[pg_guard]
pub extern "C-unwind" fn _PG_init() {
    panics::log_bugs();
    settings::define();
    index::define();
}
