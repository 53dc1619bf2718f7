//! Names as users write them, and names and operators of types as SQL text has them, quoted.

use pgrx::pg_sys::{self, Oid};
use pgrx::{PgList, PgSqlErrorCode};

use super::catalog::{operator, role_name};
use crate::pg::server::encoding::{self, c_string};
use crate::pg::server::error::{Result, SqlError, catch};

/// Returns the name of a type, as users write it. Callers may pass any OID; if no type has it, the
/// result is `???`.
pub(crate) fn type_name(oid: pg_sys::Oid) -> String {
    // SAFETY: returns a C string for any OID.
    unsafe { c_string(pg_sys::format_type_extended(oid, -1, pg_sys::FORMAT_TYPE_ALLOW_INVALID as u16)) }
}

/// Returns the name of a type with its schema, quoted for SQL text. The name implies no length, so
/// a cast to char or bit does not cut values to a length of one.
pub(crate) fn qualified_type(oid: pg_sys::Oid) -> String {
    let plain = pg_sys::FORMAT_TYPE_FORCE_QUALIFY | pg_sys::FORMAT_TYPE_TYPEMOD_GIVEN;
    // SAFETY: returns a C string for any type.
    unsafe { c_string(pg_sys::format_type_extended(oid, -1, plain as u16)) }
}

/// Returns the name of a relation with its schema, quoted for SQL text.
pub(crate) fn name_of(relation: pg_sys::Oid) -> Result<String> {
    // SAFETY: any OID may be looked up; a relation is in a schema, unless it is being dropped right
    // now.
    let [schema, name] = unsafe {
        [pg_sys::get_namespace_name(pg_sys::get_rel_namespace(relation)), pg_sys::get_rel_name(relation)]
            .map(|name| if name.is_null() { relation.to_u32().to_string() } else { c_string(name) })
    };
    Ok(format!("{}.{}", quote_identifier(&schema)?, quote_identifier(&name)?))
}

/// Reports whether the search path has no schema of a user, as in a restore, and in a command that
/// the server restricts to its own names.
pub(crate) fn is_path_bare() -> bool {
    // SAFETY: the list is ours; all its members are OIDs of schemas.
    unsafe {
        let path = PgList::<Oid>::from_pg(pg_sys::fetch_search_path(false));
        let own = |schema| {
            schema == pg_sys::Oid::from(pg_sys::PG_CATALOG_NAMESPACE) || pg_sys::isTempNamespace(schema)
        };
        path.iter_oid().all(own)
    }
}

/// Quotes a name for SQL text.
pub(crate) fn quote_identifier(name: &str) -> Result<String> {
    let name = encoding::to_server(name)?;
    // SAFETY: takes a C string and returns a C string.
    Ok(unsafe { c_string(pg_sys::quote_identifier(name.as_ptr())) })
}

/// Quotes a string as an SQL literal.
pub(crate) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns the equality operator that belongs to the order of a type. The schema of the operator is
/// included, so that another `=` in the search path is not used. The operator is looked up in the
/// server's cache, because a query could assign a transaction id, which is impossible on a standby.
pub(crate) fn equality(of: Oid) -> Result<String> {
    // SAFETY: the entry of the type lives as long as the session.
    let equality = unsafe { (*pg_sys::lookup_type_cache(of, pg_sys::TYPECACHE_EQ_OPR as i32)).eq_opr };
    // SAFETY: names are C strings.
    let found = operator(equality, |row| unsafe {
        (c_string(row.oprname.data.as_ptr()), c_string(pg_sys::get_namespace_name(row.oprnamespace)))
    });
    let Some((name, schema)) = found else {
        let message = format!("type {} has no equality, so it cannot be an id", type_name(of));
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_FUNCTION, message));
    };
    Ok(format!("OPERATOR({}.{name})", quote_identifier(&schema)?))
}

/// Returns the name of a role, quoted for SQL text.
pub(crate) fn role(oid: Oid) -> Result<String> {
    role_name(oid).map_or_else(|| Ok(oid.to_u32().to_string()), |name| quote_identifier(&name))
}

/// Returns a value of a type as text.
///
/// # Safety
/// `value` is of the type `of`.
pub(crate) unsafe fn value_as_text(of: Oid, value: pg_sys::Datum) -> Result<String> {
    let (mut output, mut varlena) = (pg_sys::InvalidOid, false);
    // SAFETY: a type has an output function, which takes its values.
    unsafe {
        pg_sys::getTypeOutputInfo(of, &raw mut output, &raw mut varlena);
        Ok(c_string(catch(|| pg_sys::OidOutputFunctionCall(output, value))?))
    }
}
