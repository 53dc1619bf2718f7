//! Detects whether the plan of a query is being printed, for example by EXPLAIN or auto_explain, or
//! the message of an exclusion constraint. Constants in a printed plan, and the keys in such a
//! message, are shortened.
//!
//! An output function does not know why it is called. But plans are printed only in two periods, in
//! which the query itself does nothing else: from the start to the end of a query that is only
//! explained, and from the last row to the end of a query whose execution is measured. If another
//! query starts in such a period, the period ends, so the results and writes of a query are never
//! shortened. The keys of two rows are printed between the row that a scan for a constraint found
//! last and the error: the scan does not go on, and no other query starts.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use pgrx::pg_sys::{self, QueryDesc};

// The server's own functions, declared without the guards of pgrx: an error jumps over the frames
// of the hooks below, which hold nothing that has to be dropped.
unsafe extern "C-unwind" {
    fn standard_ExecutorStart(query: *mut QueryDesc, flags: c_int);
    fn standard_ExecutorFinish(query: *mut QueryDesc);
    fn standard_ExecutorEnd(query: *mut QueryDesc);
}

/// A row whose key a constraint may print, after that of the row that it refuses.
#[derive(Clone, Copy)]
pub(crate) struct Conflict {
    /// The table.
    pub table: pg_sys::Oid,
    /// The address of the row that is in the table.
    pub row: pg_sys::ItemPointerData,
    /// Set for the key of the row that is refused, which is printed first.
    pub is_refused: bool,
}

thread_local! {
    /// The row that a scan for a constraint found last.
    static CONFLICT: Cell<Option<Conflict>> = const { Cell::new(None) };
    /// The query whose plan may be printed now; null for none.
    static PRINTED: Cell<*mut QueryDesc> = const { Cell::new(std::ptr::null_mut()) };
    /// What the server or other libraries do at these times.
    static START: Cell<pg_sys::ExecutorStart_hook_type> = const { Cell::new(None) };
    static FINISH: Cell<pg_sys::ExecutorFinish_hook_type> = const { Cell::new(None) };
    static END: Cell<pg_sys::ExecutorEnd_hook_type> = const { Cell::new(None) };
}

/// Installs the hooks for the start and the end of queries.
pub(crate) fn define() {
    // SAFETY: variables of the server, which has one thread; our hooks call the hooks that were
    // installed before.
    unsafe {
        START.set(pg_sys::ExecutorStart_hook.or(Some(standard_ExecutorStart)));
        FINISH.set(pg_sys::ExecutorFinish_hook.or(Some(standard_ExecutorFinish)));
        END.set(pg_sys::ExecutorEnd_hook.or(Some(standard_ExecutorEnd)));
        pg_sys::ExecutorStart_hook = Some(start);
        pg_sys::ExecutorFinish_hook = Some(finish);
        pg_sys::ExecutorEnd_hook = Some(end);
        // The end hook does not run for a query that fails.
        pg_sys::RegisterXactCallback(Some(transaction_ends), std::ptr::null_mut());
        pg_sys::RegisterSubXactCallback(Some(subtransaction_ends), std::ptr::null_mut());
    }
}

/// Records the row that a scan for a constraint found last, or that there is none.
pub(crate) fn found(conflict: Option<Conflict>) {
    CONFLICT.set(conflict);
}

/// Returns the row whose key is being printed, if a constraint is about to refuse a row.
pub(crate) fn conflict() -> Option<Conflict> {
    let conflict = CONFLICT.get()?;
    CONFLICT.set(Some(Conflict { is_refused: false, ..conflict }));
    Some(conflict)
}

/// Records that nothing is being printed.
fn nothing_is_printed() {
    PRINTED.set(std::ptr::null_mut());
    CONFLICT.set(None);
}

/// Reports whether a plan is being printed.
pub(crate) fn is_printing() -> bool {
    !PRINTED.get().is_null()
}

/// Shortens the long hexadecimal numbers in a text.
pub(crate) fn short(text: &str) -> String {
    /// The maximum number of digits that are shown in full: more than a double has, and more than a
    /// simhash of 64 bits.
    const WHOLE: usize = 32;
    /// The number of digits that are shown of a longer number.
    const SHOWN: usize = 12;
    let mut short = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        if digits > WHOLE {
            short.push_str(&rest[..SHOWN]);
            // The dots are ASCII, so that they can be shown in any encoding.
            short.push_str("...");
        } else {
            short.push_str(&rest[..digits]);
        }
        rest = &rest[digits..];
        let others = rest.find(|c: char| c.is_ascii_hexdigit()).unwrap_or(rest.len());
        short.push_str(&rest[..others]);
        rest = &rest[others..];
    }
    short
}

/// Called when a query starts.
unsafe extern "C-unwind" fn start(query: *mut QueryDesc, flags: c_int) {
    nothing_is_printed();
    // SAFETY: does what the server was about to do; nothing here has to be dropped if an error
    // jumps over this frame.
    unsafe {
        if let Some(next) = START.get() {
            next(query, flags);
        }
    }
    if flags & pg_sys::EXEC_FLAG_EXPLAIN_ONLY as c_int != 0 {
        PRINTED.set(query);
    }
}

/// Called when a query has returned its last row. Runs the remaining triggers of the query.
unsafe extern "C-unwind" fn finish(query: *mut QueryDesc) {
    // SAFETY: as above; the query stays until its end.
    unsafe {
        if let Some(next) = FINISH.get() {
            next(query);
        }
        if (*query).instrument_options != 0 {
            PRINTED.set(query);
        }
    }
}

/// Called when a query ends.
unsafe extern "C-unwind" fn end(query: *mut QueryDesc) {
    // SAFETY: as above.
    unsafe {
        if let Some(next) = END.get() {
            next(query);
        }
    }
    if PRINTED.get() == query {
        PRINTED.set(std::ptr::null_mut());
    }
}

unsafe extern "C-unwind" fn transaction_ends(_: pg_sys::XactEvent::Type, _: *mut c_void) {
    nothing_is_printed();
}

unsafe extern "C-unwind" fn subtransaction_ends(
    event: pg_sys::SubXactEvent::Type,
    _: pg_sys::SubTransactionId,
    _: pg_sys::SubTransactionId,
    _: *mut c_void,
) {
    if event == pg_sys::SubXactEvent::SUBXACT_EVENT_ABORT_SUB {
        nothing_is_printed();
    }
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn only_long_numbers_are_cut() {
        let ball =
            format!("<minhash:v1:words:h1.1:k5:seed1:m128:{},0.8333333333333334>", "01020304".repeat(128));
        assert_eq!(short(&ball), "<minhash:v1:words:h1.1:k5:seed1:m128:010203040102...,0.8333333333333334>");
        for whole in ["", "simhash:v1:words:h1.1:k1:0123456789abcdef", "größer: ffff"] {
            assert_eq!(short(whole), whole);
        }
    }
}
