//! Placeholders for documents that are not known. Whether an index serves `near($1, 0.8, 5)`
//! depends on all arguments except the document, so the planner can use a placeholder document. In
//! place of a similarity that is not known it can use 1, which an index serves if it serves any
//! similarity. The constants of an index expression such as `near(name, 0.8, method => 'edit')`
//! also decide whether the index can contain its values, so CREATE says what the first INSERT would
//! say.

use std::ffi::CStr;

use pgrx::{PgList, pg_sys};

use crate::pg::compat::replaced_search_path;
use crate::pg::index::families::class::OperatorClass;
use crate::pg::index::families::groups::IndexedRow;
use crate::pg::index::families::hints::class_for;
use crate::pg::index::families::keys::ClassKeys;
use crate::pg::index::layout::group::NO_GROUP;
use crate::pg::index::pages::buffer::OpenIndex;
use crate::pg::query::as_user::with_settings;
use crate::pg::query::names::name_of;
use crate::pg::query::nodes::{float_constant, placeholder_document};
use crate::pg::query::ours::is_function_of;
use crate::pg::server::call::varlena_bytes;
use crate::pg::server::encoding::c_string;
use crate::pg::server::error::Result;

/// Returns the value of an expression for a short placeholder document. The expression must consist
/// of calls of functions of the access method's extension. The first argument of each call is the
/// document or is made from it; all other arguments are constants or similarities. Returns None for
/// any other expression. The functions raise errors about their constants at once, as they do when
/// the server's planner evaluates calls that have only constants.
///
/// # Safety
/// `expression` is an expression of the planner.
pub(super) unsafe fn stand_in<'a>(
    expression: *mut pg_sys::Node,
    relam: pg_sys::Oid,
) -> Option<&'a pg_sys::Const> {
    // SAFETY: the caller's promise; a node of this tag is of this type.
    unsafe {
        if (*expression).type_ != pg_sys::NodeTag::T_FuncExpr {
            return None;
        }
        let extension = pg_sys::getExtensionOfObject(pg_sys::AccessMethodRelationId, relam);
        if extension == pg_sys::InvalidOid {
            return None;
        }
        let call = with_stand_in(expression, extension)?;
        let value = pg_sys::eval_const_expressions(std::ptr::null_mut(), call);
        let value: &pg_sys::Const = ((*value).type_ == pg_sys::NodeTag::T_Const).then(|| &*value.cast())?;
        (!value.constisnull).then_some(value)
    }
}

/// # Safety
/// `expression` is an expression of the planner.
unsafe fn with_stand_in(expression: *mut pg_sys::Node, extension: pg_sys::Oid) -> Option<*mut pg_sys::Node> {
    // SAFETY: the caller's promise; a node of this tag is of this type, and we may change the copy
    // that we made.
    unsafe {
        let is = |node: *mut pg_sys::Node, tag| (*node).type_ == tag;
        if is(expression, pg_sys::NodeTag::T_FuncExpr) {
            let call: *mut pg_sys::FuncExpr = expression.cast();
            let arguments = PgList::<pg_sys::Node>::from_pg((*call).args);
            let function = (*call).funcid;
            if is_function_of(extension, function) {
                let copy: *mut pg_sys::FuncExpr = pg_sys::copyObjectImpl(call.cast()).cast();
                let mut put = PgList::<pg_sys::Node>::from_pg((*copy).args);
                let first = arguments.get_ptr(0)?;
                put.replace_ptr(0, with_stand_in(first, extension)?);
                for (n, argument) in arguments.iter_ptr().enumerate().skip(1) {
                    if !is(argument, pg_sys::NodeTag::T_Const) {
                        // The first argument must be a document. If it is a sketch, this argument
                        // may be a distance.
                        placeholder_document(pg_sys::exprType(first))?;
                        // In place of a similarity, the greatest.
                        if pg_sys::exprType(argument) != pg_sys::FLOAT8OID {
                            return None;
                        }
                        put.replace_ptr(n, float_constant(1.0));
                    }
                }
                return Some(copy.cast());
            }
        }
        placeholder_document(pg_sys::exprType(expression))
    }
}

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
        let row = IndexedRow { group: NO_GROUP, value: Some(value.constvalue) };
        let Err(error) = keys.keep(0, row) else { return Ok(()) };
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
        Err(error.hint(if (*form).indisexclusion && index.group_columns() > 0 {
            format!("With a class that can contain them: EXCLUDE USING signature (… WITH =, … {class} WITH &&)")
        } else if (*form).indisexclusion {
            format!("With a class that can contain them: EXCLUDE USING signature ({column} {class} WITH &&)")
        } else {
            let table = name_of((*form).indrelid)?;
            format!("With a class that can contain them: CREATE INDEX ON {table} USING signature ({column} {class});")
        }))
    }
}

/// Returns the expression of the last column of an index, or that of the generated column that is
/// indexed there. Returns None for a column that is not computed. The server builds an index as the
/// owner of its table, so that constants are computed with no other rights than when rows are
/// added.
///
/// # Safety
/// As for [`refuse_useless`].
unsafe fn expression_of(
    heap: pg_sys::Relation,
    info: *const pg_sys::IndexInfo,
    index: OpenIndex,
) -> Option<*mut pg_sys::Node> {
    // SAFETY: the caller's promise.
    unsafe {
        let column = index.table_column();
        let expressions = PgList::<pg_sys::Node>::from_pg((*info).ii_Expressions);
        let expression = match column {
            0 => expressions.get_ptr(expressions.len().checked_sub(1)?)?,
            1.. if pg_sys::get_attgenerated((*heap).rd_id, column) != 0 => {
                pg_sys::build_column_default(heap, column.into())
            }
            _ => return None,
        };
        // Puts arguments that are named or left out in their places.
        (!expression.is_null()).then(|| pg_sys::expression_planner(expression.cast()).cast())
    }
}
