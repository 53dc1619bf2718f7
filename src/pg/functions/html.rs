//! `html_text(html, url)` (docs/reference/functions.md, *Texts*).

use crate::pg::server::call::sql_function;
use crate::pg::server::executor::executor_for;
use crate::pg::server::values::{LARGEST, lossy_text, too_large};
use neardup_core::executor;
use neardup_core::text::html::read_text;

sql_function! {
    /// `html_text(html, url) → text`
    neardup_html_text, pg_finfo_neardup_html_text, |call| {
        let Some(html) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let url = call.text(1)?;
        let mut text = String::new();
        executor::one(executor_for(html.len()), &mut text, |text, stop| {
            read_text(&html, url.as_deref(), text, stop)
        })?;
        if text.len() > LARGEST - size_of::<i32>() {
            // Some entities are shorter than the characters that they represent.
            return Err(too_large("the text of the page"));
        }
        // An entity may represent a character that the server's encoding does not contain.
        lossy_text(&text)
    }
}
