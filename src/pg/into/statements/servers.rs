//! Servers with partitions of the documents: the requests to them, and the statements that run
//! there, independent of the local transaction.
//!
//! The texts of these statements qualify all names with their schemas, because they run with the
//! search path of the role on the server. None of them waits for a lock for long: a server that
//! waits does not hear that the call was cancelled.

use std::cell::RefCell;
use std::collections::BTreeMap;

use pgrx::{PgSqlErrorCode, check_for_interrupts};
use serde::{Deserialize, Serialize};

use crate::pg::into::nodes::connection::{self, Fault};
use crate::pg::into::nodes::mapping::NO_MAPPING;
use crate::pg::query::as_user::Extension;
use crate::pg::query::names::quote_identifier;
use crate::pg::request::example::literal;
use crate::pg::server::deadline;
use crate::pg::server::error::{Result, SqlError, is_in_class};
use crate::pg::server::notices::notice;
use crate::pg::server::version;

/// The time after which a statement stops waiting for a lock; the caller then tries again.
const PATIENCE: &str = "SET lock_timeout = '500ms'";

/// The name of the schema of a role for working tables, which the role makes and owns. In a schema
/// of another owner, that owner could replace tables, and a table with a trigger in place of ours
/// would run code as the role.
const HOME: &str = "pg_catalog.concat('neardup_into_', r.oid)";

/// The condition that schema `n` belongs to role `r` and nobody else can make anything in it.
const IS_OWN: &str = "n.nspowner OPERATOR(pg_catalog.=) r.oid AND NOT EXISTS (SELECT FROM pg_catalog.aclexplode(n.nspacl) a \
     WHERE a.grantee OPERATOR(pg_catalog.<>) n.nspowner AND a.privilege_type OPERATOR(pg_catalog.=) 'CREATE'::pg_catalog.text)";

/// A server of postgres_fdw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Server {
    /// The name of the server.
    pub name: String,
    /// The schema of the documents there: documents in another schema are other documents.
    pub schema: String,
}

/// A server as the catalog describes it.
#[derive(Debug, Deserialize)]
pub(crate) struct KnownServer {
    #[serde(flatten)]
    server: Server,
    listed: bool,
}

impl Server {
    /// Returns the servers that were found. Fails unless all of them are declared to have the
    /// extension.
    pub(crate) fn listed(found: Vec<KnownServer>) -> Result<Vec<Self>> {
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

/// Requests to servers, each with a connection of its own, which does not depend on the local
/// transaction.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// The procedure that makes them, for messages.
    procedure: &'static str,
    /// For each server that was asked, by its name, the schema of its working tables.
    homes: RefCell<BTreeMap<String, String>>,
}

impl Requests {
    /// Returns the requests of a call of a procedure.
    pub(crate) fn of_call(procedure: &'static str) -> Self {
        Self { procedure, ..Self::default() }
    }

    /// Runs statements on a server. If a lock is not available, because a session of a killed call
    /// still works there, tries again, and checks for interrupts in between.
    pub(crate) fn run(&self, server: &Server, sql: &str) -> Result<()> {
        try_run(&server.name, sql).or_else(|fault| Err(named(&server.name, fault)?))
    }

    /// Asks a server for a text.
    pub(crate) fn ask(&self, server: &Server, sql: &str) -> Result<Option<String>> {
        exchange(&server.name, sql, deadline::current()).or_else(|fault| Err(named(&server.name, fault)?))
    }

    /// Asks a server for a text, and waits some seconds at most. The inner error says why there is
    /// none.
    pub(crate) fn ask_for_seconds(
        &self,
        server: &str,
        sql: &str,
    ) -> Result<std::result::Result<Option<String>, String>> {
        const PATIENCE: i32 = 3000;
        exchange(server, sql, PATIENCE)
            .map_or_else(|fault| unanswered(server, fault).map(Err), |text| Ok(Ok(text)))
    }

