//! The handling of panics.
//!
//! Inside Rust code every error of the server and of ours is a panic (pgrx), which is not logged. A
//! panic with a message is a bug: it is written to the server's log with its location, and with a
//! backtrace if RUST_BACKTRACE requests one. The client sees neither. pgrx's own hook stores the
//! backtrace of every panic and puts it into the DETAIL of the error.

use std::any::Any;
use std::panic::{set_hook, take_hook};

/// Returns the message of a panic that is a bug; none if it is an error that is being propagated.
pub(crate) fn bug(panic: &(dyn Any + Send)) -> Option<&str> {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str))
}

/// Writes only bugs to the server's log, in place of pgrx's hook. Called at the start.
pub(crate) fn log_bugs() {
    drop(take_hook());
    // With pgrx's hook gone, this is the initial hook of the standard library.
    let log = take_hook();
    set_hook(Box::new(move |info| {
        if bug(info.payload()).is_some() {
            log(info);
        }
    }));
}

#[cfg(all(feature = "pg_test", not(test)))]
super::call::sql_function! {
    /// A permanent bug, for the test of how bugs are reported; no SQL of the extension declares it.
    neardup_bug, pg_finfo_neardup_bug, |_| panic!("a bug for tests")
}
