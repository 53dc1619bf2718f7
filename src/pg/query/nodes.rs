//! Nodes of queries and of plans, and documents that stand for others in them while only their type
//! matters.

use pgrx::{PgList, pg_sys};

use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::Result;

/// Answers a request of the planner, which is a node, by the node that `answer` returns, if it has
/// an answer.
pub(crate) fn support(
    call: FunctionCall,
    answer: impl FnOnce(*mut pg_sys::Node) -> Result<Option<*mut pg_sys::Node>>,
) -> Result<pg_sys::Datum> {
    let Some(request) = call.datum(0) else { return Ok(call.give::<i32>(None)) };
    Ok(answer(request.cast_mut_ptr())?.unwrap_or(std::ptr::null_mut()).into())
}

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

/// Returns a number as a constant.
pub(crate) fn float_constant(number: f64) -> *mut pg_sys::Node {
    let value = pg_sys::Datum::from(number.to_bits());
    // SAFETY: makes a node; values of this type have 8 bytes and are passed by value.
    unsafe { pg_sys::makeConst(pg_sys::FLOAT8OID, -1, pg_sys::InvalidOid, 8, value, false, true).cast() }
}

/// Returns a copy of a call with `argument` in place of the argument that has this number.
///
/// # Safety
/// A call that has such an argument.
pub(crate) unsafe fn with_argument(
    call: *mut pg_sys::FuncExpr,
    number: usize,
    argument: *mut pg_sys::Node,
) -> *mut pg_sys::Node {
    // SAFETY: the caller's promise; we may change the copy that we made.
    unsafe {
        let copy: *mut pg_sys::FuncExpr = pg_sys::copyObjectImpl(call.cast()).cast();
        PgList::<pg_sys::Node>::from_pg((*copy).args).replace_ptr(number, argument);
        copy.cast()
    }
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
