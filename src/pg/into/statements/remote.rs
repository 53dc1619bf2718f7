//! Statements that run on a server, independent of the local transaction.
//!
//! Their texts qualify all names with their schemas, because they run with the search path of the
//! role on the server. None of them waits for a lock for long: a server
//! that waits does not hear that the call was cancelled.

use crate::pg::request::example::literal;

/// The time after which a statement stops waiting for a lock; the caller then tries again.
const PATIENCE: &str = "SET lock_timeout = '500ms'";

/// Returns the settings with which a request begins: it does not wait long for locks, and the
/// server ends it after these milliseconds, if there are any.
pub(crate) fn with_patience(sql: &str, milliseconds: i32) -> String {
    let limit =
        if milliseconds > 0 { format!("SET statement_timeout = {milliseconds}; ") } else { String::new() };
    format!("{PATIENCE}; {limit}{sql}")
}

/// Asks for the version of the extension there, and its schema.
pub(crate) const VERSION: &str = "SELECT pg_catalog.concat(e.extversion, ' ', pg_catalog.quote_ident(n.nspname::pg_catalog.text)) \
     FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) e.extnamespace \
     WHERE e.extname OPERATOR(pg_catalog.=) 'neardup'::pg_catalog.name";

/// Asks for the version of the library there; the extension is in this schema, quoted for SQL text.
pub(crate) fn library(schema: &str) -> String {
    format!("SELECT v.library FROM {schema}.neardup_version() v")
}

/// The name of the schema of a role for working tables, which the role makes and owns. In a schema
/// of another owner, that owner could replace tables, and a table with a trigger in place of ours
/// would run code as the role.
const HOME: &str = "pg_catalog.concat('neardup_into_', r.oid)";

/// The condition that schema `n` belongs to role `r` and nobody else can make anything in it.
const IS_OWN: &str = "n.nspowner OPERATOR(pg_catalog.=) r.oid AND NOT EXISTS (SELECT FROM pg_catalog.aclexplode(n.nspacl) a \
     WHERE a.grantee OPERATOR(pg_catalog.<>) n.nspowner AND a.privilege_type OPERATOR(pg_catalog.=) 'CREATE'::pg_catalog.text)";

/// Asks for the schema of the role for working tables, its state (`none`, `own`, or `other`), and
/// the name of the role, quoted for SQL text.
pub(crate) fn home() -> String {
    format!(
        "SELECT pg_catalog.concat({HOME}, ' ', CASE WHEN n.oid IS NULL THEN 'none' WHEN {IS_OWN} THEN 'own' ELSE 'other' END, ' ', \
             pg_catalog.quote_ident(r.rolname::pg_catalog.text)) \
         FROM pg_catalog.pg_roles r LEFT JOIN pg_catalog.pg_namespace n ON n.nspname::pg_catalog.text OPERATOR(pg_catalog.=) {HOME} \
         WHERE r.rolname OPERATOR(pg_catalog.=) CURRENT_USER"
    )
}

/// Makes the schema of the role for working tables.
pub(crate) fn create_home(home: &str) -> String {
    format!("CREATE SCHEMA {home}")
}

/// Asks whether a table is there as the role made it, in the role's own schema: `1` or `0`. The
/// names of the table and of its schema are literals.
pub(crate) fn is_there(home: &str, table: &str) -> String {
    format!(
        "SELECT pg_catalog.count(*)::pg_catalog.text FROM pg_catalog.pg_class c \
             JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace \
             JOIN pg_catalog.pg_roles r ON r.oid OPERATOR(pg_catalog.=) c.relowner \
         WHERE n.nspname OPERATOR(pg_catalog.=) {home}::pg_catalog.name AND c.relname OPERATOR(pg_catalog.=) {table}::pg_catalog.name \
             AND r.rolname OPERATOR(pg_catalog.=) CURRENT_USER AND {IS_OWN} AND c.relkind OPERATOR(pg_catalog.=) 'r'::\"char\" \
             AND NOT c.relhastriggers AND NOT c.relhasrules AND NOT c.relrowsecurity AND NOT c.relhassubclass"
    )
}

/// Counts the rows of a table, which was found to be there as the role made it.
pub(crate) fn count(name: &str) -> String {
    format!("SELECT pg_catalog.count(*)::pg_catalog.text FROM {name}")
}

/// Makes a table in place of an existing table. Fails unless the schema of the table belongs to the
/// role and the types of the columns run no code, because the schema of the table or of the types
/// may have been replaced by now. All of this is one transaction.
pub(crate) fn create(home: &str, table: &str, columns: &str) -> String {
    let name = format!("{home}.{table}");
    let [home, of] = [literal(home), literal(&name)];
    format!(
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
    )
}

/// Drops the tables that exist among these.
pub(crate) fn drop(tables: &[String]) -> String {
    format!("DROP TABLE IF EXISTS {}", tables.join(", "))
}
