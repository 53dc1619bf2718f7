//! What becomes of panics.
//!
//! Inside of Rust code every error of the server and of ours is a panic (pgrx), which is not
//! worth a word. A panic with a message is a bug: the server's log gets it with its place, and with a backtrace where
//! RUST_BACKTRACE asks for one. The client is told neither; pgrx's own hook keeps the backtrace of every panic
//! and puts it into the DETAIL of the error.

use std::any::Any;
use std::panic::{set_hook, take_hook};

/// The message of a panic that is a bug; none if it is an error on its way.
pub(crate) fn bug(panic: &(dyn Any + Send)) -> Option<&str> {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str))
}

/// Writes bugs, and nothing else, to the server's log, in place of what pgrx does. For the start.
pub(crate) fn log_bugs() {
    drop(take_hook());
    // With pgrx's hook gone, the one that the standard library begins with.
    let log = take_hook();
    set_hook(Box::new(move |info| {
        if bug(info.payload()).is_some() {
            log(info);
        }
    }));
}

#[cfg(all(feature = "pg_test", not(test)))]
super::call::sql_function! {
    /// A bug that there always is, for the test of what is told of bugs; no SQL of the extension declares it.
    neardup_bug, pg_finfo_neardup_bug, |_| panic!("a bug for tests")
}
