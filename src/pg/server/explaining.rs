//! Whether the plan of a query is being printed, as EXPLAIN and auto_explain do it: then constants are shown short.
//!
//! An output function is not told what it is called for. But plans are printed at two moments only, when nothing else of the
//! query happens: of a query that is started just to be explained, until it ends, and of one that was measured, between its
//! last row and its end. Another query that starts there ends that, so what a query gives or writes is never short.

use std::cell::Cell;
use std::ffi::{c_int, c_void};

use pgrx::pg_sys::{self, QueryDesc};

// The server's own functions, without the guards of pgrx: an error goes through the frames below, which hold nothing.
unsafe extern "C-unwind" {
    fn standard_ExecutorStart(query: *mut QueryDesc, flags: c_int);
    fn standard_ExecutorFinish(query: *mut QueryDesc);
    fn standard_ExecutorEnd(query: *mut QueryDesc);
}

thread_local! {
    /// The query whose plan may be printed now; null for none.
    static PRINTED: Cell<*mut QueryDesc> = const { Cell::new(std::ptr::null_mut()) };
    static START: Cell<pg_sys::ExecutorStart_hook_type> = const { Cell::new(None) };
    static FINISH: Cell<pg_sys::ExecutorFinish_hook_type> = const { Cell::new(None) };
    static END: Cell<pg_sys::ExecutorEnd_hook_type> = const { Cell::new(None) };
}

/// Asks the server to tell where queries begin and end.
pub(crate) fn define() {
    // SAFETY: variables of the server, which has one thread; others that are told of the same are told by us.
    unsafe {
        START.set(pg_sys::ExecutorStart_hook);
        FINISH.set(pg_sys::ExecutorFinish_hook);
        END.set(pg_sys::ExecutorEnd_hook);
        pg_sys::ExecutorStart_hook = Some(start);
        pg_sys::ExecutorFinish_hook = Some(finish);
        pg_sys::ExecutorEnd_hook = Some(end);
        // A query that fails has no end.
        pg_sys::RegisterXactCallback(Some(transaction_ends), std::ptr::null_mut());
        pg_sys::RegisterSubXactCallback(Some(subtransaction_ends), std::ptr::null_mut());
    }
}

/// Whether a plan is being printed.
pub(crate) fn is_printing() -> bool {
    !PRINTED.get().is_null()
}

/// A text with the long hexadecimal numbers in it cut short.
pub(crate) fn short(text: &str) -> String {
    /// Digits of a number that is shown whole: more than a double has, and a simhash of 64 bits.
    const WHOLE: usize = 32;
    /// Those that are shown of a longer one.
    const SHOWN: usize = 12;
    let mut short = String::new();
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        if digits > WHOLE {
            short.push_str(&rest[..SHOWN]);
            // ASCII, so that it can be shown in any encoding.
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

/// A query starts.
unsafe extern "C-unwind" fn start(query: *mut QueryDesc, flags: c_int) {
    PRINTED.set(std::ptr::null_mut());
    // SAFETY: what the server was about to do; nothing here is dropped where an error jumps.
    unsafe {
        match START.get() {
            Some(next) => next(query, flags),
            None => standard_ExecutorStart(query, flags),
        }
    }
    if flags & pg_sys::EXEC_FLAG_EXPLAIN_ONLY as c_int != 0 {
        PRINTED.set(query);
    }
}

/// A query has given its last row, and run its triggers.
unsafe extern "C-unwind" fn finish(query: *mut QueryDesc) {
    // SAFETY: as above; the query stays until its end.
    unsafe {
        match FINISH.get() {
            Some(next) => next(query),
            None => standard_ExecutorFinish(query),
        }
        if (*query).instrument_options != 0 {
            PRINTED.set(query);
        }
    }
}

/// A query ends.
unsafe extern "C-unwind" fn end(query: *mut QueryDesc) {
    // SAFETY: as above.
    unsafe {
        match END.get() {
            Some(next) => next(query),
            None => standard_ExecutorEnd(query),
        }
    }
    if PRINTED.get() == query {
        PRINTED.set(std::ptr::null_mut());
    }
}

unsafe extern "C-unwind" fn transaction_ends(_: pg_sys::XactEvent::Type, _: *mut c_void) {
    PRINTED.set(std::ptr::null_mut());
}

unsafe extern "C-unwind" fn subtransaction_ends(
    event: pg_sys::SubXactEvent::Type,
    _: pg_sys::SubTransactionId,
    _: pg_sys::SubTransactionId,
    _: *mut c_void,
) {
    if event == pg_sys::SubXactEvent::SUBXACT_EVENT_ABORT_SUB {
        PRINTED.set(std::ptr::null_mut());
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
