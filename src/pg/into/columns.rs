//! The columns of the tables that a call makes, as SQL text and as in the catalog.

use pgrx::pg_sys::{self, Oid};

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Int4,
    Int8,
    Int8Array,
    Float8,
    Numeric,
    Bool,
    Bytea,
    Uuid,
    Int4Range,
    /// The similarity of two documents, or their passages in one value.
    Found,
    /// The type of the ids.
    Id,
}

/// A column: its name and its type.
pub(crate) type Column = (&'static str, Type);

/// The types that differ between calls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Types<'a> {
    /// The type of the ids: its name with its schema, quoted for SQL text, and its OID.
    pub id: (&'a str, Oid),
    /// Set if passages are found, and not how similar documents are.
    pub passages: bool,
}

impl Types<'_> {
    /// Returns the columns for `CREATE TABLE`. All types are qualified with their schemas, so that
    /// the same text works on servers.
    pub(crate) fn sql(&self, columns: &[Column]) -> String {
        let columns = columns.iter().map(|&(name, of)| {
            let of = match of {
                Type::Int4 => "pg_catalog.int4",
                Type::Int8 => "pg_catalog.int8",
                Type::Int8Array => "pg_catalog.int8[]",
                Type::Float8 => "pg_catalog.float8",
                Type::Numeric => "pg_catalog.numeric",
                Type::Bool => "pg_catalog.bool",
                Type::Bytea => "pg_catalog.bytea",
                Type::Uuid => "pg_catalog.uuid",
                Type::Int4Range => "pg_catalog.int4range",
                Type::Found if self.passages => "pg_catalog.bytea",
                Type::Found => "pg_catalog.float8",
                Type::Id => self.id.0,
            };
            format!("{name} {of}")
        });
        columns.collect::<Vec<_>>().join(", ")
    }

    /// Returns the columns as in the catalog.
    pub(crate) fn oids(&self, columns: &[Column]) -> Vec<(&'static str, Oid)> {
        let of = |of: Type| match of {
            Type::Int4 => pg_sys::INT4OID,
            Type::Int8 => pg_sys::INT8OID,
            Type::Int8Array => pg_sys::INT8ARRAYOID,
            Type::Float8 => pg_sys::FLOAT8OID,
            Type::Numeric => pg_sys::NUMERICOID,
            Type::Bool => pg_sys::BOOLOID,
            Type::Bytea => pg_sys::BYTEAOID,
            Type::Uuid => pg_sys::UUIDOID,
            Type::Int4Range => pg_sys::INT4RANGEOID,
            Type::Found if self.passages => pg_sys::BYTEAOID,
            Type::Found => pg_sys::FLOAT8OID,
            Type::Id => self.id.1,
        };
        columns.iter().map(|&(name, kind)| (name, of(kind))).collect()
    }
}
