//! Texts in a normalization form of Unicode, by the server's function `normalize`.

use std::borrow::Cow;

use pgrx::pg_sys::pg_enc;
use pgrx::pg_sys::{self, Datum};

use super::call::varlena_bytes;
use super::error::{Result, SqlError, catch};
use super::values::bytea;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::tokens::Document;
use neardup_core::memory;

// Declared without the guards of pgrx, so that errors are returned with all details.
unsafe extern "C-unwind" {
    fn unicode_normalize_func(call: pg_sys::FunctionCallInfo) -> Datum;
    fn DirectFunctionCall2Coll(
        function: pg_sys::PGFunction,
        collation: pg_sys::Oid,
        first: Datum,
        second: Datum,
    ) -> Datum;
}

/// Returns a text in a form. ASCII is in every form. Fails as the server does if the encoding of
/// the database is not UTF8.
pub(crate) fn normalized(form: Option<Normalization>, text: Cow<'_, str>) -> Result<Cow<'_, str>> {
    let Some(form) = form else { return Ok(text) };
    // SAFETY: reads a constant of the database.
    let is_utf8 = unsafe { pg_sys::GetDatabaseEncoding() } == pg_enc::PG_UTF8 as i32;
    if is_utf8 && text.is_ascii() {
        return Ok(text);
    }
    let (text, name) = (bytea(text.as_bytes(), "a text")?, bytea(form.name().as_bytes(), "a text")?);
    // SAFETY: a function of two texts, which makes a third one in the current memory context, as
    // the two are.
    unsafe {
        let made =
            catch(|| DirectFunctionCall2Coll(Some(unicode_normalize_func), pg_sys::InvalidOid, text, name))?;
        let bytes = varlena_bytes(made);
        let own = std::str::from_utf8(bytes).map(|made| memory::copied(made, "normalizing a text"));
        [text, name, made].into_iter().for_each(|datum| pg_sys::pfree(datum.cast_mut_ptr()));
        Ok(Cow::Owned(own.map_err(|_| SqlError::not_utf8("a normalized text"))??))
    }
}

/// Returns a document in a form. Only texts have one.
pub(crate) fn normalized_document(form: Option<Normalization>, document: Document) -> Result<Document> {
    match document {
        Document::Text(text) => Ok(Document::Text(normalized(form, Cow::Owned(text))?.into_owned())),
        document => Ok(document),
    }
}
