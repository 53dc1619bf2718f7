//! The primary key of a row, by which a message names the row.

use pgrx::pg_sys;

use super::column::UserColumn;
use super::relation::Relation;
use crate::pg::server::error::Result;

/// Returns the primary key of a row: `id = 7`. Returns None if the table has none, or if the user
/// may not read all of its columns.
pub(crate) fn key_of_row(table: pg_sys::Oid, row: pg_sys::ItemPointerData) -> Result<Option<String>> {
    // SAFETY: any OID and any user may be looked up.
    let rights = unsafe {
        pg_sys::pg_class_aclcheck(table, pg_sys::GetUserId(), pg_sys::ACL_SELECT as pg_sys::AclMode)
    };
    if rights != pg_sys::AclResult::ACLCHECK_OK {
        return Ok(None);
    }
    let opened = Relation::open(table)?;
    let columns: Vec<&UserColumn> = opened.keys().collect();
    let values = opened.values_of_row(row, &columns)?;
    let pairs: Vec<String> = (columns.iter().zip(&values))
        .map(|(column, value)| format!("{} = {}", column.name, short(value)))
        .collect();
    Ok((!values.is_empty()).then(|| pairs.join(", ")))
}

/// Cuts off a long text after its beginning.
fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
