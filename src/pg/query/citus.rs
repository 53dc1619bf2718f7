//! Tables that Citus distributes over nodes.

use pgrx::{IntoDatum, pg_sys};

use super::Query;
use crate::pg::server::error::Result;

/// Reports whether Citus distributes a relation; runs no query if Citus is not installed.
pub(crate) fn is_spread(relation: pg_sys::Oid) -> Result<bool> {
    // SAFETY: a C string; the extension may be missing.
    if unsafe { pg_sys::get_extension_oid(c"citus".as_ptr(), true) } == pg_sys::InvalidOid {
        return Ok(false);
    }
    let sql = "SELECT true FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) t.tgfoid \
               WHERE t.tgrelid OPERATOR(pg_catalog.=) $1 AND p.proname OPERATOR(pg_catalog.=) 'citus_truncate_trigger'::pg_catalog.name \
               AND p.pronamespace OPERATOR(pg_catalog.=) 'pg_catalog'::pg_catalog.regnamespace LIMIT 1";
    let parameters = &[(pg_sys::OIDOID, relation.into_datum())];
    let done = Query { parameters, ..Query::new(sql) }.run([pg_sys::BOOLOID])?;
    Ok(done.first.is_some())
}
