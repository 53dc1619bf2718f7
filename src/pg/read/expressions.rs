//! SQL expressions for the columns of a relation, relative to the alias `d`.

use pgrx::pg_sys;

use crate::pg::query::column::UserColumn;
use crate::pg::query::decode::ColumnContent;
use crate::pg::query::names::qualified_type;
use crate::pg::server::error::Result;
use neardup_core::features::normalization::Normalization;

/// The SQL expression for a site, a URL, a group or a source of a row without such a column.
pub(crate) const NONE: &str = "NULL::pg_catalog.text";

/// Returns the SQL expression for the document of a row, given that of its column.
pub(super) fn document_of(
    column: &str,
    kind: ColumnContent,
    tsearch: Option<pg_sys::Oid>,
    normalize: Option<Normalization>,
) -> String {
    let text = match normalize {
        None => format!("{column}::pg_catalog.text"),
        Some(form) => format!("pg_catalog.normalize({column}::pg_catalog.text, '{}')", form.name()),
    };
    match (kind, tsearch) {
        (ColumnContent::Text, None) => text,
        (ColumnContent::Text, Some(configuration)) => {
            format!("pg_catalog.to_tsvector('{}'::pg_catalog.regconfig, {text})", configuration.to_u32())
        }
        (ColumnContent::Tokens, _) => format!("{column}::pg_catalog.text[]"),
        (ColumnContent::Numbers, _) => format!("{column}::pg_catalog.int8[]"),
        (ColumnContent::Vector, _) => format!("{column}::pg_catalog.tsvector"),
        // A domain is cast to its base type.
        (ColumnContent::Sketches(_, of), _) => format!("{column}::{}", qualified_type(of)),
    }
}

/// Returns the SQL expression for a column as a text, which is the same for all sessions.
pub(super) fn as_text(column: &UserColumn) -> Result<String> {
    let column_name = column.quoted()?;
    // The texts of these types depend on settings.
    Ok(match column.base_type {
        pg_sys::DATEOID => {
            format!("pg_catalog.encode(pg_catalog.date_send(d.{column_name}), 'hex'::pg_catalog.text)")
        }
        pg_sys::BYTEAOID => format!("pg_catalog.encode(d.{column_name}, 'hex'::pg_catalog.text)"),
        _ => format!("d.{column_name}::pg_catalog.text"),
    })
}

/// Returns the SQL expression for a column as a value of its base type.
pub(super) fn as_value(column: &UserColumn, of: pg_sys::Oid) -> Result<String> {
    Ok(format!("d.{}::{}", column.quoted()?, qualified_type(of)))
}

/// Returns the SQL expressions for a column as a text and, if equal values of it may be written in
/// different ways, as a value.
pub(super) fn text_and_value(column: Option<&UserColumn>) -> Result<(String, String)> {
    let none = || NONE.to_owned();
    let Some(column) = column else { return Ok((none(), none())) };
    let value = column.equality().map(|(of, _)| as_value(column, of)).transpose()?;
    Ok((as_text(column)?, value.unwrap_or_else(none)))
}
