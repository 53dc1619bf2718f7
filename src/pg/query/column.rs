//! A column of a relation.

use pgrx::pg_sys;

use super::ids::has_order;
use super::names::{quote_identifier, type_name};
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::Result;

/// The names that select the document column among several text columns.
const USUAL: [&str; 4] = ["body", "content", "text", "document"];

/// A column that a user may name.
#[derive(Debug, Clone)]
pub(crate) struct UserColumn {
    /// The name, not quoted.
    pub name: String,
    /// The type; for a domain, the base type.
    pub base_type: pg_sys::Oid,
    /// The category of the base type: `S` for strings.
    category: u8,
    /// The attribute number in the relation, which counts dropped columns and is not changed by a
    /// rename.
    pub number: i16,
    /// Set if the values are computed when they are read, and not stored in rows: a generated
    /// column of PostgreSQL 18.
    pub is_virtual: bool,
    /// The collation, if the type has one.
    collation: pg_sys::Oid,
}

impl UserColumn {
    /// Reads the column of a catalog row.
    pub(crate) fn from_attribute(attribute: &pg_sys::FormData_pg_attribute) -> Self {
        let mut category: std::ffi::c_char = 0;
        let mut preferred = false;
        // SAFETY: the name is a C string in the row; the type exists as long as the relation does.
        unsafe {
            let base_type = pg_sys::getBaseType(attribute.atttypid);
            pg_sys::get_type_category_preferred(base_type, &raw mut category, &raw mut preferred);
            Self {
                name: c_string(attribute.attname.data.as_ptr()),
                base_type,
                category: category.cast_unsigned(),
                number: attribute.attnum,
                is_virtual: attribute.attgenerated.cast_unsigned() == b'v',
                collation: attribute.attcollation,
            }
        }
    }

    /// Reports whether the column holds texts of any string type.
    pub(crate) fn is_text(&self) -> bool {
        self.category == pg_sys::TYPCATEGORY_STRING
    }

    /// Reports whether the column holds JSON.
    pub(crate) fn is_json(&self) -> bool {
        [pg_sys::JSONOID, pg_sys::JSONBOID].contains(&self.base_type)
    }

    /// Reports whether the column holds bytes.
    pub(crate) fn is_bytes(&self) -> bool {
        self.base_type == pg_sys::BYTEAOID
    }

    /// Returns the expression that reads the bytes of the column as a text.
    pub(crate) fn text_of_bytes(&self) -> Result<String> {
        Ok(format!("convert_from({}, 'UTF8')", self.quoted()?))
    }

    /// Reports whether the column holds texts of the server's own types, which can be read as texts
    /// without a function.
    pub(crate) fn is_plain_text(&self) -> bool {
        [pg_sys::TEXTOID, pg_sys::VARCHAROID, pg_sys::BPCHAROID].contains(&self.base_type)
    }

    /// Reports whether two values of the column are equal exactly if they are written alike.
    fn is_told_by_text(&self) -> bool {
        // SAFETY: looks up a collation and a type, which exist as long as the relation does.
        unsafe {
            match self.base_type {
                pg_sys::TEXTOID | pg_sys::VARCHAROID | pg_sys::BPCHAROID | pg_sys::NAMEOID => {
                    pg_sys::get_collation_isdeterministic(self.collation)
                }
                pg_sys::BOOLOID | pg_sys::UUIDOID | pg_sys::DATEOID | pg_sys::BYTEAOID | pg_sys::OIDOID => {
                    true
                }
                of => self.is_integer() || pg_sys::get_typtype(of).cast_unsigned() == pg_sys::TYPTYPE_ENUM,
            }
        }
    }

    /// Returns the type and the collation by which values of the column are compared, if equal
    /// values may be written in different ways: 1.0 and 1.00. A type without an order has no
    /// equality either; its values are compared as they are written.
    pub(crate) fn equality(&self) -> Option<(pg_sys::Oid, pg_sys::Oid)> {
        (!self.is_told_by_text() && has_order(self.base_type)).then_some((self.base_type, self.collation))
    }

    /// Returns the type and the collation by which values of the column are put in order.
    pub(crate) fn order(&self) -> (pg_sys::Oid, pg_sys::Oid) {
        (self.base_type, self.collation)
    }

    /// Reports whether the column has a usual name for a column of documents.
    pub(crate) fn is_usual(&self) -> bool {
        USUAL.contains(&&*self.name)
    }

    /// Reports whether the column holds integers that fit into bigint.
    pub(crate) fn is_integer(&self) -> bool {
        [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID].contains(&self.base_type)
    }

    /// Returns the name, quoted for SQL text.
    pub(crate) fn quoted(&self) -> Result<String> {
        quote_identifier(&self.name)
    }

    /// Returns the name of the column's base type, as users write it.
    pub(crate) fn type_name(&self) -> String {
        type_name(self.base_type)
    }

    /// Returns the clause that converts the column to the collation of its type. Ids are compared
    /// in this collation even if the column has another one: values that a case-insensitive
    /// collation treats as equal are distinct ids. The clause is empty if the column already has
    /// this collation, so that indexes can be used.
    pub(crate) fn collated(&self) -> &'static str {
        // SAFETY: looks up the type.
        match unsafe { pg_sys::get_typcollation(self.base_type) } {
            own if own == self.collation => "",
            pg_sys::C_COLLATION_OID => " COLLATE pg_catalog.\"C\"",
            _ => " COLLATE pg_catalog.\"default\"",
        }
    }
}
