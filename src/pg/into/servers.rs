//! Servers with partitions of the documents: the requests to them, and the statements that run
//! there.

use std::cell::RefCell;
use std::collections::BTreeMap;

use pgrx::pg_sys;
use pgrx::{PgSqlErrorCode, check_for_interrupts};
use serde::{Deserialize, Serialize};

use super::connection;
use super::statements::{catalog, remote};
use crate::pg::procedure::statement::{Statement, read_text};
use crate::pg::query::as_user::Extension;
use crate::pg::query::names::quote_identifier;
use crate::pg::request::example::literal;
use crate::pg::server::deadline;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, SqlError, is_in_class};
use crate::pg::server::version;

/// A server of postgres_fdw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Server {
    /// The name of the server.
    pub name: String,
    /// The schema of the documents there: documents in another schema are other documents.
    pub schema: String,
}

/// A server as the catalog describes it.
#[derive(Debug, Deserialize)]
pub(super) struct KnownServer {
    #[serde(flatten)]
    server: Server,
    listed: bool,
}

impl Server {
    /// Reads the servers that a statement returns as JSON.
    pub(super) fn all(statement: &Statement) -> Result<Vec<KnownServer>> {
        let Some([Some(json)]) = statement.row([pg_sys::TEXTOID])? else { return Ok(Vec::new()) };
        serde_json::from_str(&read_text(json)?)
            .map_err(|error| SqlError::new(PgSqlErrorCode::ERRCODE_INTERNAL_ERROR, error.to_string()))
    }

    /// Returns the servers that were found. Fails unless all of them are declared to have the
    /// extension.
    pub(super) fn listed(found: Vec<KnownServer>) -> Result<Vec<Self>> {
        let servers = found.into_iter().map(|KnownServer { server, listed }| {
            if listed {
                return Ok(server);
            }
            let name = &server.name;
            let message = format!(
                "server \"{name}\" is not said to have neardup, so nothing of it would be made there"
            );
            Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message).hint(
                format!(
                    "Install the extension there, and: ALTER SERVER {} OPTIONS (ADD extensions 'neardup');",
                    quote_identifier(name)?
                ),
            ))
        });
        servers.collect()
    }
}

/// The extension dblink, which sends statements to servers.
#[derive(Debug)]
pub(super) struct Dblink {
    /// The schema of dblink, quoted for SQL text.
    schema: String,
    /// For each server that was asked, by its name, the schema of its working tables.
    homes: RefCell<BTreeMap<String, String>>,
}

