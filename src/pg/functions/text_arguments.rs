//! Arguments that say how a text is cut and in which form it is compared.

use crate::pg::request::no_normalization_of_pages;
use crate::pg::server::call::Call;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::Tokenizer;
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;

/// Returns the normalization form that argument `n` names, or None if the argument is NULL.
pub(super) fn normalization(
    call: Call,
    n: usize,
    origin: Origin,
    example: &'static str,
) -> Result<Option<Normalization>> {
    let Some(name) = call.name(n)? else { return Ok(None) };
    let form = Normalization::from_name(&name).ok_or_else(|| {
        SqlError::parameter(format!("normalization must be \"nfkc\" or \"nfc\", not \"{name}\""))
            .hint(example)
    })?;
    if origin == Origin::Html { Err(no_normalization_of_pages().hint(example)) } else { Ok(Some(form)) }
}

/// Returns the tokenizer that argument `n` names (by default the tokenizer for words), and the
/// origin of its tokens. `lexemes` is an example call with lexemes, for the hint of an error.
pub(super) fn cut(call: Call, n: usize, lexemes: &str) -> Result<(Tokenizer, Origin)> {
    let name = call.name(n)?;
    Ok(match name.as_deref() {
        None | Some("words") => (Tokenizer::Words, Origin::Words),
        Some("chars") => (Tokenizer::Chars, Origin::Chars),
        Some("whitespace") => (Tokenizer::Whitespace, Origin::Whitespace),
        Some("html") => (Tokenizer::Html, Origin::Html),
        Some(name) => {
            return Err(SqlError::parameter(format!("unknown tokenizer \"{name}\"")).hint(format!(
                "Tokenizers: words, chars, whitespace, html. Lexemes come as a tsvector: {lexemes}"
            )));
        }
    })
}
