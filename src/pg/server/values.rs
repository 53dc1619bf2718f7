//! Converts values between Rust and the server: texts and arrays.

use std::ffi::{c_char, c_int};

use pgrx::{FromDatum, PgSqlErrorCode, pg_sys};

use super::encoding;
use super::error::{Result, SqlError, catch};
use neardup_core::storage::rows::Ragged;

// Declared without the guards of pgrx: see `varlena_bytes`.
unsafe extern "C-unwind" {
    fn cstring_to_text_with_len(bytes: *const c_char, length: c_int) -> *mut pg_sys::text;
    fn construct_array(
        elements: *mut pg_sys::Datum,
        count: c_int,
        of: pg_sys::Oid,
        length: c_int,
        by_value: bool,
        align: c_char,
    ) -> *mut pg_sys::ArrayType;
}

/// Reads a value as the Rust type of its SQL type.
///
/// # Safety
/// `T` is the Rust type of the datum's SQL type.
pub(crate) unsafe fn value<T: FromDatum>(datum: pg_sys::Datum) -> Option<T> {
    // SAFETY: the caller's promise.
    unsafe { T::from_datum(datum, false) }
}

/// Makes a text in the server's encoding.
pub(crate) fn text(text: &str) -> Result<pg_sys::Datum> {
    if encoding::is_utf8() {
        return bytea(text.as_bytes(), "the result");
    }
    bytea(encoding::to_server(text)?.to_bytes(), "the result")
}

/// Makes a text in the server's encoding; characters that the encoding does not have become `?`.
/// `what` is the text in the error for a text that would be too large.
pub(crate) fn lossy_text(text: &str, what: &str) -> Result<pg_sys::Datum> {
    if encoding::is_utf8() { bytea(text.as_bytes(), what) } else { bytea(&encoding::lossy(text)?, what) }
}

/// Makes a bytea, or a text of bytes in the server's encoding. `what` is the value in the error for
/// a value that would be too large.
pub(crate) fn bytea(bytes: &[u8], what: &str) -> Result<pg_sys::Datum> {
    if bytes.len() > LARGEST - size_of::<i32>() {
        return Err(too_large(what));
    }
    let (start, length) = (bytes.as_ptr().cast(), bytes.len() as i32);
    // SAFETY: there are `length` bytes, which are copied; a text and a bytea are the same but for
    // what the bytes mean.
    Ok(unsafe { catch(|| cstring_to_text_with_len(start, length)) }?.into())
}

/// The size in bytes of the largest value that the server accepts: MaxAllocSize of memutils.h.
pub(crate) const LARGEST: usize = 0x3fff_ffff;

/// Returns the error for a result that would be larger than any value of the server.
pub(crate) fn too_large(what: &str) -> SqlError {
    let message = format!("{what} would be larger than 1 GB");
    SqlError::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, message)
        .hint("Work on a part of the text at a time: substring(text from 1 for 10000000)")
}

/// The number of bytes before the elements of an array of one dimension without NULLs.
const ARRAY_HEADER: usize = (size_of::<pg_sys::ArrayType>() + 2 * size_of::<i32>())
    .next_multiple_of(pg_sys::MAXIMUM_ALIGNOF as usize);

/// Reports whether the server can hold an array whose elements have this many bytes.
const fn fits_in_array(bytes: usize) -> bool {
    bytes <= LARGEST - ARRAY_HEADER
}

/// Makes an array of one dimension without NULLs, in the layout of utils/array.h: `write` writes
/// its elements. `what` are these in the error for an array that would be too large.
///
/// # Safety
/// `write` writes at most so many bytes, which are zero before, as elements of this type.
unsafe fn written_array(
    of: pg_sys::Oid,
    what: &str,
    count: usize,
    bytes: usize,
    write: impl FnOnce(*mut u8),
) -> Result<pg_sys::Datum> {
    if !fits_in_array(bytes) {
        return Err(too_large(&format!("an array of {count} {what}")));
    }
    // SAFETY: zeros, aligned for anything, with the header, the dimension and its lower bound; the
    // caller's promise for the rest. No number here is more than `LARGEST`.
    unsafe {
        if count == 0 {
            return Ok(pg_sys::construct_empty_array(of).into());
        }
        let array: *mut pg_sys::ArrayType = pg_sys::palloc0(ARRAY_HEADER + bytes).cast();
        pgrx::set_varsize_4b(array.cast(), (ARRAY_HEADER + bytes) as i32);
        (*array).ndim = 1;
        (*array).elemtype = of;
        let dimension: *mut i32 = array.add(1).cast();
        *dimension = count as i32;
        *dimension.add(1) = 1;
        write(array.cast::<u8>().add(ARRAY_HEADER));
        Ok(array.into())
    }
}

