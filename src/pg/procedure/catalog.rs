//! Catalog lookups of relations and roles by their OID.

use pgrx::pg_sys::{self, Oid};

use crate::pg::query::names::quote_identifier;
use crate::pg::server::encoding::{self, c_string};
use crate::pg::server::error::Result;

/// Returns the name of a role, quoted for SQL text.
pub(crate) fn role(oid: Oid) -> Result<String> {
    role_name(oid).map_or_else(|| Ok(oid.to_u32().to_string()), |name| quote_identifier(&name))
}

/// Returns the name of a role, or `None` if there is no such role.
pub(crate) fn role_name(oid: Oid) -> Option<String> {
    // SAFETY: any OID may be looked up; the result is null or a C string.
    unsafe {
        let name = pg_sys::GetUserNameFromId(oid, true);
        (!name.is_null()).then(|| c_string(name))
    }
}

/// Returns the owner of a relation, or None if there is no such relation.
pub(crate) fn owner_of(relation: Oid) -> Option<Oid> {
    // SAFETY: any OID may be looked up; the row is read before it is released.
    unsafe {
        let row = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::RELOID as i32, relation.into());
        if row.is_null() {
            return None;
        }
        let class: *const pg_sys::FormData_pg_class = pg_sys::GETSTRUCT(row).cast();
        let owner = (*class).relowner;
        pg_sys::ReleaseSysCache(row);
        Some(owner)
    }
}

/// Returns the relation with a name in a schema, if there is one.
pub(crate) fn relation_named(name: &str, namespace: Oid) -> Result<Option<Oid>> {
    let name = encoding::to_server(name)?;
    // SAFETY: a C string; no relation has the OID 0.
    let relation = unsafe { pg_sys::get_relname_relid(name.as_ptr(), namespace) };
    Ok((relation != pg_sys::InvalidOid).then_some(relation))
}
