//! `html_text(html, url)` (docs/reference/functions.md, *Texts*).

use crate::pg::server::call::sql_functions;
use crate::pg::server::executor::compute_with;
use crate::pg::server::values::lossy_text;
use neardup_core::text::html::read_text;

sql_functions! {
    /// `html_text(html, url) → text`
    neardup_html_text, within Arguments: |call| {
        let Some(html) = call.text(0)? else { return Ok(call.give::<i32>(None)) };
        let url = call.text(1)?;
        let mut text = String::new();
        compute_with(html.len(), &mut text, |text, stop| read_text(&html, url.as_deref(), text, stop))?;
        // An entity may represent a character that the server's encoding does not contain, and be
        // shorter than the character.
        lossy_text(&text, "the text of the page")
    };
}
