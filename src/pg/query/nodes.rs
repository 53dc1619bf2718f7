//! Nodes of queries and of plans, and documents that stand for others in them while only their type
//! matters.

use pgrx::{PgList, pg_sys};

/// Returns the value of a node that is a constant and not NULL.
///
/// # Safety
/// A node.
pub(crate) unsafe fn constant(node: *const pg_sys::Node) -> Option<pg_sys::Datum> {
    // SAFETY: the caller's promise; a node of this tag is of this type.
    unsafe {
        if (*node).type_ != pg_sys::NodeTag::T_Const {
            return None;
        }
        let constant = &*node.cast::<pg_sys::Const>();
        (!constant.constisnull).then_some(constant.constvalue)
    }
}

/// Returns the function, the arguments and the collation of a call of a function or an operator.
///
/// # Safety
/// A node.
pub(crate) unsafe fn call_of(
    node: *const pg_sys::Node,
) -> Option<(pg_sys::Oid, *mut pg_sys::List, pg_sys::Oid)> {
    // SAFETY: the caller's promise; a node of a tag is of its type.
    unsafe {
        match (*node).type_ {
            pg_sys::NodeTag::T_FuncExpr => {
                let call = &*node.cast::<pg_sys::FuncExpr>();
                Some((call.funcid, call.args, call.inputcollid))
            }
            pg_sys::NodeTag::T_OpExpr => {
                let call = &*node.cast::<pg_sys::OpExpr>();
                Some((pg_sys::get_opcode(call.opno), call.args, call.inputcollid))
            }
            _ => None,
        }
    }
}

/// Returns the columns in an expression.
///
/// # Safety
/// An expression of the planner.
pub(crate) unsafe fn columns_in(node: *mut pg_sys::Node) -> PgList<pg_sys::Node> {
    let flags =
        pg_sys::PVC_RECURSE_AGGREGATES | pg_sys::PVC_RECURSE_WINDOWFUNCS | pg_sys::PVC_RECURSE_PLACEHOLDERS;
    // SAFETY: the caller's promise.
    unsafe { PgList::from_pg(pg_sys::pull_var_clause(node, flags as i32)) }
}

/// Returns a placeholder document of the type `of`, or None if `of` is not a type of documents.
///
/// # Safety
/// Reads the catalogues.
pub(crate) unsafe fn placeholder_document(of: pg_sys::Oid) -> Option<*mut pg_sys::Node> {
    let text = match of {
        pg_sys::TEXTOID | pg_sys::TSVECTOROID => c"1",
        pg_sys::TEXTARRAYOID | pg_sys::INT4ARRAYOID | pg_sys::INT8ARRAYOID => c"{1}",
        _ => return None,
    };
    let (mut input, mut parameter) = (pg_sys::InvalidOid, pg_sys::InvalidOid);
    // SAFETY: types of the server that accept these texts and have variable length.
    unsafe {
        pg_sys::getTypeInputInfo(of, &raw mut input, &raw mut parameter);
        let value = pg_sys::OidInputFunctionCall(input, text.as_ptr().cast_mut(), parameter, -1);
        Some(pg_sys::makeConst(of, -1, pg_sys::get_typcollation(of), -1, value, false, false).cast())
    }
}
