//! `html_text(html, url)` (docs/reference/functions.md, *Texts*).

use pgrx::{IntoDatum, pg_sys};

use super::building_blocks::workers_for;
use crate::pg::server::call::{LARGEST, sql_function, too_large};
use crate::pg::server::encoding;
use crate::text::html::read_text;
use crate::workers;

sql_function! {
    /// `html_text(html, url) → text`
    neardup_html_text, pg_finfo_neardup_html_text, |call| {
        let Some(html) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let url = call.text(1)?;
        let mut text = String::new();
        workers::one(workers_for(html.len()), &mut text, |text, stop| {
            read_text(&html, url.as_deref(), text, stop)
        })?;
        if text.len() > LARGEST - size_of::<i32>() {
            // Some entities are shorter than what they stand for.
            return Err(too_large("the text of the page"));
        }
        if encoding::is_utf8() {
            return Ok(call.give(Some(text.as_str())));
        }
        // An entity may stand for a character that the server's encoding has not.
        let text = encoding::for_display(&text);
        Ok(call.give(Some(AsText(&text))))
    }
}

/// A C string that becomes a text.
struct AsText<'a>(&'a std::ffi::CStr);

impl IntoDatum for AsText<'_> {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        // SAFETY: makes a text in the current memory context.
        Some(unsafe { pg_sys::cstring_to_text(self.0.as_ptr()) }.into())
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::TEXTOID
    }
}
