//! A column of a relation.

use pgrx::pg_sys;

use super::names::{quote_identifier, type_name};
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::Result;

/// Names that say which of several text columns holds the documents.
const USUAL: [&str; 4] = ["body", "content", "text", "document"];

/// A column that a user may name.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// Its name, not quoted.
    pub name: String,
    /// Its type; of a domain, the type under it.
    pub base_type: pg_sys::Oid,
    /// The category of that type: `S` for strings.
    category: u8,
    /// Its place among the columns of the relation, dropped ones included: what a rename leaves as it is.
    pub number: i16,
    /// Whether its values are computed when they are read, and not kept in rows: a generated column of PostgreSQL 18.
    pub is_virtual: bool,
    /// Its collation, if its type has one.
    collation: pg_sys::Oid,
}

impl Column {
    /// That of a row of the catalogue.
    pub(crate) fn of(attribute: &pg_sys::FormData_pg_attribute) -> Self {
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

    /// Whether it holds texts, of whatever type.
    pub(crate) fn is_text(&self) -> bool {
        self.category == pg_sys::TYPCATEGORY_STRING
    }

    /// Whether it holds texts of the server's own types, which need no function to be read as such.
    pub(crate) fn is_plain_text(&self) -> bool {
        [pg_sys::TEXTOID, pg_sys::VARCHAROID, pg_sys::BPCHAROID].contains(&self.base_type)
    }

    /// Whether its name says that it holds the documents.
    pub(crate) fn is_usual(&self) -> bool {
        USUAL.contains(&&*self.name)
    }

    /// Whether it holds whole numbers that fit into bigint.
    pub(crate) fn is_integer(&self) -> bool {
        [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID].contains(&self.base_type)
    }

    /// The name as SQL text needs it.
    pub(crate) fn quoted(&self) -> Result<String> {
        quote_identifier(&self.name)
    }

    /// The name of its type, as users write it.
    pub(crate) fn type_name(&self) -> String {
        type_name(self.base_type)
    }

    /// What brings the column to the collation of its type, in which ids are compared, whatever its own: values that a
    /// case-insensitive one takes for equal are distinct ids. Empty where the column has it, so that indexes are of use.
    pub(crate) fn collated(&self) -> &'static str {
        // SAFETY: looks the type up.
        match unsafe { pg_sys::get_typcollation(self.base_type) } {
            own if own == self.collation => "",
            pg_sys::C_COLLATION_OID => " COLLATE pg_catalog.\"C\"",
            _ => " COLLATE pg_catalog.\"default\"",
        }
    }
}
