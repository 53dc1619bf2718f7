//! A deadline for each statement that other servers take part in. A timer of the server cancels a
//! statement that has run too long, like `statement_timeout`; the statement ends with an error of
//! its own.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

use pgrx::{PgSqlErrorCode, pg_sys};

use super::error::{Result, SqlError};
use super::executor::OnDrop;

unsafe extern "C-unwind" {
    fn RegisterTimeout(id: c_int, handler: unsafe extern "C-unwind" fn()) -> c_int;
    fn enable_timeout_after(id: c_int, milliseconds: c_int);
    fn disable_timeout(id: c_int, keep_indicator: bool);
}

thread_local! {
    /// The milliseconds that a statement may take, or 0.
    static LIMIT: Cell<i32> = const { Cell::new(0) };
    /// The timer, once it is registered.
    static TIMER: Cell<Option<c_int>> = const { Cell::new(None) };
    /// Set while the timer runs.
    static RUNS: Cell<bool> = const { Cell::new(false) };
}

/// Set by the timer.
static FIRED: AtomicBool = AtomicBool::new(false);

/// The variable from which libpq takes the seconds that a connection may take to be made, unless
/// the options of a server say it.
const CONNECT: &str = "PGCONNECT_TIMEOUT";

/// Limits all statements to these milliseconds, if there are any, until the result is dropped.
pub(crate) fn limit(milliseconds: i32) -> OnDrop<impl Fn()> {
    LIMIT.set(milliseconds);
    FIRED.store(false, Ordering::Relaxed);
    let set = milliseconds > 0 && std::env::var_os(CONNECT).is_none();
    // SAFETY: no other thread of this process runs, because joins have ended their threads.
    unsafe {
        if set {
            // The least that libpq takes is two seconds.
            let seconds = (milliseconds / 1000).max(2);
            std::env::set_var(CONNECT, seconds.to_string());
        }
        OnDrop(move || {
            LIMIT.set(0);
            if set {
                std::env::remove_var(CONNECT);
            }
        })
    }
}

/// Returns the milliseconds that a statement may take, or 0.
pub(crate) fn current() -> i32 {
    LIMIT.get()
}

/// Called by the server in a signal handler.
unsafe extern "C-unwind" fn fire() {
    FIRED.store(true, Ordering::Relaxed);
    // SAFETY: flags and the latch of this process, as the server's own timers set them.
    unsafe {
        pg_sys::QueryCancelPending = 1;
        pg_sys::InterruptPending = 1;
        pg_sys::SetLatch(pg_sys::MyLatch);
    }
}

/// Runs a statement, and ends it with an error if it takes longer than the limit. A statement
/// within a statement has no limit of its own.
pub(crate) fn run<T>(statement: impl FnOnce() -> Result<T>) -> Result<T> {
    /// A number that the server replaces by that of a free timer.
    const ANY: c_int = c_int::MAX;
    let milliseconds = LIMIT.get();
    if milliseconds <= 0 || RUNS.get() {
        return statement();
    }
    FIRED.store(false, Ordering::Relaxed);
    // SAFETY: the timers of the server are set up in every session, and the handler lives as long
    // as the process.
    let timer = TIMER.get().unwrap_or_else(|| unsafe { RegisterTimeout(ANY, fire) });
    TIMER.set(Some(timer));
    RUNS.set(true);
    // SAFETY: a timer of ours.
    unsafe { enable_timeout_after(timer, milliseconds) };
    let result = statement();
    // SAFETY: as above.
    unsafe { disable_timeout(timer, false) };
    RUNS.set(false);
    match result {
        Err(error) if has_fired() && is_cancel(&error) => Err(expired(milliseconds)),
        result => {
            if has_fired() && result.is_ok() {
                // It fired when the statement had ended. SAFETY: a flag of this process.
                unsafe { pg_sys::QueryCancelPending = 0 };
            }
            result
        }
    }
}

/// Reports whether the last limited statement ran into its limit.
pub(crate) fn has_fired() -> bool {
    FIRED.load(Ordering::Relaxed)
}

/// Notes that a request to a server ran into the limit.
pub(crate) fn note() {
    FIRED.store(true, Ordering::Relaxed);
}

fn is_cancel(error: &SqlError) -> bool {
    let SqlError::Server(error) = error else { return false };
    // SAFETY: an error that was copied from the server.
    unsafe { (**error).sqlerrcode == PgSqlErrorCode::ERRCODE_QUERY_CANCELED as i32 }
}

/// Returns the error for a statement that ran into its limit. Who raises it may name the nodes.
fn expired(milliseconds: i32) -> SqlError {
    let message = format!("a statement on other nodes has not ended within {milliseconds} ms");
    SqlError::new(PgSqlErrorCode::ERRCODE_CONNECTION_FAILURE, message).hint(HINT)
}

/// The hint for a statement that ran into its limit.
pub(crate) const HINT: &str =
    "Call it again once all nodes answer: it goes on where it was. Or raise the limit: node_timeout => '1h'";
