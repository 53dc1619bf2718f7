//! Reads rows of the server's catalogues from its caches.

use pgrx::pg_sys::{self, Oid};

/// Returns those columns of a catalogue row that are never NULL.
///
/// # Safety
/// `tuple` is a row of the catalogue that `T` describes.
pub(crate) unsafe fn fields<T>(tuple: pg_sys::HeapTuple) -> *const T {
    // SAFETY: the caller's promise; the columns begin after the header.
    unsafe { (*tuple).t_data.cast::<u8>().add((*(*tuple).t_data).t_hoff.into()).cast() }
}

/// Returns all rows of a catalogue whose first key in its cache is `key`.
///
/// # Safety
/// `T` describes the catalogue of the cache.
pub(crate) unsafe fn rows<T: Copy>(cache: pg_sys::SysCacheIdentifier::Type, key: Oid) -> Vec<T> {
    let none = pg_sys::Datum::from(0);
    // SAFETY: the caller's promise; the list is released after its rows are copied.
    unsafe {
        let list = pg_sys::SearchSysCacheList(cache as i32, 1, key.into(), none, none);
        let members = (*list).members.as_slice((*list).n_members as usize);
        let rows = members.iter().map(|&member| *fields::<T>(&raw mut (*member).tuple)).collect();
        pg_sys::ReleaseCatCacheList(list);
        rows
    }
}
