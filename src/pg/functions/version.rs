//! `neardup_version()`, and the check at the beginning of the extension's scripts
//! (docs/operations/upgrading.md).

use std::cmp::Ordering;

use pgrx::IntoDatum;
use pgrx::pg_sys::Datum;

use crate::pg::index::FORMAT;
use crate::pg::query::as_user::Extension;
use crate::pg::server::call::sql_functions;
use crate::pg::server::set_returning::record;
use crate::pg::server::version::{LIBRARY, compare, mismatch};
use neardup_core::incremental::digest::OUTLINE_VERSION;
use neardup_core::simd::sketch_loops::kernels;
use neardup_core::sketches::wire;
use neardup_core::{hash, text};

/// The columns of the result.
const COLUMNS: [&str; 9] = [
    "library",
    "sql",
    "text_rules",
    "hashes",
    "sketch_format",
    "index_format",
    "lists_format",
    "unicode",
    "instructions",
];

sql_functions! {
    /// `neardup_version() → record`
    neardup_version: |call| {
        let number = |version: u8| i32::from(version).into_datum();
        record(call, &COLUMNS, [
            LIBRARY.into_datum(),
            Extension::from_call(call)?.version()?.and_then(IntoDatum::into_datum),
            number(text::VERSION),
            number(hash::VERSION),
            number(wire::VERSION),
            number(FORMAT),
            number(OUTLINE_VERSION),
            text::characters::UNICODE.into_datum(),
            kernels().name.into_datum(),
        ])
    };

    /// `neardup_check_library() → void`: fails if the library is older than the script that calls
    /// it.
    neardup_check_library: |call| {
        match Extension::from_call(call)?.version()? {
            Some(sql) if compare(&sql, LIBRARY) == Ordering::Greater => {
                let message = format!("the library neardup that this session has loaded is of version {LIBRARY}, older than its SQL, {sql}");
                Err(mismatch(message, &sql))
            }
            _ => Ok(Datum::from(0)),
        }
    };
}
