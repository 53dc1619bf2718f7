//! Placeholders for a ball that is not known before the query runs. Whether an index serves
//! `near($1, 0.8, 5)` depends on all arguments except the document, so the planner can use a
//! placeholder document. In place of a similarity that is not known it can use 1, which an index
//! serves if it serves any similarity.

use pgrx::{PgList, pg_sys};

use crate::pg::query::nodes::placeholder_document;
use crate::pg::query::ours::is_function_of;

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
                        put.replace_ptr(n, similarity_of(pg_sys::exprType(argument))?);
                    }
                }
                return Some(copy.cast());
            }
        }
        placeholder_document(pg_sys::exprType(expression))
    }
}

/// Returns the greatest similarity as a constant, or None if `of` is not the type of similarities.
fn similarity_of(of: pg_sys::Oid) -> Option<*mut pg_sys::Node> {
    let value = pg_sys::Datum::from(1.0f64.to_bits());
    // SAFETY: makes a node; values of this type have 8 bytes and are passed by value.
    (of == pg_sys::FLOAT8OID)
        .then(|| unsafe { pg_sys::makeConst(of, -1, pg_sys::InvalidOid, 8, value, false, true).cast() })
}
