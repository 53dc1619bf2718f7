//! Arguments that say how a text is cut and in which form it is compared.

use crate::pg::request::no_normalization_of_pages;
use crate::pg::server::call::FunctionCall;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::normalization::Normalization;
use neardup_core::features::origin::Origin;

/// Returns the normalization form that argument `n` names, or None if the argument is NULL.
pub(in crate::pg::functions) fn normalization(
    call: FunctionCall,
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

/// Returns the origin of the tokens that the tokenizer of argument `n` makes, by default words.
/// `lexemes` is an example call with lexemes, for the hint of an error.
pub(in crate::pg::functions) fn origin(call: FunctionCall, n: usize, lexemes: &str) -> Result<Origin> {
    let Some(name) = call.name(n)? else { return Ok(Origin::Words) };
    let is_of_texts = |origin: &Origin| Origin::of_text(origin.tokenizer()) == Some(*origin);
    Origin::from_name(&name).filter(is_of_texts).ok_or_else(|| {
        SqlError::parameter(format!("unknown tokenizer \"{name}\"")).hint(format!(
            "Tokenizers: words, chars, whitespace, html. Lexemes come as a tsvector: {lexemes}"
        ))
    })
}
