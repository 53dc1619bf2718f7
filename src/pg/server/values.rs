//! Converts values between Rust and the server: texts and arrays.

use std::ffi::{c_char, c_int};

use pgrx::{FromDatum, PgSqlErrorCode, pg_sys};

use super::encoding;
use super::error::{Result, SqlError, catch};
use neardup_core::memory;

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
    c_text(&encoding::to_server(text)?)
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

fn c_text(text: &std::ffi::CStr) -> Result<pg_sys::Datum> {
    fits(text.to_bytes().len())?;
    // SAFETY: takes a C string and returns a text in the current memory context.
    Ok(unsafe { pg_sys::cstring_to_text(text.as_ptr()) }.into())
}

/// Fails if a text with this many bytes is too large for the server.
fn fits(bytes: usize) -> Result<()> {
    if bytes > LARGEST - size_of::<i32>() { Err(too_large("the result")) } else { Ok(()) }
}

/// Concatenated strings. Even very many strings take only two allocations, so when memory runs out
/// there is enough left to report this.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Strings {
    /// Adds a string.
    pub(crate) fn push(&mut self, string: &[u8]) -> neardup_core::error::Result<()> {
        const DOING: &str = "collecting words";
        memory::reserve(&mut self.ends, 1, DOING)?;
        memory::extend(&mut self.bytes, string, DOING)?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    /// Removes all strings.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }

    /// Converts the strings, which are UTF-8, to the server's encoding.
    pub(crate) fn to_server(&self) -> Result<Self> {
        let mut converted = Self::default();
        for string in self.iter() {
            converted.push(encoding::to_server(&String::from_utf8_lossy(string))?.to_bytes())?;
        }
        Ok(converted)
    }

    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.bytes[std::mem::replace(&mut start, end)..end])
    }
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

/// Reports whether the server can hold an array with this many numbers.
const fn is_array_of(numbers: usize) -> bool {
    numbers <= (LARGEST - ARRAY_HEADER) / size_of::<i64>()
}

/// Makes a `bigint[]`. (pgrx would build the array element by element, and would fail inside the
/// server if the array gets too large.)
pub(crate) fn number_array(numbers: &[i64]) -> Result<pg_sys::Datum> {
    if !is_array_of(numbers.len()) {
        return Err(too_large(&format!("an array of {} numbers", numbers.len())));
    }
    let count = numbers.len() as i32;
    let elements = numbers.as_ptr().cast_mut().cast();
    // SAFETY: on the server's 64-bit machines a datum is the bigint itself; the numbers are only
    // read, and copied to an array in the current memory context.
    Ok(unsafe { catch(|| construct_array(elements, count, pg_sys::INT8OID, 8, true, b'd' as c_char)) }?
        .into())
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
    if numbers.len() > (LARGEST - ARRAY_HEADER) / size_of::<u128>() {
        return Err(too_large(&format!("an array of {} values", numbers.len())));
    }
    let mut uuids: Vec<[u8; 16]> = Vec::new();
    memory::reserve(&mut uuids, numbers.len(), "making an array")?;
    uuids.extend(numbers.iter().map(|number| number.to_be_bytes()));
    let mut elements: Vec<pg_sys::Datum> = Vec::new();
    memory::reserve(&mut elements, numbers.len(), "making an array")?;
    elements.extend(uuids.iter().map(|uuid| pg_sys::Datum::from(uuid.as_ptr())));
    // SAFETY: a uuid is its bytes, which stay in place until they are copied; their number fits in
    // an int.
    unsafe { array_of(pg_sys::UUIDOID, &mut elements) }
}

/// Makes a `bytea[]`.
pub(crate) fn bytes_array(values: &[Vec<u8>]) -> Result<pg_sys::Datum> {
    const LENGTH: usize = size_of::<i32>();
    let size = |bytes: &Vec<u8>| (LENGTH + bytes.len()).next_multiple_of(LENGTH);
    if ARRAY_HEADER + values.iter().map(size).sum::<usize>() > LARGEST {
        return Err(too_large(&format!("an array of {} values", values.len())));
    }
    let mut elements: Vec<pg_sys::Datum> = Vec::new();
    memory::reserve(&mut elements, values.len(), "making an array")?;
    for bytes in values {
        elements.push(bytea(bytes, "a value of an array")?);
    }
    // SAFETY: the elements are of the type bytea; they are copied to an array in the current memory
    // context, which is at most `LARGEST` bytes, so that their number fits in an int.
    unsafe {
        let array = array_of(pg_sys::BYTEAOID, &mut elements)?;
        elements.iter().for_each(|element| pg_sys::pfree(element.cast_mut_ptr()));
        Ok(array)
    }
}

/// Makes a `text[]` of strings in the server's encoding. The layout is defined in utils/array.h.
pub(crate) fn text_array(strings: &Strings) -> Result<pg_sys::Datum> {
    const LENGTH: usize = size_of::<i32>();
    let header = ARRAY_HEADER;
    let size_of = |string: &[u8]| (LENGTH + string.len()).next_multiple_of(LENGTH);
    let size = header + strings.iter().map(size_of).sum::<usize>();
    if size > LARGEST {
        return Err(too_large(&format!("an array of {} texts", strings.ends.len())));
    }
    if strings.ends.is_empty() {
        // SAFETY: makes an array in the current memory context.
        return Ok(unsafe { pg_sys::construct_empty_array(pg_sys::TEXTOID) }.into());
    }
    // SAFETY: `size` bytes, all zero, aligned for anything: a header without NULLs, the dimension
    // and its lower bound, and for each element its length and bytes, aligned as an int. No number
    // here is more than `LARGEST`.
    unsafe {
        let array: *mut pg_sys::ArrayType = pg_sys::palloc0(size).cast();
        pgrx::set_varsize_4b(array.cast(), size as i32);
        (*array).ndim = 1;
        (*array).elemtype = pg_sys::TEXTOID;
        let dimension: *mut i32 = array.add(1).cast();
        *dimension = strings.ends.len() as i32;
        *dimension.add(1) = 1;
        let mut at: *mut u8 = array.cast::<u8>().add(header);
        for string in strings.iter() {
            pgrx::set_varsize_4b(at.cast(), (LENGTH + string.len()) as i32);
            at.add(LENGTH).copy_from_nonoverlapping(string.as_ptr(), string.len());
            at = at.add(size_of(string));
        }
        Ok(array.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The name begins with pg_ for scripts/pgrx_test.sh. Code that calls the server cannot be
    // linked here.
    #[test]
    fn pg_arrays_over_1_gb_are_refused() {
        let most = (LARGEST - ARRAY_HEADER) / 8;
        assert!(is_array_of(0) && is_array_of(most) && !is_array_of(most + 1) && !is_array_of(usize::MAX));
        assert!(ARRAY_HEADER + most * 8 <= LARGEST && ARRAY_HEADER + (most + 1) * 8 > LARGEST);
    }
}
