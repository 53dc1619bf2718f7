//! The operators of types, quoted for SQL text.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::names::{quote_identifier, type_name};
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};

/// Returns the equality operator that belongs to the order of a type. The schema of the operator is
/// included, so that another `=` in the search path is not used. The operator is looked up in the
/// server's cache, because a query could assign a transaction id, which is impossible on a standby.
pub(crate) fn equality(of: Oid) -> Result<String> {
    // SAFETY: the entry of the type lives as long as the session; the row of an operator is
    // released after its name was copied.
    let found = unsafe {
        let operator = (*pg_sys::lookup_type_cache(of, pg_sys::TYPECACHE_EQ_OPR as i32)).eq_opr;
        let cache = pg_sys::SysCacheIdentifier::OPEROID as i32;
        let tuple = pg_sys::SearchSysCache1(cache, operator.into());
        if tuple.is_null() {
            None
        } else {
            let form = &*pg_sys::GETSTRUCT(tuple).cast::<pg_sys::FormData_pg_operator>();
            let name = c_string(form.oprname.data.as_ptr());
            let schema = form.oprnamespace;
            pg_sys::ReleaseSysCache(tuple);
            Some((name, c_string(pg_sys::get_namespace_name(schema))))
        }
    };
    let Some((name, schema)) = found else {
        let message = format!("type {} has no equality, so it cannot be an id", type_name(of));
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION, message));
    };
    Ok(format!("OPERATOR({}.{name})", quote_identifier(&schema)?))
}

/// Returns the owner of a function, or `None` if there is no such function.
pub(crate) fn function_owner(function: Oid) -> Option<Oid> {
    // SAFETY: any OID may be looked up; the row is read before it is released.
    unsafe {
        let row = pg_sys::SearchSysCache1(pg_sys::SysCacheIdentifier::PROCOID as i32, function.into());
        if row.is_null() {
            return None;
        }
        let owner = (*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_proc>()).proowner;
        pg_sys::ReleaseSysCache(row);
        Some(owner)
    }
}
