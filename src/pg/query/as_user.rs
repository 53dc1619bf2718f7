//! Runs SQL of ours as another user: work on users' tables as their owner, and on the registry of jobs as the owner of that.

use std::ffi::CStr;

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Datum};

use super::by_oid;
use super::names::quote_identifier;
use crate::pg::server::call::Call;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::version;

/// The extension that a called function belongs to.
#[derive(Debug)]
pub(crate) struct Extension {
    /// Its schema, as SQL text needs it.
    pub schema: String,
    extension: pg_sys::Oid,
    /// The number of that schema.
    pub namespace: pg_sys::Oid,
    /// The last argument of internal functions, with a comma in front: of a type that others may not declare functions with.
    pub internal: String,
}

impl Extension {
    /// That of the called function, which is found by its number, whatever the search path.
    pub(crate) fn of(call: Call) -> Result<Self> {
        // SAFETY: set by the function manager; a schema that a function is in has a name.
        let (extension, namespace, schema) = unsafe {
            let function = (*(*call.info).flinfo).fn_oid;
            let extension = pg_sys::getExtensionOfObject(pg_sys::ProcedureRelationId, function);
            let namespace = pg_sys::get_func_namespace(function);
            (extension, namespace, c_string(pg_sys::get_namespace_name(namespace)))
        };
        let schema = quote_identifier(&schema)?;
        let internal = format!(", NULL::{schema}.neardup_internal");
        Ok(Self { schema, extension, namespace, internal })
    }

    /// The version of its SQL definitions; none where the function is of no extension. While a script of the extension runs,
    /// this is the version that it leads to.
    pub(crate) fn version(&self) -> Result<Option<String>> {
        let table = pg_sys::ExtensionRelationId;
        let read = |[_, _, _, _, _, version, _, _]: [Option<Datum>; 8]| {
            // SAFETY: a text, and a C string made of it.
            Ok(version.map(|version| unsafe { c_string(pg_sys::text_to_cstring(version.cast_mut_ptr())) }))
        };
        // SAFETY: the table is locked; it has these columns in every version of the server, the first is its key.
        unsafe {
            pg_sys::LockRelationOid(table, pg_sys::AccessShareLock as i32);
            Ok(by_oid::read(table, self.extension, read)?.flatten())
        }
    }

    /// Ends what runs SQL that names objects of the extension, if its SQL is of another version than the library.
    pub(crate) fn check_version(&self, function: &str) -> Result<()> {
        let library = version::LIBRARY;
        let Some(sql) = self.version()?.filter(|sql| sql != library) else { return Ok(()) };
        let message = format!(
            "{function} needs the SQL definitions of neardup {library}, the library; those of this database are of {sql}"
        );
        Err(version::mismatch(message, &sql))
    }

    /// The number of a table of the extension's own, which is locked, so that it stays what it is.
    pub(crate) fn table(&self, name: &CStr) -> Result<pg_sys::Oid> {
        // SAFETY: looks at the catalogues.
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

    /// The OID of a type of the extension's own; 0 where it has none of that name.
    pub(crate) fn type_named(&self, name: &CStr) -> pg_sys::Oid {
        // SAFETY: looks at the catalogues; the name of a type is a C string.
        unsafe {
            let (name, namespace) = (Datum::from(name.as_ptr()), Datum::from(self.namespace));
            let cache = pg_sys::SysCacheIdentifier::TYPENAMENSP as i32;
            let column = pg_sys::Anum_pg_type_oid as i16;
            let of = pg_sys::GetSysCacheOid(cache, column, name, namespace, 0.into(), 0.into());
            let is_ours = pg_sys::getExtensionOfObject(pg_sys::TypeRelationId, of) == self.extension;
            if is_ours { of } else { pg_sys::InvalidOid }
        }
    }

    /// The error where a table of the extension is not there.
    pub(crate) fn gone(name: &CStr) -> SqlError {
        let message = format!("the table {} of the extension is gone", name.to_string_lossy());
        SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE, message)
            .hint("DROP EXTENSION neardup; CREATE EXTENSION neardup;")
    }
}

/// Where things are found while work runs as another user.
pub(crate) const PATH: &CStr = c"pg_catalog, pg_temp";

/// What work as another user may not do: become a third one, or leave anything to be run later.
const RESTRICTED: i32 = (pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION) as i32;

/// Runs work as `user`, who cannot be left by it, and with `pg_catalog` as the only schema to find things
/// in. Where an error ends it, the server itself goes back to the user of before.
pub(crate) fn as_user<T>(user: pg_sys::Oid, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut before = pg_sys::InvalidOid;
    let mut context = 0;
    // SAFETY: what the server does to run maintenance commands as a table's owner: the settings are changed
    // within a level of their own, which is rolled back at the end.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&raw mut before, &raw mut context);
        pg_sys::SetUserIdAndSecContext(user, context | RESTRICTED);
        let level = pg_sys::NewGUCNestLevel();
        // Ids of any type are stored as texts, too, which have to be read again under whatever settings.
        for (name, value) in [
            (c"search_path", PATH),
            (c"standard_conforming_strings", c"on"),
            (c"DateStyle", c"ISO"),
            (c"IntervalStyle", c"postgres"),
            (c"extra_float_digits", c"1"),
            (c"bytea_output", c"hex"),
            // Statements of ours are short: to compile them would take longer.
            (c"jit", c"off"),
        ] {
            set(name, value);
        }
        let result = work();
        pg_sys::AtEOXact_GUC(false, level);
        pg_sys::SetUserIdAndSecContext(before, context);
        result
    }
}

/// Runs work as `user`, who cannot be left by it, where that reads and runs no SQL text, which settings could make another
/// one. Where an error ends it, the server itself goes back to the user of before.
pub(crate) fn without_sql_as<T>(user: pg_sys::Oid, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut before = pg_sys::InvalidOid;
    let mut context = 0;
    // SAFETY: what the server does to run maintenance commands as a table's owner.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&raw mut before, &raw mut context);
        pg_sys::SetUserIdAndSecContext(user, context | RESTRICTED);
        let result = work();
        pg_sys::SetUserIdAndSecContext(before, context);
        result
    }
}

/// Whether the caller may act for a role: is it, or a member of it.
pub(crate) fn acts_for(role: pg_sys::Oid) -> bool {
    // SAFETY: a look at the roles.
    unsafe { pg_sys::has_privs_of_role(pg_sys::GetUserId(), role) }
}

/// Changes a setting for the rest of the work that runs as another user ([`as_user`]).
pub(crate) fn set(name: &CStr, value: &CStr) {
    // SAFETY: C strings of a setting that every user may change; the level of settings is that of the work.
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
