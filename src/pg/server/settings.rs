//! Settings, which control resources but never results.

use std::ffi::CString;

use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};
use pgrx::pg_sys;

static THREADS: GucSetting<i32> = GucSetting::<i32>::new(0);
static MEMORY: GucSetting<i32> = GucSetting::<i32>::new(0);
static KEEP_RUNS: GucSetting<i32> = GucSetting::<i32>::new(1000);
static PAUSE: GucSetting<i32> = GucSetting::<i32>::new(0);
static INTO_NODE_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(0);
static INTO_AT_ONCE: GucSetting<i32> = GucSetting::<i32>::new(0);
static INTO_RETRIES: GucSetting<i32> = GucSetting::<i32>::new(2);
static PROGRESS: GucSetting<bool> = GucSetting::<bool>::new(false);
static ENABLE_NEAR_JOIN: GucSetting<bool> = GucSetting::<bool>::new(true);

/// Declares the settings and reserves their prefix.
pub(crate) fn define() {
    GucRegistry::define_int_guc(
        c"neardup.threads",
        c"Threads a call of neardup works with.",
        c"0 means as many as a parallel query may use: max_parallel_workers_per_gather + 1.",
        &THREADS,
        0,
        1024,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"neardup.memory",
        c"Memory a call of neardup works with before it uses temporary files.",
        c"0 means maintenance_work_mem.",
        &MEMORY,
        0,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_KB,
    );
    GucRegistry::define_bool_guc(
        c"neardup.progress",
        c"Whether long calls of neardup report their phase and share by NOTICE.",
        c"The process title shows them in any case.",
        &PROGRESS,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"neardup.keep_runs",
        c"Runs of each job that neardup_runs keeps.",
        c"A refresh that is done deletes older ones.",
        &KEEP_RUNS,
        1,
        i32::MAX,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"neardup.pause",
        c"How long near_duplicates_into waits between two of its transactions.",
        c"So that a server with other work has time for it.",
        &PAUSE,
        0,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
    define_into();
    GucRegistry::define_bool_guc(
        c"neardup.enable_near_join",
        c"Whether the planner may make a join by <@ near(...) as one batch.",
        c"Like enable_hashjoin: for comparing plans.",
        &ENABLE_NEAR_JOIN,
        GucContext::Userset,
        GucFlags::EXPLAIN,
    );
    let prefix = CString::from(c"neardup");
    // SAFETY: a C string that outlives the call, in the backend's own thread.
    unsafe { pg_sys::MarkGUCPrefixReserved(prefix.as_ptr()) };
}

/// Declares the settings of calls that other nodes take part in.
fn define_into() {
    GucRegistry::define_int_guc(
        c"neardup.into_at_once",
        c"Parts that near_duplicates_into joins at once on other nodes, and commits together.",
        c"0 means as many as have about 20 million rows.",
        &INTO_AT_ONCE,
        0,
        65_536,
        GucContext::Userset,
        GucFlags::default(),
    );
    GucRegistry::define_int_guc(
        c"neardup.into_node_timeout",
        c"How long a statement of near_duplicates_into that other nodes take part in may take.",
        c"0 means as long as it takes.",
        &INTO_NODE_TIMEOUT,
        0,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
    GucRegistry::define_int_guc(
        c"neardup.into_retries",
        c"How often near_duplicates_into repeats a step that failed because a node was not reached.",
        c"The same for deadlocks and conflicts of transactions; no other errors are repeated.",
        &INTO_RETRIES,
        0,
        1000,
        GucContext::Userset,
        GucFlags::default(),
    );
}

/// Returns the number of parts that are joined at once on other nodes, or `None` if the call
/// decides.
pub(crate) fn into_at_once() -> Option<usize> {
    usize::try_from(INTO_AT_ONCE.get()).ok().filter(|&parts| parts > 0)
}

/// Returns the milliseconds that a statement that other nodes take part in may take, or 0.
pub(crate) fn into_node_timeout() -> i32 {
    INTO_NODE_TIMEOUT.get()
}

/// Returns how often a step is repeated.
pub(crate) fn into_retries() -> i32 {
    INTO_RETRIES.get()
}

/// Returns the number of threads to work with, at least 1.
pub(crate) fn threads() -> usize {
    let threads = match THREADS.get() {
        // SAFETY: an int that only this thread writes.
        0 => 1 + unsafe { pg_sys::max_parallel_workers_per_gather },
        asked => asked,
    };
    usize::try_from(threads).unwrap_or(1).max(1)
}

/// Returns the number of bytes of memory to work with. It is at least a megabyte, because less
/// memory only costs time.
pub(crate) fn memory() -> usize {
    const LEAST: usize = 1 << 10;
    let kilobytes = match MEMORY.get() {
        // SAFETY: an int that only this thread writes.
        0 => unsafe { pg_sys::maintenance_work_mem },
        asked => asked,
    };
    usize::try_from(kilobytes).unwrap_or(0).max(LEAST) << 10
}

/// Returns the maximum number of runs in the log of a job, at least 1.
pub(crate) fn keep_runs() -> i64 {
    KEEP_RUNS.get().into()
}

/// Returns the number of seconds to wait between two transactions of `near_duplicates_into`.
pub(crate) fn pause() -> f64 {
    f64::from(PAUSE.get()) / 1000.0
}

/// Reports whether the planner may make batch joins.
pub(crate) fn enable_near_join() -> bool {
    ENABLE_NEAR_JOIN.get()
}

/// Reports whether to report progress by NOTICE.
pub(crate) fn progress() -> bool {
    PROGRESS.get()
}
