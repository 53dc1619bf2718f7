//! Refuses an index that could contain no row. The constants of an index expression such as
//! `near(name, 0.8, method => 'edit')` decide whether the index can contain its values, so CREATE
//! says what the first INSERT would say.

use std::ffi::CStr;

use pgrx::{PgList, pg_sys};

use super::placeholder_ball::stand_in;
use crate::pg::compat::replaced_search_path;
use crate::pg::index::families::class::OperatorClass;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::families::sets::keep::class_for;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::query::as_user::with_settings;
use crate::pg::query::names::name_of;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::Result;

/// Fails if an index can contain no value of its column except NULL, whatever the documents are.
///
/// # Safety
/// `heap` is the open table of the index, and `info` describes the index.
pub(super) unsafe fn refuse_useless(
    heap: pg_sys::Relation,
    info: *const pg_sys::IndexInfo,
    keys: &ClassKeys,
    index: OpenIndex,
) -> Result<()> {
    // SAFETY: the caller's promise. The value has the type of the column of the index: it is what
    // the expression of the column returns for another document.
    unsafe {
        let Some(expression) = expression_of(heap, info, index) else { return Ok(()) };
        let access_method = (*(*index.relation()).rd_rel).relam;
        let Some(value) = stand_in(expression, access_method) else { return Ok(()) };
        let Err(error) = keys.keep(value.constvalue) else { return Ok(()) };
        if !matches!(keys.class, OperatorClass::BallSet | OperatorClass::BallGrams) {
            return Err(error);
        }
        let Some(class) = class_for(varlena_bytes(value.constvalue)) else { return Err(error) };
        let form = (*index.relation()).rd_index;
        // As the session would write the expression.
        let path = replaced_search_path().map(CStr::to_owned);
        let settings: Vec<_> = path.iter().map(|path| (c"search_path", path.as_c_str())).collect();
        let column = with_settings(&settings, || {
            Ok(c_string(pg_sys::pg_get_indexdef_columns((*form).indexrelid, true)))
        })?;
        Err(error.hint(if (*form).indisexclusion {
            format!("With a class that can contain them: EXCLUDE USING signature ({column} {class} WITH &&)")
        } else {
            let table = name_of((*form).indrelid)?;
            format!("With a class that can contain them: CREATE INDEX ON {table} USING signature ({column} {class});")
        }))
    }
}

/// Returns the expression of the only column of an index, or that of the generated column that is
/// indexed. Returns None for a column that is not computed. The server builds an index as the owner
/// of its table, so that constants are computed with no other rights than when rows are added.
///
/// # Safety
/// As for [`refuse_useless`].
unsafe fn expression_of(
    heap: pg_sys::Relation,
    info: *const pg_sys::IndexInfo,
    index: OpenIndex,
) -> Option<*mut pg_sys::Node> {
    // SAFETY: the caller's promise; an index of ours has one column.
    unsafe {
        let column = (*(*index.relation()).rd_index).indkey.values.as_slice(1)[0];
        let expression = match column {
            0 => PgList::<pg_sys::Node>::from_pg((*info).ii_Expressions).get_ptr(0)?,
            1.. if pg_sys::get_attgenerated((*heap).rd_id, column) != 0 => {
                pg_sys::build_column_default(heap, column.into())
            }
            _ => return None,
        };
        // Puts arguments that are named or left out in their places.
        (!expression.is_null()).then(|| pg_sys::expression_planner(expression.cast()).cast())
    }
}