impl Dblink {
    /// Finds the dblink of this database.
    pub(super) fn open() -> Result<Self> {
        match catalog::schema_of_dblink().row([pg_sys::TEXTOID])? {
            Some([Some(schema)]) => {
                Ok(Self { schema: read_text(schema)?.into_owned(), homes: RefCell::default() })
            }
            _ => {
                let message =
                    "working tables on other servers are made by the extension dblink, which is not there";
                Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
                    .hint("CREATE EXTENSION dblink;"))
            }
        }
    }

    /// Runs statements on a server. If a lock is not available, because a session of a killed call
    /// still works there, tries again, and checks for interrupts in between.
    pub(super) fn run(&self, server: &Server, sql: &str) -> Result<()> {
        const TRIES: usize = 120;
        check_name(server)?;
        for last in (0..TRIES).map(|n| n + 1 == TRIES) {
            check_for_interrupts!();
            let error = match connection::exchange(&self.schema, &server.name, sql, deadline::current()) {
                Ok(_) => return Ok(()),
                Err(error) => error,
            };
            let busy = code(&error) == Some(PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE as i32);
            if !busy || last {
                return Err(named(server, error)?);
            }
        }
        Ok(())
    }

    /// Asks a server for a text.
    pub(super) fn ask(&self, server: &Server, sql: &str) -> Result<Option<String>> {
        check_for_interrupts!();
        check_name(server)?;
        connection::exchange(&self.schema, &server.name, sql, deadline::current())
            .or_else(|error| Err(named(server, error)?))
    }

    /// Reports whether a server answers within some seconds.
    pub(super) fn answers(&self, server: &str) -> Result<bool> {
        const PATIENCE: i32 = 3000;
        let _limit = deadline::limit(PATIENCE);
        match connection::exchange(&self.schema, server, "SELECT 1::pg_catalog.text", PATIENCE) {
            Ok(_) => Ok(true),
            Err(error) => unanswered(error).map(|_| false),
        }
    }

    /// Checks that a server has the same version of the extension, in a schema of the same name,
    /// and the same version of its library. Otherwise sets from there could not be compared with
    /// sets from here, or calls could not be sent.
    pub(super) fn check_version(&self, server: &Server, extension: &Extension) -> Result<()> {
        let expected = format!("{} {}", version::LIBRARY, extension.schema);
        let found = self.ask(server, remote::VERSION)?;
        let describe = |text: &str| match text.split_once(' ') {
            Some((version, schema)) => format!("neardup {version} in schema {schema}"),
            None => text.to_owned(),
        };
        let (name, here) = (&server.name, describe(&expected));
        let there = if found.as_deref() == Some(&expected) {
            // The function is where it is here, since the SQL definitions are the same.
            let library = self.ask(server, &remote::library(&extension.schema))?.unwrap_or_default();
            if library == version::LIBRARY {
                return Ok(());
            }
            format!("the library of neardup {library}")
        } else {
            found.as_deref().map_or("no neardup".to_owned(), describe)
        };
        let message = format!("server \"{name}\" has {there}, and here is {here}");
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
            .hint("Sets of tokens are compared with each other: all servers need the same version in a schema of the same name."))
    }

    /// Returns the schema of the working tables of a server. The role there owns the schema, and
    /// nobody else can make anything in it. The schema is made if it is missing. Its name needs no
    /// quotes.
    pub(super) fn home(&self, server: &Server) -> Result<String> {
        if let Some(home) = self.homes.borrow().get(&server.name) {
            return Ok(home.clone());
        }
        let ask = || -> Result<Vec<String>> {
            let answer = self.ask(server, &remote::home())?.unwrap_or_default();
            Ok(answer.splitn(3, ' ').map(str::to_owned).collect())
        };
        let mut answer = ask()?;
        if let [home, state, _] = &answer[..]
            && state == "none"
        {
            let made = self.run(server, &remote::create_home(home));
            answer = ask()?;
            // If two calls make the schema at the same time, one of them finds it already made.
            if let (Err(error), true) = (made, answer.get(1).is_some_and(|state| state == "none"))
                && code(&error) != Some(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE as i32)
            {
                return Err(error);
            }
        }
        match &answer[..] {
            [home, state, _] if state == "own" => {
                self.homes.borrow_mut().insert(server.name.clone(), home.clone());
                Ok(home.clone())
            }
            [home, state, role] => {
                let name = &server.name;
                let make = format!("CREATE SCHEMA {home} AUTHORIZATION {role};");
                let (message, mend) = if state == "none" {
                    let what = format!("role {role} has no schema for working tables on server \"{name}\"");
                    (format!("{what}, and may make none"), make)
                } else {
                    let what = format!("schema {home} on server \"{name}\" is not role {role}'s alone");
                    (what, format!("DROP SCHEMA {home}; {make}"))
                };
                Err(SqlError::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, message)
                    .hint(format!("On that server, as one who may: {mend}")))
            }
            _ => {
                let message =
                    format!("server \"{}\" did not say what its working tables are in", server.name);
                Err(SqlError::new(PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message))
            }
        }
    }

    /// Makes a table without rows on a server, in place of an existing table of this name. Its rows
    /// are kept after a crash.
    pub(super) fn create(&self, server: &Server, table: &str, columns: &str) -> Result<()> {
        self.run(server, &remote::create(&self.home(server)?, table, columns))
    }

    /// Reports whether a server has a table as the role made it.
    pub(super) fn has(&self, server: &Server, table: &str) -> Result<bool> {
        let (home, table) = (literal(&self.home(server)?), literal(table));
        Ok(self.ask(server, &remote::is_there(&home, &table))?.as_deref() == Some("1"))
    }

    /// Counts the rows of a table on a server.
    pub(super) fn count(&self, server: &Server, table: &str) -> Result<i64> {
        let name = format!("{}.{table}", self.home(server)?);
        let rows = self.ask(server, &remote::count(&name))?;
        Ok(rows.and_then(|rows| rows.parse().ok()).unwrap_or_default())
    }

    /// Drops tables of a server. If the server cannot be reached or fails to drop them, tells the
    /// caller which tables may remain there.
    pub(super) fn drop(&self, server: &Server, tables: &[String]) -> Result<()> {
        let mut names = tables.to_vec();
        let dropped = self.home(server).and_then(|home| {
            names.iter_mut().for_each(|name| *name = format!("{home}.{name}"));
            self.run(server, &remote::drop(&names))
        });
        let message = match dropped.map_err(unanswered) {
            Err(Ok(message)) => message,
            Err(Err(error)) => return Err(error),
            Ok(()) => return Ok(()),
        };
        pgrx::notice!(
            "near_duplicates_into: working tables may be left on server \"{}\": {message}. There: {};",
            server.name,
            remote::drop(&names)
        );
        Ok(())
    }
}

