//! Documents that stand for others while only their type matters.

use pgrx::pg_sys;

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
