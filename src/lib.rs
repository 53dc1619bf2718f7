//! The extension, through which PostgreSQL calls [`neardup_core`].
//!
//! * [`jobs`], [`into`]: decide, without a server, the next step of a refresh of a job and of a
//!   call of `near_duplicates_into`
//! * `pg`: everything that calls the server or is called by it

#![warn(unreachable_pub)]

#[path = "pg/into/plan/mod.rs"]
pub mod into;
#[path = "pg/jobs/plan/mod.rs"]
pub mod jobs;
#[cfg(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))]
mod pg;

#[cfg(all(
    feature = "pg_test",
    not(any(feature = "pg15", feature = "pg16", feature = "pg17", feature = "pg18"))
))]
compile_error!("pg_test is of a server: --no-default-features --features pg17,pg_test, for example");

// scripts/pgrx_test.sh calls these tests. The program that runs the unit tests has no server.
#[cfg(all(feature = "pg_test", not(test)))]
#[path = "../pg_test/in_server/mod.rs"]
mod pg_tests;
