//! One session at a time: a lock that it keeps between the transactions of what a procedure does step by step.
//!
//! It is on an object that no statement of SQL can name, so that no outsider can hold it. Where a transaction
//! fails, the server itself gives back what its session holds, and so it does at the end of the session, also by kill -9.

use std::cell::Cell;

use pgrx::pg_sys;

use crate::pg::server::guard::guard;

thread_local! {
    /// The lock that this session holds from step to step, and when the call began that took it.
    static HELD: Cell<Option<(SessionLock, i64)>> = const { Cell::new(None) };
    /// Whether the server tells us of ends of transactions.
    static TOLD: Cell<bool> = const { Cell::new(false) };
}

/// The lock of what one session does at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SessionLock {
    /// A table: of a catalogue whose objects the server locks in another way, or of an extension.
    pub class: pg_sys::Oid,
    /// The number of an object there, or what tells the work from any other.
    pub object: pg_sys::Oid,
}

impl SessionLock {
    fn tag(self) -> pg_sys::LOCKTAG {
        const DEFAULT_LOCKMETHOD: u8 = 1;
        pg_sys::LOCKTAG {
            // SAFETY: a look at a variable of the session.
            locktag_field1: unsafe { pg_sys::MyDatabaseId }.to_u32(),
            locktag_field2: self.class.to_u32(),
            locktag_field3: self.object.to_u32(),
            locktag_field4: 0,
            locktag_type: pg_sys::LockTagType::LOCKTAG_OBJECT as u8,
            locktag_lockmethodid: DEFAULT_LOCKMETHOD,
        }
    }

    /// Whether this session holds it.
    fn is_held(self) -> bool {
        HELD.get().is_some_and(|(held, _)| held == self)
    }

    /// Whether this session holds it since that call began, of which this is a further step.
    pub(crate) fn is_held_since(self, started: i64) -> bool {
        HELD.get() == Some((self, started))
    }

    /// Whether this session holds it, from now on if not before. Not to be called in a subtransaction, which could end
    /// without the lock.
    pub(crate) fn take(self, started: i64) -> bool {
        if self.is_held() {
            HELD.set(Some((self, started)));
            return true;
        }
        let tag = self.tag();
        // SAFETY: the callback is a function of ours, told once; the lock is one of the session, not waited for.
        unsafe {
            if !TOLD.replace(true) {
                pg_sys::RegisterXactCallback(Some(at_end), std::ptr::null_mut());
            }
            let mode = pg_sys::ExclusiveLock as i32;
            let got = pg_sys::LockAcquire(&raw const tag, mode, true, true);
            if got == pg_sys::LockAcquireResult::LOCKACQUIRE_NOT_AVAIL {
                return false;
            }
        }
        if let Some((other, _)) = HELD.replace(Some((self, started))) {
            // Another call was left between two steps.
            other.give_back();
        }
        true
    }

    /// Gives it back, if it is held.
    pub(crate) fn release(self) {
        if self.is_held() {
            HELD.set(None);
            self.give_back();
        }
    }

    fn give_back(self) {
        let tag = self.tag();
        // SAFETY: held by this session.
        unsafe { pg_sys::LockRelease(&raw const tag, pg_sys::ExclusiveLock as i32, true) };
    }
}

/// A transaction ends: with an error the server gives the lock back.
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
