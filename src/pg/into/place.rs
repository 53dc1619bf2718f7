//! Names of tables that are to be made.

use pgrx::PgSqlErrorCode;
use pgrx::pg_sys::{self, Oid};

use crate::pg::procedure::session_lock::SessionLock;
use crate::pg::procedure::table::{may_create_in, may_use};
use crate::pg::query::catalog::relation_named;
use crate::pg::query::names::quote_identifier;
use crate::pg::request::example::literal;
use crate::pg::server::encoding::{self, c_string};
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::values;
use neardup_core::hash;

/// The maximum length of a name in bytes.
const MOST: usize = pg_sys::NAMEDATALEN as usize - 1;

/// A name in a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TablePlace {
    /// The OID of the schema.
    pub namespace: Oid,
    /// The name of the schema, quoted for SQL text.
    pub schema: String,
    /// The name.
    pub name: String,
}

impl TablePlace {
    /// Parses the place that argument `argument` names: in a named schema, or in the default schema
    /// for new tables.
    pub(super) fn parse(text: &str, argument: &str) -> Result<Self> {
        // SAFETY: a text of the server, and a list of names in the server's form.
        let mut parts: Vec<String> = unsafe {
            let list = pg_sys::textToQualifiedNameList(values::text(text)?.cast_mut_ptr());
            let count = if list.is_null() { 0 } else { (*list).length };
            (0..count).map(|n| c_string((*pg_sys::list_nth(list, n).cast::<pg_sys::String>()).sval)).collect()
        };
        let name = parts.pop().unwrap_or_default();
        let schema = parts.pop();
        if !parts.is_empty() {
            let message = format!("\"{text}\" is not the name of a table");
            return Err(SqlError::new(PgSqlErrorCode::ERRCODE_INVALID_NAME, message)
                .hint(format!("A name and perhaps a schema: {argument} => 'work.docs_{argument}'")));
        }
        let namespace = match schema {
            Some(schema) => {
                let schema = encoding::to_server(&schema)?;
                // SAFETY: a C string; raises an error if there is no such schema.
                unsafe { pg_sys::get_namespace_oid(schema.as_ptr(), false) }
            }
            None => first_schema().ok_or_else(|| {
                let message = "no schema has been selected to create in";
                SqlError::new(PgSqlErrorCode::ERRCODE_INVALID_SCHEMA_NAME, message)
                    .hint(format!("Name it: {argument} => 'work.docs_{argument}'"))
            })?,
        };
        Self::new(namespace, name)
    }

    /// Returns the place of a name in the schema of a relation.
    pub(super) fn with_relation(relation: Oid, name: &str) -> Result<Self> {
        // SAFETY: any OID may be looked up.
        let namespace = unsafe { pg_sys::get_rel_namespace(relation) };
        Self::new(namespace, name.to_owned())
    }

    fn new(namespace: Oid, name: String) -> Result<Self> {
        // SAFETY: any OID may be looked up; the schema was found a moment ago.
        let schema = unsafe {
            let schema = pg_sys::get_namespace_name(namespace);
            if schema.is_null() { namespace.to_u32().to_string() } else { c_string(schema) }
        };
        Ok(Self { namespace, schema: quote_identifier(&schema)?, name })
    }

    /// Returns the place of a relation, or `None` if it was dropped.
    pub(super) fn find(relation: Oid) -> Result<Option<Self>> {
        // SAFETY: any OID may be looked up; the name is null if there is no such relation.
        let name = unsafe {
            let name = pg_sys::get_rel_name(relation);
            (!name.is_null()).then(|| c_string(name))
        };
        name.map(|name| Self::with_relation(relation, &name)).transpose()
    }

    /// Returns the place of another name in the same schema.
    pub(super) fn beside(&self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self.clone() }
    }

    /// Returns the name with its schema, quoted for SQL text.
    pub(super) fn qualified(&self) -> Result<String> {
        Ok(format!("{}.{}", self.schema, quote_identifier(&self.name)?))
    }

    /// Returns the relation at this place, if there is one.
    pub(super) fn relation(&self) -> Result<Option<Oid>> {
        relation_named(&self.name, self.namespace)
    }

    /// Fails if a role may not make tables in the schema.
    pub(super) fn check_right(&self, role: Oid) -> Result<()> {
        if may_create_in(self.namespace, role) && may_use(self.namespace, role) {
            return Ok(());
        }
        let message = format!("permission denied for schema {}", self.schema);
        Err(SqlError::new(PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE, message).hint(
            "Tables are made there: name one in a schema of your own, such as pairs => 'work.docs_pairs'",
        ))
    }

    /// Returns the place of the log for the table at this place. A long name is cut, and a hash
    /// distinguishes it from other cut names.
    pub(super) fn log(&self) -> Result<Self> {
        const SUFFIX: &str = "_log";
        let length = |name: &str| -> Result<usize> { Ok(encoding::to_server(name)?.to_bytes().len()) };
        if length(&self.name)? + SUFFIX.len() <= MOST {
            return Ok(self.beside(format!("{}{SUFFIX}", self.name)));
        }
        let tag = format!("_{:08x}{SUFFIX}", hash::hash_bytes(self.name.as_bytes()) as u32);
        let mut kept = self.name.as_str();
        while length(kept)? + tag.len() > MOST {
            let end = kept.char_indices().next_back().map_or(0, |(at, _)| at);
            kept = &kept[..end];
        }
        Ok(self.beside(format!("{kept}{tag}")))
    }

    /// Returns the lock that a call holds, from which it follows without a look into the log
    /// whether the call whose log is at this place is running. The server takes no object locks in
    /// the class of relations, so it cannot collide with a lock of the server.
    pub(super) fn lock(&self) -> SessionLock {
        let namespace = u64::from(self.namespace.to_u32());
        let number = hash::mix(hash::hash_bytes(self.name.as_bytes()) ^ hash::mix(namespace)) as u32;
        SessionLock { class: pg_sys::RelationRelationId, object: Oid::from(number) }
    }
}

/// Returns the default schema for tables that are named without one.
fn first_schema() -> Option<Oid> {
    // SAFETY: a list of OIDs.
    unsafe {
        let path = pg_sys::fetch_search_path(false);
        let count = if path.is_null() { 0 } else { (*path).length };
        (count > 0).then(|| pg_sys::list_nth_oid(path, 0))
    }
}

/// Returns the error for the case that a relation already has the name of a table to make; `more`
/// is the end of its hint.
pub(super) fn taken(place: &TablePlace, more: &str) -> Result<SqlError> {
    let name = place.qualified()?;
    Ok(SqlError::new(PgSqlErrorCode::ERRCODE_DUPLICATE_TABLE, format!("relation {name} already exists"))
        .hint(format!("DROP TABLE {name}; or name another one.{more}")))
}

/// Returns a call that works, with further arguments that follow a comma, for hints.
pub(super) fn such_as(procedure: &str, docs: &str, more: &str) -> String {
    let (threshold, table) =
        if procedure == "partial_duplicates_into" { (0.9, "docs_passages") } else { (0.8, "docs_pairs") };
    format!("CALL {procedure}({}, {threshold}, '{table}'{more});", literal(docs))
}