    /// Checks that a server has the same version of the extension, in a schema of the same name,
    /// and the same version of its library. Otherwise sets from there could not be compared with
    /// sets from here, or calls could not be sent.
    pub(crate) fn check_version(&self, server: &Server, extension: &Extension) -> Result<()> {
        let expected = format!("{} {}", version::LIBRARY, extension.schema);
        // The version of the extension there, and its schema.
        let version = "SELECT pg_catalog.concat(e.extversion, ' ', pg_catalog.quote_ident(n.nspname::pg_catalog.text)) \
             FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace \
             WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name";
        let found = self.ask(server, version)?;
        let describe = |text: &str| match text.split_once(' ') {
            Some((version, schema)) => format!("neardup {version} in schema {schema}"),
            None => text.to_owned(),
        };
        let (name, here) = (&server.name, describe(&expected));
        let there = if found.as_deref() == Some(&expected) {
            // The function is where it is here, since the SQL definitions are the same.
            let library = format!("SELECT v.library FROM {}.neardup_version() v", extension.schema);
            let library = self.ask(server, &library)?.unwrap_or_default();
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
    pub(crate) fn home(&self, server: &Server) -> Result<String> {
        if let Some(home) = self.homes.borrow().get(&server.name) {
            return Ok(home.clone());
        }
        // The schema of the role for working tables, its state (`none`, `own`, or `other`), and the
        // name of the role, quoted for SQL text.
        let sql = format!(
            "SELECT pg_catalog.concat({HOME}, ' ', CASE WHEN n.oid IS NULL THEN 'none' WHEN {IS_OWN} THEN 'own' ELSE 'other' END, ' ', \
                 pg_catalog.quote_ident(r.rolname::pg_catalog.text)) \
             FROM pg_catalog.pg_roles r LEFT JOIN pg_catalog.pg_namespace n ON n.nspname::pg_catalog.text OPERATOR(pg_catalog.=) {HOME} \
             WHERE r.rolname OPERATOR(pg_catalog.=) CURRENT_USER"
        );
        let ask = || -> Result<Vec<String>> {
            let answer = self.ask(server, &sql)?.unwrap_or_default();
            Ok(answer.splitn(3, ' ').map(str::to_owned).collect())
        };
        let mut answer = ask()?;
        if let [home, state, _] = &answer[..]
            && state == "none"
        {
            let made = self.run(server, &format!("CREATE SCHEMA {home}"));
            answer = ask()?;
            // If two calls make the schema at the same time, one of them finds it already made.
            let is_refused = |error: &SqlError| {
                matches!(error, SqlError::Own { code: PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, .. })
            };
            if let (Err(error), true) = (made, answer.get(1).is_some_and(|state| state == "none"))
                && !is_refused(&error)
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
    pub(crate) fn create(&self, server: &Server, table: &str, columns: &str) -> Result<()> {
        let home = self.home(server)?;
        let name = format!("{home}.{table}");
        let [home, of] = [literal(&home), literal(&name)];
        let sql = format!(
            "DO $neardup$ BEGIN \
                 IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace n, pg_catalog.pg_roles r \
                     WHERE n.nspname OPERATOR(pg_catalog.=) {home}::pg_catalog.name AND r.rolname OPERATOR(pg_catalog.=) CURRENT_USER AND {IS_OWN}) THEN \
                     RAISE 'the schema for working tables is not the own one of the role' USING ERRCODE = '55000'; \
                 END IF; \
             END $neardup$; \
             DROP TABLE IF EXISTS {name}; CREATE TABLE {name} ({columns}); \
             DO $neardup$ BEGIN \
                 IF EXISTS (SELECT FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid OPERATOR(pg_catalog.=) a.atttypid \
                     WHERE a.attrelid OPERATOR(pg_catalog.=) {of}::pg_catalog.regclass::pg_catalog.oid AND t.typtype = ANY ('{{d,c}}'::\"char\"[])) THEN \
                     RAISE 'a type of working tables is another one on this server' USING ERRCODE = '55000'; \
                 END IF; \
             END $neardup$"
        );
        self.run(server, &sql)
    }

    /// Reports whether a server has a table as the role made it.
    pub(crate) fn has(&self, server: &Server, table: &str) -> Result<bool> {
        let (home, table) = (literal(&self.home(server)?), literal(table));
        let sql = format!(
            "SELECT pg_catalog.count(*)::pg_catalog.text FROM pg_catalog.pg_class c \
                 JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace \
                 JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) c.relowner \
             WHERE n.nspname OPERATOR(pg_catalog.=) {home}::pg_catalog.name AND c.relname OPERATOR(pg_catalog.=) {table}::pg_catalog.name \
                 AND r.rolname OPERATOR(pg_catalog.=) CURRENT_USER AND {IS_OWN} AND c.relkind OPERATOR(pg_catalog.=) 'r'::\"char\" \
                 AND NOT c.relhastriggers AND NOT c.relhasrules AND NOT c.relrowsecurity AND NOT c.relhassubclass"
        );
        Ok(self.ask(server, &sql)?.as_deref() == Some("1"))
    }

    /// Counts the rows of a table on a server.
    pub(crate) fn count(&self, server: &Server, table: &str) -> Result<i64> {
        let home = self.home(server)?;
        let rows =
            self.ask(server, &format!("SELECT pg_catalog.count(*)::pg_catalog.text FROM {home}.{table}"))?;
        Ok(rows.and_then(|rows| rows.parse().ok()).unwrap_or_default())
    }

    /// Drops tables of a server. If the server cannot be reached or fails to drop them, tells the
    /// caller which tables may remain there.
    pub(crate) fn drop(&self, server: &Server, tables: &[String]) -> Result<()> {
        let mut names = tables.to_vec();
        let dropped = match self.home(server) {
            Ok(home) => {
                names.iter_mut().for_each(|name| *name = format!("{home}.{name}"));
                try_run(&server.name, &drop_if_there(&names))
            }
            // The schema of the tables is not found out for the same reasons.
            Err(SqlError::Own { code, message, .. }) if is_unreached(code as i32) => {
                Err(Fault::Unreached(message.to_string()))
            }
            Err(error) => return Err(error),
        };
        let Err(fault) = dropped else { return Ok(()) };
        let message = unanswered(&server.name, fault)?;
        notice(format!(
            "{}: working tables may be left on server \"{}\": {message}. There: {};",
            self.procedure,
            server.name,
            drop_if_there(&names)
        ));
        Ok(())
    }
}

/// Sends statements to a server, and returns the text that they return. A name from a log may be
/// anything, and is looked up as the name of a server.
fn exchange(server: &str, sql: &str, milliseconds: i32) -> std::result::Result<Option<String>, Fault> {
    check_for_interrupts!();
    let limit =
        if milliseconds > 0 { format!("SET statement_timeout = {milliseconds}; ") } else { String::new() };
    connection::exchange(server, &format!("{PATIENCE}; {limit}{sql}"), milliseconds)
}

/// Runs statements on a server, and tries again as long as a lock is not available there.
fn try_run(server: &str, sql: &str) -> std::result::Result<(), Fault> {
    const TRIES: usize = 120;
    for _ in 1..TRIES {
        match exchange(server, sql, deadline::current()) {
            Err(Fault::Answered(PgSqlErrorCode::ERRCODE_LOCK_NOT_AVAILABLE, ..)) => {}
            answer => return answer.map(|_| ()),
        }
    }
    exchange(server, sql, deadline::current()).map(|_| ())
}

/// Returns why a server has not done what it was asked for, or the error if the statement must end.
fn unanswered(server: &str, fault: Fault) -> Result<String> {
    match fault {
        Fault::Answered(_, message, _) => Ok(message),
        Fault::Own(SqlError::Own { code, message, .. }) if is_unreached(code as i32) => {
            Ok(message.to_string())
        }
        Fault::Own(error) => Err(error),
        fault => match named(server, fault)? {
            SqlError::Own { message, .. } => Ok(message.to_string()),
            error @ SqlError::Server(_) => Err(error),
        },
    }
}

/// Returns the error of a request to a server, with the name of the server if it was not reached:
/// the other side does not know it. The SQLSTATE tells a script whether to try again.
fn named(name: &str, fault: Fault) -> Result<SqlError> {
    Ok(match fault {
        Fault::Unreached(why) => {
            let code = PgSqlErrorCode::ERRCODE_SQLCLIENT_UNABLE_TO_ESTABLISH_SQLCONNECTION;
            SqlError::new(code, format!("server \"{name}\" is not reached: {why}"))
                .hint("Call it again once the server answers: it goes on where it was.")
        }
        Fault::Silent(milliseconds) => {
            deadline::note();
            let message = format!("server \"{name}\" has not answered within {milliseconds} ms");
            SqlError::new(PgSqlErrorCode::ERRCODE_CONNECTION_FAILURE, message).hint(deadline::HINT)
        }
        Fault::Answered(code, message, hint) => {
            let error = SqlError::new(code, message);
            match hint {
                Some(hint) => error.hint(hint),
                None => error,
            }
        }
        Fault::Own(error) => error,
    })
}

/// Reports whether the SQLSTATE of an error means that a server was not reached.
fn is_unreached(code: i32) -> bool {
    is_in_class(code, PgSqlErrorCode::ERRCODE_CONNECTION_EXCEPTION) || code == NO_MAPPING as i32
}

/// Drops the tables that exist among these.
pub(super) fn drop_if_there(tables: &[String]) -> String {
    format!("DROP TABLE IF EXISTS {}", tables.join(", "))
}
