//! The state of a long call: shown in the process title, in `pg_stat_activity`, and by NOTICE if
//! that is requested.

use std::ffi::CString;
use std::time::{Duration, Instant};

use pgrx::pg_sys;

use super::{activity, settings};

/// A reporter that reports at most twice a second, so that the cost is negligible.
#[derive(Debug)]
pub(crate) struct Reporter {
    name: &'static str,
    /// The OID of the relation that the call reads.
    docs: pg_sys::Oid,
    last: Instant,
    shown: bool,
}

impl Reporter {
    /// Makes the reporter for a call of `name` on the relation `docs`.
    pub(crate) fn new(name: &'static str, docs: pg_sys::Oid) -> Self {
        Self { name, docs, last: Instant::now(), shown: false }
    }

    /// Reports the state of the call, unless the last report is too recent. Called by the
    /// leader, between the work of its threads or beside it.
    pub(crate) fn report(&mut self, state: impl FnOnce() -> String) {
        const EVERY: Duration = Duration::from_millis(500);
        if self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        let state = state();
        self.shown = true;
        activity::report(self.name, self.docs, &state);
        if let Ok(title) = CString::new(format!("{}: {state}", self.name)) {
            // SAFETY: a C string that outlives the call.
            unsafe { pg_sys::set_ps_display(title.as_ptr()) };
        }
        if settings::progress() {
            pgrx::notice!("{}: {state}", self.name);
        }
    }
}

impl Drop for Reporter {
    /// Removes the report when the call ends.
    fn drop(&mut self) {
        if self.shown {
            activity::end();
        }
    }
}
