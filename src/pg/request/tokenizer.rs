//! The arguments that determine how texts are cut into tokens.

use std::borrow::Cow;

use pgrx::{PgSqlErrorCode, pg_sys};

use super::example::{Example, did_you_mean, literal, such_as};
use super::options::ColumnName;
use crate::pg::query::as_user::{PATH, with_settings};
use crate::pg::query::names::value_as_text;
use crate::pg::server::error::{Result, SqlError};
use crate::pg::server::values;
use neardup_core::features::Tokenizer;

/// What the name of a tokenizer begins with that is a text-search configuration.
const TSEARCH: &str = "tsearch:";
/// The tokenizer for HTML pages.
pub(super) const HTML: &str = "html";

/// HTML pages whose text is compared like other texts.
#[derive(Debug, Clone)]
pub(crate) struct HtmlPages {
    /// The name of the column with the URLs of the pages.
    pub url: Option<String>,
}

impl HtmlPages {
    /// Returns `HtmlPages` if the name of the tokenizer is `html`. Otherwise, returns `None` and
    /// refuses a column of URLs. `example` is a call with the tokenizer `html`.
    pub(super) fn read(
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
        Some(name) => match name.strip_prefix(TSEARCH) {
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

/// Returns the name of a tokenizer with the schema of its text-search configuration, so that the
/// name means the same under another search path. A configuration that the search path does not
/// have is looked for in the schema `schema`. Returns all other names as they are.
pub(crate) fn with_schema(name: Cow<'_, str>, schema: pg_sys::Oid) -> Result<Cow<'_, str>> {
    let Some(configuration) = name.strip_prefix(TSEARCH) else { return Ok(name) };
    let mut found = find_configuration(configuration, None)?;
    if found == pg_sys::InvalidOid {
        found = find_configuration(configuration, Some(schema))?;
    }
    if found == pg_sys::InvalidOid {
        return Ok(name);
    }
    with_settings(&[(c"search_path", PATH)], || {
        // SAFETY: the OID of a configuration.
        let shown = unsafe { value_as_text(pg_sys::REGCONFIGOID, found.into())? };
        Ok(Cow::Owned(format!("{TSEARCH}{shown}")))
    })
}

/// Finds a text-search configuration by its name: in the search path or, if the name has no schema,
/// in the schema `schema`. Returns 0 if there is none.
fn find_configuration(name: &str, schema: Option<pg_sys::Oid>) -> Result<pg_sys::Oid> {
    if name.is_empty() {
        return Ok(pg_sys::InvalidOid);
    }
    let name = values::text(name)?;
    // SAFETY: the input is a text; the lists live in the memory context of the call. The name of a
    // schema is null or a C string.
    unsafe {
        let names = pg_sys::textToQualifiedNameList(name.cast_mut_ptr());
        let Some(schema) = schema else { return Ok(pg_sys::get_ts_config_oid(names, true)) };
        let schema = pg_sys::get_namespace_name(schema);
        if schema.is_null() || (*names).length != 1 {
            return Ok(pg_sys::InvalidOid);
        }
        Ok(pg_sys::get_ts_config_oid(pg_sys::lcons(pg_sys::makeString(schema).cast(), names), true))
    }
}

fn text_search_configuration(name: &str, example: &Example) -> Result<pg_sys::Oid> {
    let found = find_configuration(name, None)?;
    if found == pg_sys::InvalidOid {
        let message = format!("text-search configuration \"{name}\" does not exist");
        return Err(SqlError::new(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message).hint(format!(
            "SELECT oid::regconfig FROM pg_ts_config; lists them, with the schemas of those that are not in the search path. {}",
            such_as(&example.with("tokenizer", literal("tsearch:simple")))
        )));
    }
    Ok(found)
}

/// Returns the tokenizer for texts whose tokens have places.
pub(crate) fn plain_tokenizer(
    name: Option<&str>,
    url: Option<ColumnName>,
    example: &Example,
) -> Result<(Tokenizer, Option<HtmlPages>)> {
    let (tokenizer, tsearch) = parse_tokenizer(name, example)?;
    if tsearch.is_some() {
        let message = "a text-search configuration tells no places in characters: tokenizer must be words, chars, \
                       whitespace or html";
        return Err(SqlError::parameter(message).hint(such_as(&example.with("tokenizer", literal("words")))));
    }
    let pages = HtmlPages::read(name, url, &example.with("tokenizer", literal(HTML)))?;
    Ok((tokenizer, pages))
}
