//! What `pg_stat_activity` shows of a long call: its query, followed by how much memory the process has, and by where the call
//! or the step of a refresh is. The views `neardup_progress` and `neardup_activity` read it there; so other sessions see where
//! a transaction is that has not committed, and only those that may see queries.

use std::cell::Cell;
use std::ffi::{CStr, CString};

use pgrx::pg_sys;

use super::error::is_failing;
use crate::pg::compat;

thread_local! {
    static STEP: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// The activity of a refresh; when it is dropped the query is shown as it was given.
#[derive(Debug)]
pub(crate) struct Activity;

impl Activity {
    /// Says at which step the refresh is.
    pub(crate) fn step(&self, name: &'static str) {
        STEP.set(Some(name));
        show(Some(("neardup_refresh", name)));
    }
}

impl Drop for Activity {
    fn drop(&mut self) {
        STEP.set(None);
        if !is_failing() && !std::thread::panicking() {
            show(None);
        }
    }
}

/// Says where a call is: of the step of a refresh, if one is under way, or of the query.
pub(crate) fn report(call: &str, state: &str) {
    match STEP.get() {
        Some(step) => show(Some(("neardup_refresh", &format!("{step}: {call}: {state}")))),
        None => show(Some((call, state))),
    }
}

/// The call that reported ends: the step of the refresh is shown, or the query as it was given.
pub(crate) fn end() {
    if !is_failing() && !std::thread::panicking() {
        show(STEP.get().map(|step| ("neardup_refresh", step)));
    }
}

/// Kilobytes that the process has of its own, its threads included; none where the system does not say.
fn own_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("RssAnon:")?.trim().strip_suffix(" kB")?.parse().ok())
}

/// Without a query of a client, as in some processes of the server's own, nothing is shown.
fn show(state: Option<(&str, &str)>) {
    // SAFETY: null, or the text of the statement that the client sent.
    let query = unsafe {
        let query = pg_sys::debug_query_string;
        if query.is_null() {
            return;
        }
        CStr::from_ptr(query)
    };
    let shown = match state {
        None => query.to_owned(),
        Some((call, state)) => {
            let memory = own_memory().map(|memory| format!(" {memory} kB")).unwrap_or_default();
            let step = format!(" /* neardup:{memory} */ /* {call}: {state} */");
            let query = query.to_bytes();
            // SAFETY: a string of that length in the server's encoding, of which whole characters are left.
            let left = unsafe {
                let room = pg_sys::pgstat_track_activity_query_size - 1;
                let room = (room - step.len() as i32).max(0);
                pg_sys::pg_mbcliplen(query.as_ptr().cast(), query.len() as i32, room)
            };
            CString::new([&query[..left as usize], step.as_bytes()].concat()).unwrap_or_default()
        }
    };
    compat::show_activity(&shown);
}
