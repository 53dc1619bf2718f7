//! What `pg_stat_activity` shows of a refresh: its call, followed by the step that it is at. The view `neardup_progress`
//! reads it there; so other sessions see where a transaction is that has not committed, and only those that may see queries.

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
        show(Some(name));
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

/// Says how far the step of a refresh is, if one is under way.
pub(crate) fn report(state: &str) {
    if let Some(step) = STEP.get() {
        show(Some(&format!("{step}: {state}")));
    }
}

/// Without a query of a client, as in some processes of the server's own, nothing is shown.
fn show(step: Option<&str>) {
    // SAFETY: null, or the text of the statement that the client sent.
    let query = unsafe {
        let query = pg_sys::debug_query_string;
        if query.is_null() {
            return;
        }
        CStr::from_ptr(query)
    };
    let shown = match step {
        None => query.to_owned(),
        Some(step) => {
            let step = format!(" /* neardup_refresh: {step} */");
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
