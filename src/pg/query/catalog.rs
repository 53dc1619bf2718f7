//! Lookups in the catalogues by OID, through the server's caches.

use pgrx::pg_sys::{self, Oid};

use crate::pg::server::encoding::{self, c_string};
use crate::pg::server::error::Result;
use crate::pg::server::syscache;

/// Returns the name of a role, or `None` if there is no such role.
pub(crate) fn role_name(oid: Oid) -> Option<String> {
    // SAFETY: any OID may be looked up; the result is null or a C string.
    unsafe {
        let name = pg_sys::GetUserNameFromId(oid, true);
        (!name.is_null()).then(|| c_string(name))
    }
}

/// Reads the row of a catalogue that one of the server's caches has for an OID. Returns `None` if
/// there is no such row.
///
/// # Safety
/// Rows of the cache are of the type `F`.
pub(crate) unsafe fn cached<F, T>(
    cache: pg_sys::SysCacheIdentifier::Type,
    oid: Oid,
    read: impl FnOnce(&F) -> T,
) -> Option<T> {
    // SAFETY: the caller's promise.
    unsafe { syscache::row(cache, &[oid.into()], |row| read(&*pg_sys::GETSTRUCT(row).cast::<F>())) }
}

/// Reads the row of a relation.
pub(crate) fn class<T>(relation: Oid, read: impl FnOnce(&pg_sys::FormData_pg_class) -> T) -> Option<T> {
    // SAFETY: the type of these rows.
    unsafe { cached(pg_sys::SysCacheIdentifier::RELOID, relation, read) }
}

/// Reads the row of a type.
pub(crate) fn type_row<T>(of: Oid, read: impl FnOnce(&pg_sys::FormData_pg_type) -> T) -> Option<T> {
    // SAFETY: as above.
    unsafe { cached(pg_sys::SysCacheIdentifier::TYPEOID, of, read) }
}

/// Reads the row of an operator.
pub(crate) fn operator<T>(of: Oid, read: impl FnOnce(&pg_sys::FormData_pg_operator) -> T) -> Option<T> {
    // SAFETY: as above.
    unsafe { cached(pg_sys::SysCacheIdentifier::OPEROID, of, read) }
}

/// Returns the owner of a relation, or `None` if there is no such relation.
pub(crate) fn owner_of(relation: Oid) -> Option<Oid> {
    class(relation, |class| class.relowner)
}

/// Returns the owner of a function, or `None` if there is no such function.
pub(crate) fn function_owner(function: Oid) -> Option<Oid> {
    // SAFETY: the type of these rows.
    unsafe {
        cached(pg_sys::SysCacheIdentifier::PROCOID, function, |row: &pg_sys::FormData_pg_proc| row.proowner)
    }
}

/// Returns the relation with a name in a schema, if there is one.
pub(crate) fn relation_named(name: &str, namespace: Oid) -> Result<Option<Oid>> {
    let name = encoding::to_server(name)?;
    // SAFETY: a C string; no relation has the OID 0.
    let relation = unsafe { pg_sys::get_relname_relid(name.as_ptr(), namespace) };
    Ok((relation != pg_sys::InvalidOid).then_some(relation))
}
