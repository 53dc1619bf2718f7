//! Rows of the catalogues, from the caches of the server.

use pgrx::pg_sys::{self, Datum};

/// The number of a cache.
type Cache = pg_sys::SysCacheIdentifier::Type;

/// Reads the row that a cache has for up to four keys, or returns `None` if there is no such row.
///
/// # Safety
/// The keys are of the types of the cache's keys; the result does not refer to the row.
pub(crate) unsafe fn row<T>(
    cache: Cache,
    keys: &[Datum],
    read: impl FnOnce(pg_sys::HeapTuple) -> T,
) -> Option<T> {
    let key = |n: usize| keys.get(n).copied().unwrap_or(Datum::null());
    // SAFETY: the caller's promise; any keys may be looked up. The row is read before it is
    // released.
    unsafe {
        let row = pg_sys::SearchSysCache(cache as i32, key(0), key(1), key(2), key(3));
        if row.is_null() {
            return None;
        }
        let found = read(row);
        pg_sys::ReleaseSysCache(row);
        Some(found)
    }
}

/// Reads all rows of a cache that have this first key.
///
/// # Safety
/// As in [`row`].
pub(crate) unsafe fn rows<T>(
    cache: Cache,
    key: Datum,
    mut read: impl FnMut(pg_sys::HeapTuple) -> T,
) -> Vec<T> {
    let none = Datum::null();
    // SAFETY: the caller's promise; the list has as many rows as it says, and is released after
    // they were read.
    unsafe {
        let list = pg_sys::SearchSysCacheList(cache as i32, 1, key, none, none);
        let members = (*list).members.as_slice((*list).n_members as usize);
        let rows = members.iter().map(|&member| read(&raw mut (*member).tuple)).collect();
        pg_sys::ReleaseCatCacheList(list);
        rows
    }
}

/// Returns an attribute of a row of a cache, or `None` if it is NULL.
///
/// # Safety
/// The row is of this cache, and has this attribute.
pub(crate) unsafe fn attribute(cache: Cache, row: pg_sys::HeapTuple, number: u32) -> Option<Datum> {
    let mut null = false;
    // SAFETY: the caller's promise.
    let value = unsafe { pg_sys::SysCacheGetAttr(cache as i32, row, number as i16, &raw mut null) };
    (!null).then_some(value)
}
