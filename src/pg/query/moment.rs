//! A snapshot that several statements share, so that all of them see the same commits of other
//! transactions. By default each statement takes a new snapshot.

use std::cell::Cell;

use pgrx::pg_sys::{self, Snapshot};

use super::prepared::cleans_up;
use crate::pg::server::executor::OnDrop;

thread_local! {
    /// The snapshot for statements that write.
    static CURRENT: Cell<Option<Snapshot>> = const { Cell::new(None) };
}

/// A registered snapshot. A statement that uses it sees the contents of the snapshot, and all
/// earlier writes of its own transaction. A function that the statement calls sees the same if it
/// only reads.
#[derive(Debug)]
pub(crate) struct Moment(Snapshot);

impl Moment {
    /// Takes the snapshot that a statement of this transaction would have now.
    pub(crate) fn of_transaction() -> Self {
        // SAFETY: within a transaction; released in drop, or by the server after an error.
        Self(unsafe { pg_sys::RegisterSnapshot(pg_sys::GetTransactionSnapshot()) })
    }

    /// Takes a snapshot of the current state, even if the transaction's other statements see an
    /// earlier state.
    pub(crate) fn latest() -> Self {
        // SAFETY: as above.
        Self(unsafe { pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot()) })
    }

    /// Returns the snapshot.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.0
    }

    /// Makes all statements of `work` that may write use this snapshot.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = CURRENT.replace(Some(self.0));
        let _restored = OnDrop(|| CURRENT.set(before));
        work()
    }
}

impl Drop for Moment {
    fn drop(&mut self) {
        if !cleans_up() {
            // SAFETY: registered by us, in the same call, and released once.
            unsafe { pg_sys::UnregisterSnapshot(self.0) };
        }
    }
}

/// Runs a statement with the current snapshot, if there is one. Statements in functions that it
/// calls do not use this snapshot.
pub(super) fn with_current<T>(run: impl FnOnce(Option<Snapshot>) -> T) -> T {
    let current = CURRENT.take();
    let result = run(current);
    CURRENT.set(current);
    result
}
