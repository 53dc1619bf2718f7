//! The definitions of the tables that a procedure makes, as SQL text and as in the catalog, and the
//! statements that make, empty, count and drop tables.

use pgrx::pg_sys::{self, Oid};

use super::form::{IndexForm, IndexedRows, TableForm};
use super::statement::{Statement, on};
use super::table::Table;
use crate::pg::server::error::Result;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Bool,
    Char,
    Int2,
    Int4,
    Int4Range,
    Int8,
    Int8Array,
    Float8,
    Numeric,
    Text,
    TextArray,
    Jsonb,
    Timestamptz,
    Bytea,
    /// Bytes that cannot be compressed further.
    Packed,
    Uuid,
    /// The similarity of two documents, or their passages in one value.
    Found,
    /// The type of the ids.
    Id,
}

/// A column: its name and its type.
pub(crate) type Column = (&'static str, Type);

/// The types that differ between calls, or between jobs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Types<'a> {
    /// The type of the ids: its name with its schema, quoted for SQL text, and its OID.
    pub id: (&'a str, Oid),
    /// Set if passages are found, and not how similar documents are.
    pub passages: bool,
}

impl Types<'_> {
    /// Types of which only that of the ids is known, and not its name.
    pub(crate) fn of_ids(id: Oid) -> Self {
        Self { id: ("", id), passages: false }
    }

    /// Returns the name of a type with its schema, and its OID.
    fn type_name(&self, of: Type) -> (&str, Oid) {
        match of {
            Type::Bool => ("pg_catalog.bool", pg_sys::BOOLOID),
            Type::Char => ("pg_catalog.\"char\"", pg_sys::CHAROID),
            Type::Int2 => ("pg_catalog.int2", pg_sys::INT2OID),
            Type::Int4 => ("pg_catalog.int4", pg_sys::INT4OID),
            Type::Int4Range => ("pg_catalog.int4range", pg_sys::INT4RANGEOID),
            Type::Int8 => ("pg_catalog.int8", pg_sys::INT8OID),
            Type::Int8Array => ("pg_catalog.int8[]", pg_sys::INT8ARRAYOID),
            Type::Numeric => ("pg_catalog.numeric", pg_sys::NUMERICOID),
            Type::Text => ("pg_catalog.text", pg_sys::TEXTOID),
            Type::TextArray => ("pg_catalog.text[]", pg_sys::TEXTARRAYOID),
            Type::Jsonb => ("pg_catalog.jsonb", pg_sys::JSONBOID),
            Type::Timestamptz => ("pg_catalog.timestamptz", pg_sys::TIMESTAMPTZOID),
            Type::Uuid => ("pg_catalog.uuid", pg_sys::UUIDOID),
            Type::Found if !self.passages => self.type_name(Type::Float8),
            Type::Float8 => ("pg_catalog.float8", pg_sys::FLOAT8OID),
            Type::Bytea | Type::Packed | Type::Found => ("pg_catalog.bytea", pg_sys::BYTEAOID),
            Type::Id => self.id,
        }
    }

    /// Returns the columns for `CREATE TABLE`. All types are qualified with their schemas, so that
    /// the same text works on servers.
    pub(crate) fn sql(&self, columns: &[Column]) -> String {
        let columns = columns.iter().map(|&(name, of)| format!("{name} {}", self.type_name(of).0));
        columns.collect::<Vec<_>>().join(", ")
    }

    /// Returns the columns as in the catalog.
    pub(crate) fn oids(&self, columns: &[Column]) -> Vec<(&'static str, Oid)> {
        columns.iter().map(|&(name, of)| (name, self.type_name(of).1)).collect()
    }
}

/// A table as a procedure makes it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableDefinition {
    /// The columns.
    pub columns: &'static [Column],
    /// Those that accept NULL.
    pub nullable: &'static [&'static str],
    /// The form; a unique index of all rows is that of the primary key.
    pub form: TableForm,
}

impl TableDefinition {
    /// Makes a table and its indexes.
    pub(crate) fn make(&self, table: &str, types: &Types<'_>) -> Result<()> {
        let column = |column: &Column| {
            let constraint = if self.nullable.contains(&column.0) { "" } else { " NOT NULL" };
            format!("{}{constraint}", types.sql(&[*column]))
        };
        let (keys, indexes): (Vec<IndexForm>, Vec<IndexForm>) =
            self.form.indexes.iter().partition(|index| index.is_unique && index.rows == IndexedRows::All);
        let keys = keys.iter().map(|key| format!("PRIMARY KEY ({})", key.keys.join(", ")));
        let columns: Vec<String> = self.columns.iter().map(column).chain(keys).collect();
        Statement::new(format!("CREATE TABLE {table} ({})", columns.join(", "))).run()?;
        store_as_they_are(table, self.columns)?;
        for IndexForm { keys, is_unique, rows } in indexes {
            let unique = if is_unique { "UNIQUE " } else { "" };
            let rows = match rows {
                IndexedRows::Null(column) => format!(" WHERE {column} IS NULL"),
                IndexedRows::NotNull(column) => format!(" WHERE {column} IS NOT NULL"),
                IndexedRows::All | IndexedRows::Other => String::new(),
            };
            Statement::new(format!("CREATE {unique}INDEX ON {table} ({}){rows}", keys.join(", "))).run()?;
        }
        Ok(())
    }
}

/// Sets that values of which nothing is to be compressed are not.
pub(crate) fn store_as_they_are(table: &str, columns: &[Column]) -> Result<()> {
    let is_stored = |of: Type| matches!(of, Type::Packed | Type::Int8Array | Type::TextArray);
    for (column, _) in columns.iter().filter(|&&(_, of)| is_stored(of)) {
        Statement::new(format!("ALTER TABLE {table} ALTER COLUMN {column} SET STORAGE EXTERNAL")).run()?;
    }
    Ok(())
}

impl Table {
    /// Returns what distinguishes the table from one that was made by a definition; `None` if it is
    /// as it was made.
    pub(crate) fn differs_from(&self, made: &TableDefinition, types: &Types<'_>) -> Option<String> {
        self.differs(&made.form, &types.oids(made.columns))
    }

    /// Deletes all rows.
    pub(crate) fn empty(&self) -> Result<i64> {
        on([self], format!("DELETE FROM {self}")).run()
    }

    /// Counts the rows.
    pub(crate) fn count(&self) -> Result<i64> {
        Ok(on([self], format!("SELECT count(*) FROM {self}")).number()?.unwrap_or_default())
    }
}

/// Drops tables.
pub(crate) fn drop_tables<'a>(tables: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let tables: Vec<&str> = tables.into_iter().collect();
    if tables.is_empty() {
        return Ok(());
    }
    Statement::new(format!("DROP TABLE {}", tables.join(", "))).run().map(|_| ())
}
