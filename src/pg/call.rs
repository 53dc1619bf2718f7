//! Arguments and results of functions that SQL calls, and the C entry points of these functions.

use std::borrow::Cow;

use pgrx::fcinfo::{pg_getarg, pg_getarg_datum};
use pgrx::{FromDatum, IntoDatum, PgSqlErrorCode, pg_sys};

use super::encoding;
use super::error::{Result, SqlError};
use crate::memory;

/// Declares the C function `$symbol` that SQL calls; it runs `$body`, a function from a [`Call`] to
/// a result with a datum.
macro_rules! sql_function {
    ($(#[$doc:meta])* $symbol:ident, $info:ident, $body:expr) => {
        #[doc = "Says that the function beside it uses the version 1 calling convention."]
        #[unsafe(no_mangle)]
        pub extern "C" fn $info() -> &'static pgrx::pg_sys::Pg_finfo_record {
            static INFO: pgrx::pg_sys::Pg_finfo_record = pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
            &INFO
        }

        $(#[$doc])*
        ///
        /// # Safety
        /// Called by the server's function manager only.
        #[unsafe(no_mangle)]
        #[pgrx::pg_guard]
        pub unsafe extern "C-unwind" fn $symbol(info: pgrx::pg_sys::FunctionCallInfo) -> pgrx::pg_sys::Datum {
            let call = $crate::pg::call::Call::new(info);
            let body: fn($crate::pg::call::Call) -> $crate::pg::error::Result<pgrx::pg_sys::Datum> = $body;
            body(call).unwrap_or_else(|error| error.raise())
        }
    };
}
pub(crate) use sql_function;

/// A call of a function by the server.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// The call as the server describes it.
    pub info: pg_sys::FunctionCallInfo,
}

impl Call {
    /// The call that `info` describes. Made in [`sql_function!`] only, from what the server passed.
    pub fn new(info: pg_sys::FunctionCallInfo) -> Self {
        Self { info }
    }

    /// Argument `n`, from 0; none if it is NULL. `T` is the type that the SQL declaration says.
    pub fn get<T: FromDatum>(self, n: usize) -> Option<T> {
        // SAFETY: `info` came from the function manager, and our SQL declares this argument.
        unsafe { pg_getarg(self.info, n) }
    }

    /// Argument `n`, which must not be NULL.
    pub fn need<T: FromDatum>(self, n: usize, name: &str) -> Result<T> {
        self.get(n).ok_or_else(|| {
            SqlError::new(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, format!("{name} must not be NULL"))
        })
    }

    /// Text argument `n`, none if it is NULL.
    pub fn text(self, n: usize) -> Result<Option<Cow<'static, str>>> {
        // SAFETY: as in `get`.
        let Some(datum) = (unsafe { pg_getarg_datum(self.info, n) }) else { return Ok(None) };
        // SAFETY: a text that lives as long as the call; detoasted copies live in its memory context.
        let bytes = unsafe { varlena_bytes(datum) };
        let text = encoding::to_utf8(bytes)?.ok_or_else(|| {
            SqlError::new(
                PgSqlErrorCode::ERRCODE_CHARACTER_NOT_IN_REPERTOIRE,
                format!("argument {} is not valid UTF-8", n + 1),
            )
        });
        text.map(Some)
    }

    /// JSON argument `n`, none if it is NULL.
    pub fn json(self, n: usize, name: &str) -> Result<Option<serde_json::Value>> {
        // SAFETY: as in `get`.
        let Some(datum) = (unsafe { pg_getarg_datum(self.info, n) }) else { return Ok(None) };
        // SAFETY: a jsonb, whose output is a C string.
        let json =
            unsafe { encoding::c_string(pg_sys::OidOutputFunctionCall(pg_sys::F_JSONB_OUT.into(), datum)) };
        serde_json::from_str(&json)
            .map(Some)
            .map_err(|error| SqlError::parameter(format!("{name} cannot be read: {error}")))
    }

    /// Two text arguments, none if one is NULL.
    pub fn two_texts(self) -> Result<Option<[Cow<'static, str>; 2]>> {
        Ok(self.text(0)?.zip(self.text(1)?).map(|(a, b)| [a, b]))
    }

    /// The type of argument `n` in this call, for polymorphic ones.
    pub fn type_of(self, n: i32) -> pg_sys::Oid {
        // SAFETY: `flinfo` is set by the function manager.
        unsafe { pg_sys::get_fn_expr_argtype((*self.info).flinfo, n) }
    }

    /// A result, NULL for none.
    pub fn give<T: IntoDatum>(self, value: Option<T>) -> pg_sys::Datum {
        match value.and_then(IntoDatum::into_datum) {
            Some(datum) => datum,
            None => {
                // SAFETY: `info` came from the function manager.
                unsafe { (*self.info).isnull = true };
                pg_sys::Datum::null()
            }
        }
    }
}

/// The bytes of a text, bytea or the like.
///
/// # Safety
/// `datum` is a varlena that stays where it is as long as the bytes are used; a detoasted copy is
/// made in the current memory context.
pub unsafe fn varlena_bytes<'a>(datum: pg_sys::Datum) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe {
        let varlena = pg_sys::pg_detoast_datum_packed(datum.cast_mut_ptr());
        std::slice::from_raw_parts(pgrx::vardata_any(varlena).cast(), pgrx::varsize_any_exhdr(varlena))
    }
}

/// An array of texts in the server's encoding.
pub fn text_array(texts: &[String]) -> Result<pg_sys::Datum> {
    let count = i32::try_from(texts.len()).map_err(|_| {
        SqlError::new(PgSqlErrorCode::ERRCODE_PROGRAM_LIMIT_EXCEEDED, "too many elements for an array")
    })?;
    let mut elements = Vec::new();
    memory::reserve(&mut elements, texts.len(), "making an array")?;
    for text in texts {
        let text = encoding::to_server(text)?;
        // No text of the server is longer than 1 GB.
        let length = text.as_bytes().len() as i32;
        // SAFETY: `length` bytes are there; the copy lives in the current memory context.
        elements
            .push(pg_sys::Datum::from(unsafe { pg_sys::cstring_to_text_with_len(text.as_ptr(), length) }));
    }
    // SAFETY: `count` datums of type text: variable length, by reference, aligned as an int.
    let array = unsafe {
        let align = pg_sys::TYPALIGN_INT as std::ffi::c_char;
        pg_sys::construct_array(elements.as_mut_ptr(), count, pg_sys::TEXTOID, -1, false, align)
    };
    Ok(pg_sys::Datum::from(array))
}
