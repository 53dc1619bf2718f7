//! Converts text between the server's encoding and UTF-8, which the rest of this project uses.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char};
use std::ops::Deref;

use pgrx::pg_sys;
use pgrx::pg_sys::pg_enc;

use super::error::{Result, SqlError};
use neardup_core::error::Result as CoreResult;
use neardup_core::memory;
use pgrx::PgSqlErrorCode;

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
        let text = CStr::from_ptr(converted).to_str().ok();
        let text = text.map(|text| memory::copied(text, "converting a text")).transpose()?;
        pg_sys::pfree(converted.cast());
        Ok(text.map(Cow::Owned))
    }
}

/// A C string in memory of the server: it may be as large as a value of a table, so its memory has
/// to be one that the server may refuse.
#[derive(Debug)]
pub(crate) struct ServerText(*mut c_char);

impl ServerText {
    /// Returns the C string as a result of a function. It lives in the memory context in which it
    /// was made.
    pub(crate) fn into_datum(self) -> pg_sys::Datum {
        let datum = pg_sys::Datum::from(self.0);
        std::mem::forget(self);
        datum
    }

    /// Returns a copy that does not depend on a memory context.
    pub(crate) fn to_own(&self) -> Result<CString> {
        let mut bytes = Vec::new();
        memory::extend(&mut bytes, self.to_bytes_with_nul(), "copying a text")?;
        Ok(CString::from_vec_with_nul(bytes).unwrap_or_default())
    }
}

impl Deref for ServerText {
    type Target = CStr;

    fn deref(&self) -> &CStr {
        // SAFETY: a C string, from `to_server`.
        unsafe { CStr::from_ptr(self.0) }
    }
}

impl Drop for ServerText {
    fn drop(&mut self) {
        // After an error of the server, it frees the memory itself.
        if !std::thread::panicking() {
            // SAFETY: made in `to_server`, and freed once.
            unsafe { pg_sys::pfree(self.0.cast()) };
        }
    }
}

/// Converts text to the server's encoding, as a C string in the current memory context, which must
/// not end before the string. Fails for characters that the encoding does not have.
pub(crate) fn to_server(text: &str) -> Result<ServerText> {
    if text.as_bytes().contains(&0) {
        let code = PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE;
        return Err(SqlError::new(code, "text holds a NUL"));
    }
    let length = i32::try_from(text.len())
        .map_err(|_| SqlError::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, "text is too long"))?;
    let start = text.as_ptr().cast();
    // SAFETY: as in `to_utf8`, in the other direction; the server copies `length` bytes, and ends
    // the copy with a NUL.
    unsafe {
        let converted = pg_sys::pg_any_to_server(start, length, pg_enc::PG_UTF8 as i32);
        Ok(ServerText(if std::ptr::eq(converted, start) {
            pg_sys::pnstrdup(start, text.len())
        } else {
            converted
        }))
    }
}

/// The number of bytes of a message that are shown. A message that quotes a value of the caller may
/// be as long as this value, and it has to be shown without as much memory.
const SHOWN: usize = 16 << 10;

/// Converts text for a message to the server's encoding; characters that the encoding does not have
/// become `?`. Only the beginning of a very long text is converted.
pub(crate) fn for_display(text: &str) -> CString {
    let shown = &text[..text.floor_char_boundary(SHOWN)];
    let mut bytes = if is_utf8() {
        shown.as_bytes().to_vec()
    } else {
        lossy(&shown.replace('…', "...")).unwrap_or_default()
    };
    if shown.len() < text.len() {
        bytes.extend(b"...");
    }
    CString::new(bytes).unwrap_or_default()
}

/// Converts text to the server's encoding: an ellipsis that the encoding does not have becomes
/// three dots, and any other such character becomes `?`.
pub(crate) fn lossy(mut text: &str) -> CoreResult<Vec<u8>> {
    const DOING: &str = "converting a text";
    /// The maximum number of bytes that the conversion makes of one byte.
    const GROWTH: usize = pg_sys::MAX_CONVERSION_GROWTH as usize;
    /// The number of bytes that are converted at a time.
    const PART: usize = 1 << 12;
    let utf8 = pg_enc::PG_UTF8 as i32;
    // SAFETY: reads the database's encoding and the catalog of conversions.
    let (encoding, conversion) = unsafe {
        let encoding = pg_sys::GetDatabaseEncoding();
        (encoding, pg_sys::FindDefaultConversionProc(utf8, encoding))
    };
    let (mut all, mut buffer) = (Vec::new(), [0; PART * GROWTH + 1]);
    while !text.is_empty() {
        let part = text.floor_char_boundary(PART);
        let (length, room) = (part as i32, buffer.len() as i32);
        // SAFETY: reads `length` bytes and writes at most `room`, of which the last is zero;
        // returns how many bytes it read before it met a character without an equivalent.
        let done = unsafe {
            let (from, to) = (text.as_ptr().cast_mut(), buffer.as_mut_ptr());
            pg_sys::pg_do_encoding_conversion_buf(conversion, utf8, encoding, from, length, to, room, true)
        };
        let converted = buffer.split(|&byte| byte == 0).next().unwrap_or_default();
        memory::extend(&mut all, converted, DOING)?;
        text = text.get(done as usize..).unwrap_or_default();
        if (done as usize) < part {
            let mut rest = text.chars();
            let replacement: &[u8] = if rest.next() == Some('…') { b"..." } else { b"?" };
            memory::extend(&mut all, replacement, DOING)?;
            text = rest.as_str();
        }
    }
    Ok(all)
}

/// Converts a C string of the server, which is short: bytes that are not text become replacement
/// characters.
///
/// # Safety
/// `string` points to a C string.
pub(crate) unsafe fn c_string(string: *const c_char) -> String {
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(string) }.to_bytes();
    match to_utf8(bytes) {
        Ok(Some(text)) => text.into_owned(),
        _ => String::from_utf8_lossy(bytes).into_owned(),
    }
}

/// Converts a C string of the server like [`c_string`], but may fail, as the string may be long.
pub(crate) fn long_text(string: &CStr) -> Result<Cow<'_, str>> {
    let bytes = string.to_bytes();
    if let Ok(Some(text)) = to_utf8(bytes) {
        return Ok(text);
    }
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        let valid = chunk.valid();
        memory::reserve_text(
            &mut text,
            valid.len() + char::REPLACEMENT_CHARACTER.len_utf8(),
            "reading a text",
        )?;
        text.push_str(valid);
        if !chunk.invalid().is_empty() {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    Ok(Cow::Owned(text))
}
