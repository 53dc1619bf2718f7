//! Settings, which control resources but never results.

use std::ffi::CString;

use pgrx::guc::{GucContext, GucFlags, GucRegistry, GucSetting};
use pgrx::pg_sys;

static THREADS: GucSetting<i32> = GucSetting::<i32>::new(0);
static MEMORY: GucSetting<i32> = GucSetting::<i32>::new(0);
static KEEP_HISTORY: GucSetting<i32> = GucSetting::<i32>::new(1000);
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
        c"neardup.keep_history",
        c"Refreshes of each job that neardup_history keeps.",
        c"A refresh that is done deletes older ones.",
        &KEEP_HISTORY,
        1,
        i32::MAX,
        GucContext::Userset,
        GucFlags::default(),
    );
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

/// Returns the maximum number of refreshes in the history of a job, at least 1.
pub(crate) fn keep_history() -> i64 {
    KEEP_HISTORY.get().into()
}

/// Reports whether the planner may make batch joins.
pub(crate) fn enable_near_join() -> bool {
    ENABLE_NEAR_JOIN.get()
}

/// Reports whether to report progress by NOTICE.
pub(crate) fn progress() -> bool {
    PROGRESS.get()
}
