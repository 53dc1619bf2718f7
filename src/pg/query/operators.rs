//! Operators by type, as SQL text needs them.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use super::names::{quote_identifier, type_name};
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};

/// The equality that a type's order goes with, by name and schema: another `=` that is in the search path is none of it.
/// Looked up in the server's cache, as a query might be one that assigns a transaction id, which no standby can.
pub(crate) fn equality(of: Oid) -> Result<String> {
    // SAFETY: the entry of the type lives as long as the session; the row of an operator is released after its name was
    // copied.
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
