//! Runs SQL of this extension as another user: work on a user's table as the owner of the table,
//! and work on the registry of jobs as the owner of the registry.

use std::ffi::CStr;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::by_oid;
use super::names::quote_identifier;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::version;

/// The schema of the functions that only the server and our own statements call (sql/internal.sql).
pub(crate) const INTERNAL: &str = "neardup_internal";

/// The extension to which a called function belongs.
#[derive(Debug)]
pub(crate) struct Extension {
    /// The schema, quoted for SQL text.
    pub schema: String,
    extension: pg_sys::Oid,
    /// The role that may alter the extension.
    pub owner: pg_sys::Oid,
    /// The OID of the schema.
    pub namespace: pg_sys::Oid,
    /// The SQL text of the last argument of internal functions, with a leading comma. Other users
    /// may not declare functions with the type of this argument.
    pub internal: String,
}

impl Extension {
    /// Returns the extension of the called function. The function is looked up by its OID, so the
    /// result does not depend on the search path.
    pub(crate) fn from_call(call: FunctionCall) -> Result<Self> {
        // SAFETY: set by the function manager.
        let (function, extension) = unsafe {
            let function = (*(*call.info).flinfo).fn_oid;
            (function, pg_sys::getExtensionOfObject(pg_sys::ProcedureRelationId, function))
        };
        let read =
            |[_, _, owner, namespace, ..]: [Option<Datum>; 8]| Ok((read_oid(owner), read_oid(namespace)));
        let found = if extension == pg_sys::InvalidOid { None } else { Self::row(extension, read)? };
        // A function that was declared by hand belongs to no extension.
        // SAFETY: the function is being called, so it has a schema, and the schema has a name.
        let (owner, namespace, schema) = unsafe {
            let none = || (pg_sys::InvalidOid, pg_sys::get_func_namespace(function));
            let (owner, namespace) = found.unwrap_or_else(none);
            (owner, namespace, c_string(pg_sys::get_namespace_name(namespace)))
        };
        let schema = quote_identifier(&schema)?;
        let internal = format!(", NULL::{schema}.neardup_internal");
        Ok(Self { schema, extension, owner, namespace, internal })
    }

    /// Reads the row of an extension, if there is one.
    fn row<T>(
        extension: pg_sys::Oid,
        read: impl FnOnce([Option<Datum>; 8]) -> Result<T>,
    ) -> Result<Option<T>> {
        let table = pg_sys::ExtensionRelationId;
        // SAFETY: the table is locked; it has these columns in every version of the server, and the
        // first is its key.
        unsafe {
            pg_sys::LockRelationOid(table, pg_sys::AccessShareLock as i32);
            by_oid::read(table, extension, 8, read)
        }
    }

    /// Returns the version of the extension's SQL definitions, or `None` if the function belongs to
    /// no extension. While a script of the extension runs, this is the version to which the script
    /// leads.
    pub(crate) fn version(&self) -> Result<Option<String>> {
        let read = |[_, _, _, _, _, version, _, _]: [Option<Datum>; 8]| {
            // SAFETY: a text, and a C string made of it.
            Ok(version.map(|version| unsafe { c_string(pg_sys::text_to_cstring(version.cast_mut_ptr())) }))
        };
        Ok(Self::row(self.extension, read)?.flatten())
    }

    /// Fails if the SQL definitions of the extension and the library have different versions.
    /// Called before SQL that names objects of the extension is run.
    pub(crate) fn check_version(&self, function: &str) -> Result<()> {
        let library = version::LIBRARY;
        let Some(sql) = self.version()?.filter(|sql| sql != library) else { return Ok(()) };
        let message = format!(
            "{function} needs the SQL definitions of neardup {library}, the library; those of this database are of {sql}"
        );
        Err(version::mismatch(message, &sql))
    }

