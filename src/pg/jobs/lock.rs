//! One refresh at a time: a lock that a session keeps between the steps.

use std::cell::Cell;

use pgrx::pg_sys;
use pgrx::prelude::*;

thread_local! {
    /// The relation whose lock this session holds from step to step.
    static HELD: Cell<Option<pg_sys::Oid>> = const { Cell::new(None) };
    /// Whether the server tells us of ends of transactions.
    static TOLD: Cell<bool> = const { Cell::new(false) };
}

/// A lock that a session keeps between the steps of a refresh. An error gives it back, and so does the end of
/// the session, also by kill -9.
pub struct SessionLock(pub pg_sys::Oid);

impl SessionLock {
    /// The tag of an advisory lock of two numbers, of which the first is ours.
    fn tag(&self) -> pg_sys::LOCKTAG {
        const OURS: u32 = 0x6e64_7570;
        const USER_LOCKMETHOD: u8 = 2;
        const TWO_NUMBERS: u16 = 2;
        pg_sys::LOCKTAG {
            // SAFETY: a look at a variable of the session.
            locktag_field1: unsafe { pg_sys::MyDatabaseId }.to_u32(),
            locktag_field2: OURS,
            locktag_field3: self.0.to_u32(),
            locktag_field4: TWO_NUMBERS,
            locktag_type: pg_sys::LockTagType::LOCKTAG_ADVISORY as u8,
            locktag_lockmethodid: USER_LOCKMETHOD,
        }
    }

    /// Whether this session holds it.
    pub fn is_held(&self) -> bool {
        HELD.get() == Some(self.0)
    }

    /// Whether this session holds it, from now on if not before.
    pub fn take(&self) -> bool {
        if self.is_held() {
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
        if let Some(other) = HELD.replace(Some(self.0)) {
            // A refresh of another relation was left between two steps.
            Self(other).give_back();
        }
        true
    }

    /// Gives it back, if it is held.
    pub fn release(&self) {
        if self.is_held() {
            HELD.set(None);
            self.give_back();
        }
    }

    fn give_back(&self) {
        let tag = self.tag();
        // SAFETY: held by this session.
        unsafe { pg_sys::LockRelease(&raw const tag, pg_sys::ExclusiveLock as i32, true) };
    }
}

/// A transaction ends: with an error, the refresh does so too.
#[pg_guard]
unsafe extern "C-unwind" fn at_end(event: pg_sys::XactEvent::Type, _argument: *mut std::ffi::c_void) {
    if event == pg_sys::XactEvent::XACT_EVENT_ABORT
        && let Some(docs) = HELD.take()
    {
        SessionLock(docs).give_back();
    }
}
