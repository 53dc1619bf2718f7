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
    /// Bytes that cannot be compressed further.
    Packed,
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
    /// Returns the name of a type with its schema, and its OID.
    fn type_name(&self, of: Type) -> (&str, Oid) {
        match of {
            Type::Int4 => ("pg_catalog.int4", pg_sys::INT4OID),
            Type::Int8 => ("pg_catalog.int8", pg_sys::INT8OID),
            Type::Int8Array => ("pg_catalog.int8[]", pg_sys::INT8ARRAYOID),
            Type::Numeric => ("pg_catalog.numeric", pg_sys::NUMERICOID),
            Type::Bool => ("pg_catalog.bool", pg_sys::BOOLOID),
            Type::Uuid => ("pg_catalog.uuid", pg_sys::UUIDOID),
            Type::Int4Range => ("pg_catalog.int4range", pg_sys::INT4RANGEOID),
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
