//! The options with which the current user connects to a server of postgres_fdw.

use std::ffi::{CStr, CString};
use std::time::Duration;

use pgrx::pg_sys::{self, Datum, Oid};
use pgrx::{PgList, PgSqlErrorCode};

use super::libpq::Libpq;
use crate::pg::into::statements::catalog;
use crate::pg::query::names::quote_identifier;
use crate::pg::server::encoding::{self, c_string};
use crate::pg::server::error::{Result, SqlError};

/// The options of a connection.
pub(crate) struct ConnectionOptions {
    /// What libpq is told: keywords and values.
    told: Vec<(CString, CString)>,
    /// Set if the user need not prove that it knows a password: a superuser, or a user whose
    /// mapping a superuser has marked so.
    needs_no_password: bool,
}

impl ConnectionOptions {
    /// Reads the options of a server and of the user mapping of the current user, who must be
    /// allowed to use the server.
    pub(crate) fn read(name: &str, libpq: &Libpq) -> Result<Self> {
        let server_name = encoding::to_server(name)?;
        // SAFETY: a C string; the results live as long as the memory context, and are null or raise
        // an error if they are missing; the lists have nodes of options.
        unsafe {
            let server = pg_sys::GetForeignServerByName(server_name.as_ptr(), true);
            let wrapper = (!server.is_null()).then(|| pg_sys::GetForeignDataWrapper((*server).fdwid));
            let wrapper = wrapper.filter(|&wrapper| c_string((*wrapper).fdwname) == "postgres_fdw");
            let Some(wrapper) = wrapper else { return Err(missing(name)) };
            let user = pg_sys::GetUserId();
            check_mapping(name)?;
            if !may_use((*server).serverid) {
                let message = format!("permission denied for foreign server {name}");
                return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, message));
            }
            let mapping = pg_sys::GetUserMapping(user, (*server).serverid);
            let known = known_options(libpq);
            let mut told: Vec<(CString, CString)> = Vec::new();
            let [mut has_password, mut is_excused] = [false, false];
            for (list, is_of_user) in
                [((*wrapper).options, false), ((*server).options, false), ((*mapping).options, true)]
            {
                for option in PgList::<pg_sys::DefElem>::from_pg(list).iter_ptr() {
                    let key = CStr::from_ptr((*option).defname);
                    if is_of_user && key == c"password_required" {
                        is_excused = !pg_sys::defGetBoolean(option);
                    }
                    if known.iter().any(|known| known.as_c_str() == key) {
                        let value = CStr::from_ptr(pg_sys::defGetString(option)).to_owned();
                        has_password |= is_of_user && key == c"password" && !value.is_empty();
                        told.push((key.to_owned(), value));
                    }
                }
            }
            let encoding = CStr::from_ptr(pg_sys::GetDatabaseEncodingName()).to_owned();
            told.push((c"client_encoding".to_owned(), encoding));
            told.push((c"fallback_application_name".to_owned(), c"neardup".to_owned()));
            let needs_no_password = pg_sys::superuser_arg(user) || is_excused;
            let options = Self { told, needs_no_password };
            options.check_password(has_password)?;
            Ok(options)
        }
    }

    /// Lists keywords and values.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&CStr, &CStr)> {
        self.told.iter().map(|(key, value)| (key.as_c_str(), value.as_c_str()))
    }

    /// Returns the time in which the connection is to be made, if the options say it.
    pub(crate) fn connect_timeout(&self) -> Option<Duration> {
        let (_, value) = self.told.iter().rev().find(|(key, _)| key.as_c_str() == c"connect_timeout")?;
        let seconds: u64 = value.to_str().ok()?.trim().parse().ok()?;
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }

    /// Fails if a user who has to know a password has none, or the server did not ask for it: then
    /// it would be the operating system's user of this server whom the other one trusts.
    pub(crate) fn check_password(&self, has_password: bool) -> Result<()> {
        if has_password || self.needs_no_password {
            return Ok(());
        }
        let code = PgSqlErrorCode::ERRCODE_S_R_E_PROHIBITED_SQL_STATEMENT_ATTEMPTED;
        Err(SqlError::new(code, "password is required")
            .hint("Who is no superuser must have a password in the user mapping, and the other server must ask for it."))
    }
}

/// Returns the options of a server or of a user that libpq is told: it knows them, and they are
/// neither for its developers nor ours.
fn known_options(libpq: &Libpq) -> Vec<CString> {
    let mut known = Vec::new();
    // SAFETY: a list of options that ends with one without a keyword, and is freed after it was
    // copied; or null, if there is no memory.
    unsafe {
        let all = (libpq.PQconndefaults)();
        let mut option = all;
        while !option.is_null() && !(*option).keyword.is_null() {
            let key = CStr::from_ptr((*option).keyword);
            let is_ours = [c"client_encoding", c"fallback_application_name"].contains(&key);
            if !is_ours && !CStr::from_ptr((*option).dispchar).to_bytes().contains(&b'D') {
                known.push(key.to_owned());
            }
            option = option.add(1);
        }
        (libpq.PQconninfoFree)(all);
    }
    known
}

/// Reports whether the current user may use a server.
fn may_use(server: Oid) -> bool {
    // SAFETY: a function of the server that takes an OID and a text and returns a bool.
    unsafe {
        let usage = Datum::from(pg_sys::cstring_to_text(c"USAGE".as_ptr()));
        let function = pg_sys::F_HAS_SERVER_PRIVILEGE_OID_TEXT.into();
        pg_sys::OidFunctionCall2Coll(function, pg_sys::InvalidOid, server.into(), usage).value() != 0
    }
}

/// The SQLSTATE for a role without a user mapping. It is not that of a server that does not exist,
/// which no call may pass over.
pub(crate) const NO_MAPPING: PgSqlErrorCode = PgSqlErrorCode::ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION;

/// Fails if neither the current user nor everybody has a user mapping for a server.
fn check_mapping(server: &str) -> Result<()> {
    if catalog::has_mapping(server)?.holds()? {
        return Ok(());
    }
    let message = format!("there is no user mapping of this role for server \"{server}\"");
    Err(SqlError::new(NO_MAPPING, message).hint(format!(
        "CREATE USER MAPPING FOR CURRENT_USER SERVER {} OPTIONS (user '…', password '…');",
        quote_identifier(server)?
    )))
}

/// Returns the error for a name that is not the name of a server of postgres_fdw. A name from a log
/// may be anything.
fn missing(name: &str) -> SqlError {
    SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, format!("server \"{name}\" does not exist"))
        .hint("It must be a server of postgres_fdw: SELECT srvname FROM pg_foreign_server;")
}
