//! A lock that a session keeps between the transactions of a procedure that works in steps, so that
//! only one session at a time does the work, or only sessions that share it.
//!
//! The lock is on an object that no SQL statement can name, so no outsider can hold it. If a
//! transaction fails, the server itself releases the locks of its session; it also does so at the
//! end of the session, even after kill -9.
//!
//! The same holds for the locks on the parts of work that several sessions do at once, which a
//! transaction keeps to its end.

use std::cell::Cell;

use pgrx::pg_sys;

use crate::pg::server::guard::guard;

thread_local! {
    /// The lock that this session holds from step to step, and the start time of the call that took
    /// it.
    static HELD: Cell<Option<(SessionLock, Mode, i64)>> = const { Cell::new(None) };
    /// Set once the callback for the end of transactions is registered.
    static TOLD: Cell<bool> = const { Cell::new(false) };
}

/// The mode of the server's lock.
type Mode = u32;

/// The lock for work that one session does at a time, or that several sessions share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionLock {
    /// The OID of a table: of a catalog whose objects the server locks in another way, or of a
    /// table of an extension.
    pub class: pg_sys::Oid,
    /// The OID of an object of that table, or another value that identifies the work.
    pub object: pg_sys::Oid,
}

impl SessionLock {
    /// Returns the name of the lock in the server.
    pub(super) fn tag(self) -> pg_sys::LOCKTAG {
        const DEFAULT_LOCKMETHOD: u8 = 1;
        pg_sys::LOCKTAG {
            // SAFETY: reads a variable of the session.
            locktag_field1: unsafe { pg_sys::MyDatabaseId }.to_u32(),
            locktag_field2: self.class.to_u32(),
            locktag_field3: self.object.to_u32(),
            locktag_field4: 0,
            locktag_type: pg_sys::LockTagType::LOCKTAG_OBJECT as u8,
            locktag_lockmethodid: DEFAULT_LOCKMETHOD,
        }
    }

    /// Reports whether an earlier step of the call with this start time took the lock, and this
    /// session still holds it.
    pub(crate) fn is_held_since(self, started: i64) -> bool {
        HELD.get().is_some_and(|(held, _, since)| (held, since) == (self, started))
    }

    /// Takes the lock if the session does not hold it yet, and reports whether the session now
    /// holds it. Must not be called in a subtransaction, which could end without the lock.
    pub(crate) fn take(self, started: i64) -> bool {
        self.acquire(started, pg_sys::ExclusiveLock)
    }

    /// Takes the lock like [`take`](Self::take), together with other sessions that take it in this
    /// way.
    pub(crate) fn join(self, started: i64) -> bool {
        self.acquire(started, pg_sys::ShareLock)
    }

    fn acquire(self, started: i64, mode: Mode) -> bool {
        match HELD.get() {
            Some((held, of, _)) if (held, of) == (self, mode) => {
                HELD.set(Some((self, mode, started)));
                return true;
            }
            // An abandoned call took it in the other way.
            Some((held, ..)) if held == self => self.release(),
            _ => {}
        }
        let tag = self.tag();
        // SAFETY: the callback is a function of ours and is registered once; the lock is a session
        // lock and is not waited for.
        unsafe {
            if !TOLD.replace(true) {
                pg_sys::RegisterXactCallback(Some(at_end), std::ptr::null_mut());
            }
            let got = pg_sys::LockAcquire(&raw const tag, mode as i32, true, true);
            if got == pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL {
                return false;
            }
        }
        if let Some((other, mode, _)) = HELD.replace(Some((self, mode, started))) {
            // Another call was abandoned between two steps.
            other.give_back(mode);
        }
        true
    }

    /// Releases the lock if it is held.
    pub(crate) fn release(self) {
        if let Some((_, mode, _)) = HELD.get().filter(|(held, ..)| *held == self) {
            HELD.set(None);
            self.give_back(mode);
        }
    }

    fn give_back(self, mode: Mode) {
        let tag = self.tag();
        // SAFETY: held by this session.
        unsafe { pg_sys::LockRelease(&raw const tag, mode as i32, true) };
    }
}

/// Called at the end of a transaction: after an error the server releases the lock.
unsafe extern "C-unwind" fn at_end(event: pg_sys::XactEvent::Type, _argument: *mut std::ffi::c_void) {
    // SAFETY: the outermost frame of a call by the server.
    unsafe {
        guard(|| {
            if event == pg_sys::XactEvent::XACT_EVENT_ABORT {
                HELD.set(None);
            }
            Ok(())
        });
    }
}

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