    /// Finds a table of the extension and locks it, so that it does not change; returns its OID.
    pub(crate) fn table(&self, name: &CStr) -> Result<pg_sys::Oid> {
        // SAFETY: reads the catalogs.
        unsafe {
            let table = pg_sys::get_relname_relid(name.as_ptr(), self.namespace);
            let ours = self.extension != pg_sys::InvalidOid && table != pg_sys::InvalidOid && {
                pg_sys::LockRelationOid(table, pg_sys::AccessShareLock as i32);
                pg_sys::getExtensionOfObject(pg_sys::RelationRelationId, table) == self.extension
            };
            if ours {
                return Ok(table);
            }
        }
        Err(Self::gone(name))
    }

    /// Returns the error for a missing table of the extension.
    pub(crate) fn gone(name: &CStr) -> SqlError {
        let message = format!("the table {} of the extension is gone", name.to_string_lossy());
        SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message)
            .hint("DROP EXTENSION neardup; CREATE EXTENSION neardup;")
    }
}

/// Reads an OID of a column that is never NULL.
fn read_oid(value: Option<Datum>) -> pg_sys::Oid {
    value.map_or(pg_sys::InvalidOid, |value| pg_sys::Oid::from(value.value() as u32))
}

/// The search path while work runs as another user.
pub(crate) const PATH: &CStr = c"pg_catalog, pg_temp";

/// The restrictions on work as another user: the work cannot switch to a third user, and cannot
/// leave anything that is run later.
const RESTRICTED: i32 = (pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION) as i32;

/// Runs work as `user`. Except for temporary objects, the work finds only objects of `pg_catalog`
/// by an unqualified name. The work cannot switch to another user. After an error the server itself
/// restores the previous user.
pub(crate) fn as_user<T>(user: pg_sys::Oid, work: impl FnOnce() -> Result<T>) -> Result<T> {
    // Ids of any type are also stored as texts, which must be readable under all settings.
    let settings = [
        (c"search_path", PATH),
        (c"standard_conforming_strings", c"on"),
        (c"DateStyle", c"ISO"),
        (c"IntervalStyle", c"postgres"),
        (c"extra_float_digits", c"1"),
        (c"bytea_output", c"hex"),
        // Our statements are short, and compiling them would take longer than it saves.
        (c"jit", c"off"),
    ];
    without_sql_as(user, || with_settings(&settings, work))
}

/// Runs work as `user`. The work cannot switch to another user, and must not read or run SQL text,
/// whose meaning depends on settings. After an error the server itself restores the previous user.
pub(crate) fn without_sql_as<T>(user: pg_sys::Oid, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut before = pg_sys::InvalidOid;
    let mut context = 0;
    // SAFETY: the server does the same to run maintenance commands as a table's owner.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&raw mut before, &raw mut context);
        pg_sys::SetUserIdAndSecContext(user, context | RESTRICTED);
        let result = work();
        pg_sys::SetUserIdAndSecContext(before, context);
        result
    }
}

/// Reports whether the caller may act for a role, by being the role or a member of it.
pub(crate) fn acts_for(role: pg_sys::Oid) -> bool {
    // SAFETY: reads the roles.
    unsafe { pg_sys::has_privs_of_role(pg_sys::GetUserId(), role) }
}

/// Runs work with settings that every user may change, and restores them. After an error the server
/// itself restores them.
pub(crate) fn with_settings<T>(settings: &[(&CStr, &CStr)], work: impl FnOnce() -> Result<T>) -> Result<T> {
    // SAFETY: the server does the same to run maintenance commands as a table's owner: the settings
    // are changed on a nesting level of their own, which is rolled back at the end.
    unsafe {
        let level = pg_sys::NewGUCNestLevel();
        settings.iter().for_each(|(name, value)| set(name, value));
        let result = work();
        pg_sys::AtEOXact_GUC(false, level);
        result
    }
}

/// Changes a setting for the rest of the work that runs as another user ([`as_user`]).
pub(crate) fn set(name: &CStr, value: &CStr) {
    // SAFETY: C strings of a setting that every user may change; the change is made at the nesting
    // level of settings that was opened for the work.
    unsafe {
        pg_sys::set_config_option(
            name.as_ptr(),
            value.as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
    }
}