/// Makes a `bigint[]`. (pgrx would build the array element by element, and would fail inside the
/// server if the array gets too large.)
pub(crate) fn number_array(numbers: &[i64]) -> Result<pg_sys::Datum> {
    let write = |at: *mut u8| {
        // SAFETY: as many bytes as the numbers have, and a bigint is its bytes.
        unsafe { at.copy_from_nonoverlapping(numbers.as_ptr().cast(), size_of_val(numbers)) };
    };
    // SAFETY: what is written are bigints.
    unsafe { written_array(pg_sys::INT8OID, "numbers", numbers.len(), size_of_val(numbers), write) }
}

/// Makes an array of values of a type, which are copied.
///
/// # Safety
/// The values are of this type; their number fits in an int.
pub(crate) unsafe fn array_of(of: pg_sys::Oid, values: &mut [pg_sys::Datum]) -> Result<pg_sys::Datum> {
    let (mut length, mut by_value, mut align) = (0, false, 0);
    // SAFETY: the caller's promise; any type may be looked up.
    unsafe {
        pg_sys::get_typlenbyvalalign(of, &raw mut length, &raw mut by_value, &raw mut align);
        let (values, count) = (values.as_mut_ptr(), values.len() as c_int);
        Ok(catch(|| construct_array(values, count, of, length.into(), by_value, align))?.into())
    }
}

/// Makes a `uuid[]` of numbers.
pub(crate) fn uuid_array(numbers: &[u128]) -> Result<pg_sys::Datum> {
    let write = |at: *mut u8| {
        let places = (0..).step_by(size_of::<u128>());
        for (number, place) in numbers.iter().zip(places) {
            // SAFETY: within the bytes of the numbers, and a uuid is its bytes.
            unsafe { at.add(place).cast::<[u8; 16]>().write(number.to_be_bytes()) };
        }
    };
    // SAFETY: what is written are uuids.
    unsafe { written_array(pg_sys::UUIDOID, "values", numbers.len(), size_of_val(numbers), write) }
}

/// Makes a `bytea[]`.
pub(crate) fn bytes_array(values: &[Vec<u8>]) -> Result<pg_sys::Datum> {
    varlena_array(pg_sys::BYTEAOID, "values", values.iter().map(Vec::as_slice))
}

/// Makes a `text[]` of strings in the server's encoding. (Even very many such strings take only two
/// allocations, so when memory runs out there is enough left to report this.)
pub(crate) fn text_array(strings: &Ragged<u8>) -> Result<pg_sys::Datum> {
    varlena_array(pg_sys::TEXTOID, "texts", strings.iter())
}

/// Makes an array of a type that has the layout of a bytea.
fn varlena_array<'a>(
    of: pg_sys::Oid,
    what: &str,
    values: impl Iterator<Item = &'a [u8]> + Clone,
) -> Result<pg_sys::Datum> {
    const LENGTH: usize = size_of::<i32>();
    let size_of = |value: &[u8]| (LENGTH + value.len()).next_multiple_of(LENGTH);
    let (count, bytes) = (values.clone().count(), values.clone().map(size_of).sum());
    let write = |mut at: *mut u8| {
        for value in values {
            // SAFETY: within the bytes of the values: for each its length and bytes, aligned as an
            // int.
            unsafe {
                pgrx::set_varsize_4b(at.cast(), (LENGTH + value.len()) as i32);
                at.add(LENGTH).copy_from_nonoverlapping(value.as_ptr(), value.len());
                at = at.add(size_of(value));
            }
        }
    };
    // SAFETY: what is written are values of this layout.
    unsafe { written_array(of, what, count, bytes, write) }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The name begins with pg_ for scripts/pgrx_test.sh. Code that calls the server cannot be
    // linked here.
    #[test]
    fn pg_arrays_over_1_gb_are_refused() {
        let most = (LARGEST - ARRAY_HEADER) / 8 * 8;
        assert!(fits_in_array(0) && fits_in_array(most) && !fits_in_array(most + 8));
        assert!(!fits_in_array(usize::MAX) && ARRAY_HEADER + most <= LARGEST);
    }
}
