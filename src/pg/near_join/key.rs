//! The equalities of a join as the key of its groups: each row has a hash of the values that must
//! be equal, and only rows with equal hashes are compared. The equalities themselves are checked on
//! each pair.

use pgrx::{PgList, pg_sys};

use super::state::{NearJoin, evaluate};
use crate::pg::server::contexts::in_context;
use crate::pg::server::error::{Result, SqlError, catch};
use neardup_core::hash::hash_bytes;

// Hash functions of types may be user-defined, and errors must be returned with all details.
unsafe extern "C-unwind" {
    fn ExecInitExpr(expression: *mut pg_sys::Expr, parent: *mut pg_sys::PlanState) -> *mut pg_sys::ExprState;
    fn FunctionCall1Coll(
        function: *mut pg_sys::FmgrInfo,
        collation: pg_sys::Oid,
        value: pg_sys::Datum,
    ) -> pg_sys::Datum;
}

/// An equality: its values on both sides, and how these are hashed.
pub(super) struct Equality {
    values: [*mut pg_sys::ExprState; 2],
    hashes: [pg_sys::FmgrInfo; 2],
    collation: pg_sys::Oid,
}

/// Adds an equality to the key of a node.
///
/// # Safety
/// A node that the server initializes, and an operator of its plan whose values can be hashed. The
/// current memory context lives as long as the node.
pub(super) unsafe fn begin(
    node: *mut NearJoin,
    equality: *mut pg_sys::OpExpr,
    left_is_of_rows: bool,
) -> Result<()> {
    // SAFETY: the caller's promise; a new key whose fields are all set.
    unsafe {
        let mut functions = [pg_sys::InvalidOid; 2];
        let [left, right] = &mut functions;
        if !pg_sys::get_op_hash_functions((*equality).opno, left, right) {
            return Err(SqlError::parameter("an equality of a join cannot be hashed"));
        }
        let key: *mut Equality = pg_sys::palloc0(size_of::<Equality>()).cast();
        let arguments = PgList::<pg_sys::Expr>::from_pg((*equality).args);
        for (n, function) in functions.into_iter().enumerate() {
            let side = if left_is_of_rows { n } else { 1 - n };
            let value = arguments.get_ptr(n).unwrap_or(std::ptr::null_mut());
            (*key).values[side] = catch(|| ExecInitExpr(value, node.cast()))?;
            pg_sys::fmgr_info(function, &raw mut (*key).hashes[side]);
        }
        (*key).collation = (*equality).inputcollid;
        (*node).keys = pg_sys::lappend((*node).keys, key.cast());
        Ok(())
    }
}

/// Returns the hash of the key of a row of one side, which the node shows, or None if a value is
/// NULL: then the row is equal to none.
///
/// # Safety
/// A node that the server has initialized, with a row.
pub(super) unsafe fn hash(node: *mut NearJoin, side: usize) -> Result<Option<u64>> {
    let mut hash = 0;
    // SAFETY: the caller's promise; a list of keys.
    unsafe {
        for key in PgList::<Equality>::from_pg((*node).keys).iter_ptr() {
            let Some(value) = evaluate((*key).values[side], node)? else { return Ok(None) };
            let context = (*(*node).scan.ss.ps.ps_ExprContext).ecxt_per_tuple_memory;
            let function = &raw mut (*key).hashes[side];
            let of_value =
                in_context(context, || catch(|| FunctionCall1Coll(function, (*key).collation, value)));
            let mut bytes = [0; 12];
            bytes[..8].copy_from_slice(&u64::to_le_bytes(hash));
            bytes[8..].copy_from_slice(&(of_value?.value() as u32).to_le_bytes());
            hash = hash_bytes(&bytes);
        }
    }
    Ok(Some(hash))
}
