//! Locks on the parts of work that several sessions do at once. A transaction keeps them to its
//! end, and the server releases them even after kill -9.
//!
//! As for [`SessionLock`], no SQL statement can name these objects, so no outsider can hold them.

use pgrx::pg_sys;

use super::session_lock::SessionLock;

/// The largest number of a part.
pub(crate) const MOST: u16 = u16::MAX - 2;

/// What is locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LockedShare {
    /// All of the work, while no other session takes part in it.
    All,
    /// The turn to decide what to do next.
    Turn,
    /// The part with this number, at most [`MOST`].
    Part(u16),
}

impl LockedShare {
    fn tag(self, of: SessionLock) -> pg_sys::LOCKTAG {
        let locktag_field4 = match self {
            Self::All => 0,
            Self::Turn => u16::MAX,
            Self::Part(part) => part.min(MOST) + 1,
        };
        pg_sys::LOCKTAG { locktag_field4, ..of.tag() }
    }

    fn acquire(self, of: SessionLock, wait: bool) -> bool {
        let tag = self.tag(of);
        let mode = pg_sys::ExclusiveLock as i32;
        // SAFETY: a lock of the transaction; waiting for it answers to interrupts. What other
        // sessions committed meanwhile is seen afterwards.
        unsafe {
            let got = pg_sys::LockAcquire(&raw const tag, mode, false, !wait);
            pg_sys::AcceptInvalidationMessages();
            got != pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL
        }
    }

    /// Takes the lock if no other session has it, and reports whether this transaction has it now.
    pub(crate) fn take(self, of: SessionLock) -> bool {
        self.acquire(of, false)
    }

    /// Waits until the transaction has the lock.
    pub(crate) fn wait(self, of: SessionLock) {
        self.acquire(of, true);
    }

    /// Releases a lock that the same call of a function took.
    pub(crate) fn give_back(self, of: SessionLock) {
        let tag = self.tag(of);
        // SAFETY: held by this transaction.
        unsafe { pg_sys::LockRelease(&raw const tag, pg_sys::ExclusiveLock as i32, false) };
    }
}
