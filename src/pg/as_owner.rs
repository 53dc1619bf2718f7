//! Runs SQL of ours as somebody else: work on users' tables as their owner, and books as the extension's.

use pgrx::pg_sys;
use pgrx::prelude::*;
use serde_json::Value;

use super::call::Call;
use super::columns::quote_identifier;
use super::encoding::{self, c_string};
use super::error::{Result, SqlError};

/// The role and the schema of the extension that a called function belongs to.
#[derive(Debug)]
pub struct Extension {
    /// Who owns it.
    pub owner: pg_sys::Oid,
    /// Its schema, as SQL text needs it.
    pub schema: String,
}

impl Extension {
    /// That of the called function, which is found by its number, whatever the search path.
    pub fn of(call: Call) -> Result<Self> {
        // SAFETY: set by the function manager; a schema that a function is in has a name.
        let (function, schema) = unsafe {
            let function = (*(*call.info).flinfo).fn_oid;
            (function, c_string(pg_sys::get_namespace_name(pg_sys::get_func_namespace(function))))
        };
        let sql = "SELECT proowner FROM pg_catalog.pg_proc WHERE oid OPERATOR(pg_catalog.=) $1";
        let owner = Spi::get_one_with_args::<pg_sys::Oid>(sql, &[function.into()]).map_err(spi)?;
        let owner = owner.unwrap_or(pg_sys::InvalidOid);
        Ok(Self { owner, schema: quote_identifier(&schema)? })
    }

    /// Calls a function of the extension that takes and gives JSON, as `user`.
    pub fn call(&self, user: pg_sys::Oid, function: &str, argument: &Value) -> Result<Value> {
        let sql = format!("SELECT {}.{function}($1::jsonb)::text", self.schema);
        let argument = argument.to_string();
        let result = as_user(user, || {
            Spi::get_one_with_args::<String>(&sql, &[to_server(&argument)?.into()]).map_err(spi)
        })?;
        match result {
            None => Ok(Value::Null),
            Some(result) => serde_json::from_str(&result)
                .map_err(|error| SqlError::parameter(format!("{function}: {error}"))),
        }
    }
}

/// A text in the server's encoding, to be handed over as an argument.
fn to_server(text: &str) -> Result<String> {
    let text = encoding::to_server(text)?;
    // JSON of ours is handed over as it is: in other encodings than UTF-8 its bytes are no text of Rust.
    String::from_utf8(text.into_bytes())
        .map_err(|_| SqlError::parameter("a job's names must be ASCII where the database is not UTF-8"))
}

/// What went wrong with SPI itself; errors of the server pass through as panics.
pub fn spi(error: pgrx::spi::Error) -> SqlError {
    SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, error.to_string())
}

/// Runs work as `user`, who cannot be left by it, and with `pg_catalog` as the only schema to find things
/// in. Where an error ends it, the server itself goes back to the user of before.
pub fn as_user<T>(user: pg_sys::Oid, work: impl FnOnce() -> Result<T>) -> Result<T> {
    const RESTRICTED: i32 =
        (pg_sys::SECURITY_LOCAL_USERID_CHANGE | pg_sys::SECURITY_RESTRICTED_OPERATION) as i32;
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
            (c"search_path", c"pg_catalog, pg_temp"),
            (c"standard_conforming_strings", c"on"),
            (c"DateStyle", c"ISO"),
            (c"IntervalStyle", c"postgres"),
            (c"extra_float_digits", c"1"),
            (c"bytea_output", c"hex"),
        ] {
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
        let result = work();
        pg_sys::AtEOXact_GUC(false, level);
        pg_sys::SetUserIdAndSecContext(before, context);
        result
    }
}
