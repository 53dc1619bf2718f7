//! `shares(a, b, r)`: whether two arrays share at least `r` elements; and the planner support
//! function that lets an index with the operator `&&` find such arrays.

use pgrx::pg_sys::{self, Datum, NodeTag};

use crate::pg::query::decode::elements;
use crate::pg::query::nodes::support;
use crate::pg::server::call::{FunctionCall, sql_functions};
use crate::pg::server::error::{Result, SqlError, catch};
use crate::pg::server::executor::compute_with;
use neardup_core::executor;
use neardup_core::memory;

/// `&&(anyarray, anyarray)` of pg_catalog. The OID is fixed, like all OIDs in
/// catalog/pg_operator.dat.
const OVERLAP: pg_sys::Oid = pg_sys::Oid::from_u32(2750);

sql_functions! {
    /// `shares(bigint[], bigint[], r) → bool`
    neardup_shares_numbers, within Arguments: |call| {
        shares(call, pg_sys::INT8OID, |element| element.value() as i64)
    };

    /// `shares(uuid[], uuid[], r) → bool`
    neardup_shares_uuids, within Arguments: |call| {
        // SAFETY: an element of type uuid points to its 16 bytes.
        shares(call, pg_sys::UUIDOID, |element| unsafe { *element.cast_mut_ptr::<[u8; 16]>() })
    };

    /// `shares_support(internal) → internal`
    neardup_shares_support, within Arguments: |call| support(call, |node| {
        // SAFETY: each of the planner's requests has the structure that its tag names.
        Ok(unsafe {
            match (*node).type_ {
                NodeTag::T_SupportRequestIndexCondition => Some(overlap_condition(node.cast()).cast()),
                NodeTag::T_SupportRequestSelectivity => Some(overlap_selectivity(node.cast())?.cast()),
                _ => None,
            }
        })
    });
}

fn shares<T: Ord + Send>(call: FunctionCall, element: pg_sys::Oid, read: fn(Datum) -> T) -> Result<Datum> {
    let Some((a, b)) = call.datum(0).zip(call.datum(1)) else { return Ok(call.give::<bool>(None)) };
    let r: i32 = call.need(2, "r")?;
    if r < 1 {
        return Err(SqlError::parameter(format!("r must be at least 1, not {r}"))
            .hint("One signature in common is what a && b says, two are shares(a, b, 2)"));
    }
    let elements_of = |array: Datum| -> Result<Vec<T>> {
        let mut all = Vec::new();
        // SAFETY: our SQL declares both arguments as arrays of that type.
        for datum in unsafe { elements(array, element)? } {
            memory::push(&mut all, read(datum), "comparing two arrays")?;
        }
        Ok(all)
    };
    let mut arrays = [elements_of(a)?, elements_of(b)?];
    let bytes = arrays.iter().map(|array| size_of_val(array.as_slice())).sum();
    let shared = compute_with(bytes, &mut arrays, |arrays, stop| {
        for array in arrays.iter_mut() {
            executor::sort_unstable_by(array, stop, &T::cmp)?;
            array.dedup();
        }
        let [a, b] = arrays;
        let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
        Ok(few.iter().filter(|element| many.binary_search(element).is_ok()).count())
    })?;
    Ok(call.give(Some(shared >= r as usize)))
}

/// Returns the lossy index condition `a && b` for `shares(a, b, r)`, in a list, or a null list if
/// the index does not support the operator or must not be used.
///
/// # Safety
/// The request is a planner request for an index condition.
unsafe fn overlap_condition(request: *mut pg_sys::SupportRequestIndexCondition) -> *mut pg_sys::List {
    let none = std::ptr::null_mut();
    // SAFETY: the caller's promise; the function's call has the three arguments that our SQL
    // declares.
    unsafe {
        let request = &mut *request;
        if (*request.node).type_ != NodeTag::T_FuncExpr
            || !(0..2).contains(&request.indexarg)
            || !pg_sys::op_in_opfamily(OVERLAP, request.opfamily)
        {
            return none;
        }
        let call: *mut pg_sys::FuncExpr = request.node.cast();
        let argument = |n: i32| pg_sys::list_nth((*call).args, n).cast::<pg_sys::Node>();
        let (indexed, other, r) = (argument(request.indexarg), argument(1 - request.indexarg), argument(2));
        // An invalid r must raise an error even if no row satisfies `&&`.
        if (*r).type_ == NodeTag::T_Const {
            let r: *mut pg_sys::Const = r.cast();
            if (*r).constisnull || (*r).constvalue.value() as i32 <= 0 {
                return none;
            }
        }
        if !pg_sys::is_pseudo_constant_for_index(request.root, other, request.index) {
            return none;
        }
        request.lossy = true;
        let collation = (*call).inputcollid;
        let overlap = pg_sys::make_opclause(
            OVERLAP,
            pg_sys::BOOLOID,
            false,
            indexed.cast(),
            other.cast(),
            pg_sys::InvalidOid,
            collation,
        );
        pg_sys::lappend(none.cast(), overlap.cast())
    }
}

/// Answers with the selectivity of `a && b`. It is an upper bound, because at least as many rows
/// share one element as share `r` elements.
///
/// # Safety
/// The request is a planner request for a selectivity.
unsafe fn overlap_selectivity(
    request: *mut pg_sys::SupportRequestSelectivity,
) -> Result<*mut pg_sys::SupportRequestSelectivity> {
    // SAFETY: the caller's promise; the call has three arguments.
    unsafe {
        let Some(wanted) = request.as_mut().filter(|request| !request.is_join) else {
            return Ok(std::ptr::null_mut());
        };
        let two = pg_sys::list_truncate(pg_sys::list_copy(wanted.args), 2);
        wanted.selectivity = catch(|| {
            restriction_selectivity(wanted.root, OVERLAP, two, wanted.inputcollid, wanted.varRelid)
        })?;
        Ok(request)
    }
}

// The server's function, declared without the guard of pgrx, because it calls operators. Their
// errors are handled by `catch`.
unsafe extern "C-unwind" {
    fn restriction_selectivity(
        root: *mut pg_sys::PlannerInfo,
        operator: pg_sys::Oid,
        arguments: *mut pg_sys::List,
        collation: pg_sys::Oid,
        relation: i32,
    ) -> f64;
}
