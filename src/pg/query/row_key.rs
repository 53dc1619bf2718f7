//! The primary key of a row, by which a message names the row.

use pgrx::pg_sys;

use super::column::Column;
use super::relation::Relation;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::{Result, catch};

/// Returns the primary key of a row: `id = 7`. Returns None if the table has none, or if the user may
/// not read all of its columns.
pub(crate) fn key_of_row(table: pg_sys::Oid, row: pg_sys::ItemPointerData) -> Result<Option<String>> {
    // SAFETY: any OID and any user may be looked up.
    let rights = unsafe { pg_sys::pg_class_aclcheck(table, pg_sys::GetUserId(), pg_sys::ACL_SELECT.into()) };
    if rights != pg_sys::AclResult::ACLCHECK_OK {
        return Ok(None);
    }
    let opened = Relation::open(table)?;
    let columns: Vec<&Column> = opened.keys().collect();
    let values = values_of_row(table, row, &columns)?;
    let pairs: Vec<String> =
        columns.iter().zip(&values).map(|(column, value)| format!("{} = {value}", column.name)).collect();
    Ok((!values.is_empty()).then(|| pairs.join(", ")))
}

/// Returns the values of columns of a row, shortened. They are none if there is no such row.
fn values_of_row(
    table: pg_sys::Oid,
    mut row: pg_sys::ItemPointerData,
    columns: &[&Column],
) -> Result<Vec<String>> {
    // SAFETY: the caller has opened the table in this transaction, so it exists; all that is opened here
    // is closed. A column that is not dropped has a type with an output function.
    unsafe {
        let relation = pg_sys::relation_open(table, pg_sys::AccessShareLock as i32);
        let slot = pg_sys::table_slot_create(relation, std::ptr::null_mut());
        let mut values = Vec::new();
        let fetch = (*(*relation).rd_tableam).tuple_fetch_row_version;
        let (address, any) = (&raw mut row, &raw mut pg_sys::SnapshotAnyData);
        let is_there = match fetch {
            Some(fetch) => catch(|| fetch(relation, address, any, slot))?,
            None => false,
        };
        for column in columns.iter().filter(|_| is_there) {
            let (mut null, mut output, mut varlena) = (false, pg_sys::InvalidOid, false);
            let value = pg_sys::slot_getattr(slot, column.number.into(), &raw mut null);
            pg_sys::getTypeOutputInfo(column.base_type, &raw mut output, &raw mut varlena);
            let text = catch(|| pg_sys::OidOutputFunctionCall(output, value))?;
            values.push(short(&c_string(text)));
        }
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        pg_sys::relation_close(relation, pg_sys::NoLock as i32);
        Ok(values)
    }
}

/// Cuts off a long text after its beginning.
fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}
