//! The handling of panics.
//!
//! pgrx turns every error of the server, and every error that Rust code raises, into a panic while
//! Rust code runs. Such a panic is not logged. A panic with a message is a bug: it is written to
//! the server's log with its location, and with a backtrace if RUST_BACKTRACE requests one. The
//! client sees nothing of this. The hook of pgrx is not used, because it stores the backtrace of
//! every panic and puts it into the DETAIL of the error.

use std::any::Any;
use std::panic::{set_hook, take_hook};

/// Returns the message of a panic that is a bug, or `None` if the panic is an error that is being
/// propagated.
pub(crate) fn bug(panic: &(dyn Any + Send)) -> Option<&str> {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str))
}

/// Replaces the panic hook of pgrx by one that writes only bugs to the server's log. Called when
/// the library is loaded.
pub(crate) fn log_bugs() {
    drop(take_hook());
    // pgrx's hook is removed, so this is the initial hook of the standard library.
    let log = take_hook();
    set_hook(Box::new(move |info| {
        if bug(info.payload()).is_some() {
            log(info);
        }
    }));
}

#[cfg(all(feature = "pg_test", not(test)))]
super::call::sql_function! {
    /// A function that always has a bug, for the test of how bugs are reported. No SQL file of the
    /// extension declares it.
    neardup_bug, pg_finfo_neardup_bug, |_| panic!("a bug for tests")
}
