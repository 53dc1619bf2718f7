//! The arguments that determine how texts are cut into tokens.

use pgrx::{PgSqlErrorCode, pg_sys};

use super::example::{Example, literal, such_as};
use super::nearest::did_you_mean;
use super::options::ColumnName;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::values;
use neardup_core::features::Tokenizer;

/// The tokenizer for HTML pages.
pub(super) const HTML: &str = "html";

/// HTML pages whose text is compared like other texts.
#[derive(Debug, Clone)]
pub(crate) struct Pages {
    /// The name of the column with the URLs of the pages.
    pub url: Option<String>,
}

impl Pages {
    /// Returns `Pages` if the name of the tokenizer is `html`. Otherwise, returns `None` and
    /// refuses a column of URLs. `example` is a call with the tokenizer `html`.
    pub(super) fn of(
        tokenizer: Option<&str>,
        url: Option<ColumnName>,
        example: &Example,
    ) -> Result<Option<Self>> {
        let is_html = tokenizer == Some(HTML);
        if let (false, Some(ColumnName(url))) = (is_html, &url) {
            let message =
                format!("url is the column of the URLs of HTML pages, not \"{url}\" of plain texts");
            return Err(SqlError::parameter(message).hint(such_as(example)));
        }
        Ok(is_html.then(|| Self { url: url.map(|url| url.0) }))
    }
}

/// Returns the tokenizer with the name `name`, and the text-search configuration if the name
/// contains one.
pub(super) fn parse_tokenizer(
    name: Option<&str>,
    example: &Example,
) -> Result<(Tokenizer, Option<pg_sys::Oid>)> {
    Ok(match name {
        None | Some("words") => (Tokenizer::Words, None),
        Some("chars") => (Tokenizer::Chars, None),
        Some("whitespace") => (Tokenizer::Whitespace, None),
        Some(HTML) => (Tokenizer::Html, None),
        Some(name) => match name.strip_prefix("tsearch:") {
            Some(configuration) => {
                (Tokenizer::Words, Some(text_search_configuration(configuration, example)?))
            }
            None => {
                return Err(SqlError::parameter(format!("unknown tokenizer \"{name}\"")).hint(format!(
                    "{}Tokenizers: words, chars, whitespace, html, or a text-search configuration such as tsearch:english. {}",
                    did_you_mean(name, ["words", "chars", "whitespace", HTML]),
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
        // SAFETY: the input is a text; the list lives in the memory context of the call.
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