/// Returns the message of an error of a server that cannot be reached or fails, or the error if the
/// statement must end.
pub(super) fn unanswered(error: SqlError) -> std::result::Result<String, SqlError> {
    match error {
        SqlError::Server(error) if !is_end(error) => Ok(texts(error).0),
        SqlError::Own { code, message, .. } if is_unreached(code as i32) => Ok(message.to_string()),
        error => Err(error),
    }
}

/// Checks that a name is the name of a server: dblink takes any other name for a connection string,
/// and a name from a log may be anything.
fn check_name(server: &Server) -> Result<()> {
    if catalog::is_server(&server.name)?.holds()? {
        return Ok(());
    }
    let message = format!("server \"{}\" does not exist", server.name);
    Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message)
        .hint("It must be a server of postgres_fdw: SELECT srvname FROM pg_foreign_server;"))
}

/// Returns the error of a request to a server, with the name of the server if it was not reached:
/// neither dblink nor the server here names it. Its SQLSTATE stays, so that a script knows whether
/// to try again.
fn named(server: &Server, error: SqlError) -> Result<SqlError> {
    let name = &server.name;
    let SqlError::Server(data) = error else {
        let SqlError::Own { code, message, .. } = &error else { return Ok(error) };
        if !is_of_connections(*code as i32) {
            return Ok(error);
        }
        return Ok(SqlError::new(*code, format!("server \"{name}\" {message}")).hint(deadline::HINT));
    };
    // SAFETY: an error that was copied from the server.
    let code = unsafe { (*data).sqlerrcode };
    let (message, detail) = texts(data);
    if is_of_connections(code) {
        let why = detail.lines().next().filter(|line| !line.is_empty()).unwrap_or(&message);
        let message = format!("server \"{name}\" is not reached: {why}");
        return Ok(SqlError::new(code.into(), message)
            .hint("Call it again once the server answers: it goes on where it was."));
    }
    if code == PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT as i32 && !catalog::has_mapping(name)?.holds()? {
        let message = format!("there is no user mapping of this role for server \"{name}\"");
        return Ok(SqlError::new(NO_MAPPING, message).hint(format!(
            "CREATE USER MAPPING FOR CURRENT_USER SERVER {} OPTIONS (user '…', password '…');",
            quote_identifier(name)?
        )));
    }
    Ok(error)
}

/// Reports whether an SQLSTATE is of the class of connections.
fn is_of_connections(code: i32) -> bool {
    is_in_class(code, PgSqlErrorCode::ERRCODE_CONNECTION_EXCEPTION)
}

/// The SQLSTATE for a role without a user mapping. It is not that of a server that does not exist,
/// which no call may pass over.
const NO_MAPPING: PgSqlErrorCode = PgSqlErrorCode::ERRCODE_INVALID_AUTHORIZATION_SPECIFICATION;

/// Reports whether the SQLSTATE of an error of [`named`] means that a server was not reached.
fn is_unreached(code: i32) -> bool {
    is_of_connections(code) || code == NO_MAPPING as i32
}

/// Returns the message and the detail of an error from the server.
fn texts(error: *mut pg_sys::ErrorData) -> (String, String) {
    // SAFETY: an error that was copied from the server; its texts are null or C strings.
    unsafe {
        let text = |text: *mut std::ffi::c_char| if text.is_null() { String::new() } else { c_string(text) };
        (text((*error).message), text((*error).detail))
    }
}

/// Returns the SQLSTATE of an error from the server.
fn code(error: &SqlError) -> Option<i32> {
    match error {
        // SAFETY: an error that was copied from the server.
        SqlError::Server(error) => Some(unsafe { (**error).sqlerrcode }),
        SqlError::Own { .. } => None,
    }
}

/// Reports whether an error means that the statement must end, independent of any remote server.
fn is_end(error: *mut pg_sys::ErrorData) -> bool {
    let ends = [PgSqlErrorCode::ERRCODE_QUERY_CANCELED, PgSqlErrorCode::ERRCODE_OUT_OF_MEMORY];
    // SAFETY: an error that was copied from the server.
    let code = unsafe { (*error).sqlerrcode };
    ends.iter().any(|&end| code == end as i32)
}
