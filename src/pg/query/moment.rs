//! A moment at which several statements see what others have committed: of itself each one looks anew.

use std::cell::Cell;

use pgrx::pg_sys::{self, Snapshot};

use super::prepared::cleans_up;

thread_local! {
    /// What statements that write are to see.
    static CURRENT: Cell<Option<Snapshot>> = const { Cell::new(None) };
}

/// A snapshot that is kept. Statements see what it shows, and what their own transaction wrote until then. What they call
/// sees what they see, as far as it only reads.
#[derive(Debug)]
pub(crate) struct Moment(Snapshot);

impl Moment {
    /// What a statement of this transaction would see now.
    pub(crate) fn of_transaction() -> Self {
        // SAFETY: within a transaction; given back in drop, or by the server where an error ends it.
        Self(unsafe { pg_sys::RegisterSnapshot(pg_sys::GetTransactionSnapshot()) })
    }

    /// What there is now, whatever the transaction sees otherwise.
    pub(crate) fn latest() -> Self {
        // SAFETY: as above.
        Self(unsafe { pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot()) })
    }

    /// Lets all statements of this work that may write see this moment.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        /// However it ends.
        struct Before(Option<Snapshot>);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        let _before = Before(CURRENT.replace(Some(self.0)));
        work()
    }
}

impl Drop for Moment {
    fn drop(&mut self) {
        if !cleans_up() {
            // SAFETY: registered by us, in the same call, given back once.
            unsafe { pg_sys::UnregisterSnapshot(self.0) };
        }
    }
}

/// Runs a statement with the snapshot that it is to see, if there is one. That is not for the statements of what it calls.
pub(super) fn with_current<T>(run: impl FnOnce(Option<Snapshot>) -> T) -> T {
    let current = CURRENT.take();
    let result = run(current);
    CURRENT.set(current);
    result
}
