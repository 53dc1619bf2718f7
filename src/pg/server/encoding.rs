//! Converts text between the server's encoding and UTF-8, which the rest of this project uses.

use std::borrow::Cow;
use std::ffi::{CStr, CString};

use pgrx::pg_sys;
use pgrx::pg_sys::pg_enc;

use super::error::{Result, SqlError};
use neardup_core::error::Error;
use pgrx::PgSqlErrorCode;

/// Copies a text, which may be so long that there is not enough memory for the copy.
pub(crate) fn own(text: &str) -> std::result::Result<String, Error> {
    let mut own = String::new();
    own.try_reserve_exact(text.len()).map_err(|_| Error::OutOfMemory { doing: "copying a text" })?;
    own.push_str(text);
    Ok(own)
}

/// Reports whether texts of the server are UTF-8 without a conversion. A database in SQL_ASCII may
/// contain any bytes, which are read as UTF-8.
pub(crate) fn is_utf8() -> bool {
    // SAFETY: reads a constant of the database.
    let encoding = unsafe { pg_sys::GetDatabaseEncoding() };
    encoding == pg_enc::PG_UTF8 as i32 || encoding == pg_enc::PG_SQL_ASCII as i32
}

/// Converts bytes of the server to text. Returns `None` if they are not valid text, which is
/// possible in a database in SQL_ASCII.
pub(crate) fn to_utf8(bytes: &[u8]) -> Result<Option<Cow<'_, str>>> {
    let as_they_are = || Ok(std::str::from_utf8(bytes).ok().map(Cow::Borrowed));
    if is_utf8() {
        return as_they_are();
    }
    let start = bytes.as_ptr().cast();
    let Ok(length) = i32::try_from(bytes.len()) else { return Ok(None) };
    // SAFETY: there are `length` bytes; the result is a C string in the current memory context, or
    // `start` itself if nothing had to be converted.
    unsafe {
        let converted = pg_sys::pg_server_to_any(start, length, pg_enc::PG_UTF8 as i32);
        if std::ptr::eq(converted, start) {
            return as_they_are();
        }
        let text = CStr::from_ptr(converted).to_str().ok().map(own).transpose()?;
        pg_sys::pfree(converted.cast());
        Ok(text.map(Cow::Owned))
    }
}

/// Converts text to the server's encoding, as a C string. Fails for characters that the encoding
/// does not have.
pub(crate) fn to_server(text: &str) -> Result<CString> {
    let nul = |_| SqlError::new(PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE, "text holds a NUL");
    let length = i32::try_from(text.len())
        .map_err(|_| SqlError::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, "text is too long"))?;
    let start = text.as_ptr().cast();
    // SAFETY: as in `to_utf8`, in the other direction.
    unsafe {
        let converted = pg_sys::pg_any_to_server(start, length, pg_enc::PG_UTF8 as i32);
        if std::ptr::eq(converted, start) {
            return CString::new(text).map_err(nul);
        }
        let own = CStr::from_ptr(converted).to_owned();
        pg_sys::pfree(converted.cast());
        Ok(own)
    }
}

/// Converts text for a message to the server's encoding; characters that the encoding does not have
/// become `?`.
pub(crate) fn for_display(text: &str) -> CString {
    let bytes = if is_utf8() { text.as_bytes().to_vec() } else { lossy(&text.replace('…', "...")) };
    CString::new(bytes).unwrap_or_default()
}

fn lossy(mut text: &str) -> Vec<u8> {
    /// The maximum number of bytes that the conversion makes of one byte.
    const GROWTH: usize = pg_sys::MAX_CONVERSION_GROWTH as usize;
    let utf8 = pg_enc::PG_UTF8 as i32;
    // SAFETY: reads the database's encoding and the catalog of conversions.
    let (encoding, conversion) = unsafe {
        let encoding = pg_sys::GetDatabaseEncoding();
        (encoding, pg_sys::FindDefaultConversionProc(utf8, encoding))
    };
    let mut all = Vec::new();
    while !text.is_empty() {
        let mut buffer = vec![0; text.len() * GROWTH + 1];
        let (length, room) = (text.len() as i32, buffer.len() as i32);
        // SAFETY: reads `length` bytes and writes at most `room`, of which the last is zero;
        // returns how many bytes it read before it met a character without an equivalent.
        let done = unsafe {
            let (from, to) = (text.as_ptr().cast_mut(), buffer.as_mut_ptr());
            pg_sys::pg_do_encoding_conversion_buf(conversion, utf8, encoding, from, length, to, room, true)
        };
        all.extend(buffer.into_iter().take_while(|&byte| byte != 0));
        let mut rest = text.get(done as usize..).unwrap_or_default().chars();
        if rest.next().is_some() {
            all.push(b'?');
        }
        text = rest.as_str();
    }
    all
}

/// Converts a C string of the server, for messages: bytes that are not text become replacement
/// characters.
///
/// # Safety
/// `string` points to a C string.
pub(crate) unsafe fn c_string(string: *const std::ffi::c_char) -> String {
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(string) }.to_bytes();
    match to_utf8(bytes) {
        Ok(Some(text)) => text.into_owned(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}
