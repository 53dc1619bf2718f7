//! Functions in C, by the names that they have in their libraries.

use pgrx::pg_sys::{self, Oid};

use crate::pg::server::call::varlena_bytes;

/// ClanguageId of pg_language.h.
const C_LANGUAGE: Oid = Oid::from_u32(13);

/// Returns the name of a function in its library, or `None` for a function in another language.
pub(crate) fn symbol(function: Oid) -> Option<Vec<u8>> {
    // SAFETY: any OID may be looked up; the source is a text, and is copied before the row is
    // released.
    unsafe {
        let tuple = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::PROCOID as i32, function.into());
        if tuple.is_null() {
            return None;
        }
        let mut null = false;
        let source = pg_sys::SysCacheGetAttr(
            pg_sys::SysCacheIdentifier::PROCOID as i32,
            tuple,
            pg_sys::Anum_pg_proc_prosrc as i16,
            &raw mut null,
        );
        let form: *const pg_sys::FormData_pg_proc = pg_sys::GETSTRUCT(tuple).cast();
        let language = (*form).prolang;
        let symbol = (!null && language == C_LANGUAGE).then(|| varlena_bytes(source).to_vec());
        pg_sys::ReleaseSysCache(tuple);
        symbol
    }
}
