//! Where a long call is: in the process title, in `pg_stat_activity`, and by NOTICE where that is asked for.

use std::ffi::CString;
use std::time::{Duration, Instant};

use pgrx::pg_sys;

use super::{activity, settings};

/// Reports at most twice a second, so that it costs nothing.
#[derive(Debug)]
pub(crate) struct Progress {
    name: &'static str,
    last: Instant,
    shown: bool,
}

impl Progress {
    /// The progress of a call of `name`.
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, last: Instant::now(), shown: false }
    }

    /// Says where the call is, if it did not lately. Never called while workers run.
    pub(crate) fn report(&mut self, state: impl FnOnce() -> String) {
        const EVERY: Duration = Duration::from_millis(500);
        if self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        let state = state();
        self.shown = true;
        activity::report(self.name, &state);
        if let Ok(title) = CString::new(format!("{}: {state}", self.name)) {
            // SAFETY: a C string that outlives the call.
            unsafe { pg_sys::set_ps_display(title.as_ptr()) };
        }
        if settings::progress() {
            pgrx::notice!("{}: {state}", self.name);
        }
    }
}

impl Drop for Progress {
    /// The call ends: what shows where it is does no longer.
    fn drop(&mut self) {
        if self.shown {
            activity::end();
        }
    }
}
