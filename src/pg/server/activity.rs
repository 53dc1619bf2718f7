//! The text that `pg_stat_activity` shows for a long call: its query, followed by the memory of the
//! process and the state of the call or of the refresh step. The views `neardup_progress` and
//! `neardup_activity` read the state from this text. So other sessions see the state of a
//! transaction that has not committed, and only users who may see the query can see its state.
//!
//! The process title has the state, too, and NOTICEs if that is requested.

use std::cell::Cell;
use std::ffi::{CStr, CString};
use std::time::{Duration, Instant};

use pgrx::pg_sys;

use super::error::is_failing;
use super::notices::notice;
use super::settings;
use crate::pg::compat;

thread_local! {
    static STEP: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// The activity of a refresh; when it is dropped, the original query is shown.
#[derive(Debug)]
pub(crate) struct Activity;

impl Activity {
    /// Reports the step of the refresh.
    pub(crate) fn step(&self, name: &'static str) {
        STEP.set(Some(name));
        show(Some(("neardup_refresh", None, name)));
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

/// Reports the state of a call that reads the relation `docs`: as part of the refresh step if a
/// refresh is running, and otherwise as part of the query.
pub(crate) fn report(call: &str, docs: pg_sys::Oid, state: &str) {
    match STEP.get() {
        Some(step) => show(Some(("neardup_refresh", None, &format!("{step}: {call}: {state}")))),
        None => show(Some((call, Some(docs), state))),
    }
}

/// Ends the report of a call: shows the step of the refresh, or the original query.
pub(crate) fn end() {
    if !is_failing() && !std::thread::panicking() {
        show(STEP.get().map(|step| ("neardup_refresh", None, step)));
    }
}

/// Returns the number of kilobytes of private memory of the process, including its threads, or
/// `None` if the system does not report it.
fn own_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix("RssAnon:")?.trim().strip_suffix(" kB")?.parse().ok())
}

/// Shows the state, or the original query if there is no state. Does nothing in a process without a
/// query of a client, such as some of the server's own processes.
fn show(state: Option<(&str, Option<pg_sys::Oid>, &str)>) {
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
        Some((call, docs, state)) => {
            let docs = docs.map(|docs| format!(" docs {}", docs.to_u32())).unwrap_or_default();
            let memory = own_memory().map(|memory| format!(" {memory} kB")).unwrap_or_default();
            let step = format!(" /* neardup:{memory}{docs} */ /* {call}: {state} */");
            let query = query.to_bytes();
            // SAFETY: a string of that length in the server's encoding; the result is cut at a
            // whole character.
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

/// Returns the seconds that the threads of this process have spent on processors so far, in the
/// process itself and in the system on its behalf.
pub(crate) fn processor_seconds() -> f64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills the structure; a structure of zeros is valid, too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

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
        report(self.name, self.docs, &state);
        if let Ok(title) = CString::new(format!("{}: {state}", self.name)) {
            // SAFETY: a C string that outlives the call.
            unsafe { pg_sys::set_ps_display(title.as_ptr()) };
        }
        if settings::progress() {
            notice(format!("{}: {state}", self.name));
        }
    }
}

impl Drop for Reporter {
    /// Removes the report when the call ends.
    fn drop(&mut self) {
        if self.shown {
            end();
        }
    }
}
