//! The arguments that say how texts are cut.

use pgrx::{PgSqlErrorCode, pg_sys};

use super::example::{Example, literal, such_as};
use crate::features::Tokenizer;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::values;

/// The units that a tokeniser makes, and the text-search configuration if it is one.
pub(super) fn parse_tokenizer(
    name: Option<&str>,
    example: &Example,
) -> Result<(Tokenizer, Option<pg_sys::Oid>)> {
    Ok(match name {
        None | Some("words") => (Tokenizer::Words, None),
        Some("chars") => (Tokenizer::Chars, None),
        Some("whitespace") => (Tokenizer::Whitespace, None),
        Some("html") => (Tokenizer::Html, None),
        Some(name) => match name.strip_prefix("tsearch:") {
            Some(configuration) => {
                (Tokenizer::Words, Some(text_search_configuration(configuration, example)?))
            }
            None => {
                return Err(SqlError::parameter(format!("unknown tokenizer \"{name}\"")).hint(format!(
                    "Tokenizers: words, chars, whitespace, html, or a text-search configuration such as tsearch:english. {}",
                    such_as(&example.with("tokenizer", literal("words")))
                )));
            }
        },
    })
}

fn text_search_configuration(name: &str, example: &Example) -> Result<pg_sys::Oid> {
    let found = if name.is_empty() {
        pg_sys::InvalidOid
    } else {
        let name = values::text(name)?;
        // SAFETY: a text in; the list lives in the memory context of the call.
        unsafe {
            let names = pg_sys::textToQualifiedNameList(name.cast_mut_ptr());
            pg_sys::get_ts_config_oid(names, true)
        }
    };
    if found == pg_sys::InvalidOid {
        let message = format!("text-search configuration \"{name}\" does not exist");
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message).hint(format!(
            "SELECT cfgname FROM pg_ts_config; lists them. {}",
            such_as(&example.with("tokenizer", literal("tsearch:simple")))
        )));
    }
    Ok(found)
}
