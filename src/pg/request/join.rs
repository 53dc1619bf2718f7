//! The parameters of a join, for `near_duplicates` and the functions whose lists of arguments begin
//! in the same way.

use std::borrow::Cow;

use pgrx::pg_sys;

use super::arguments::Arguments;
use super::example::{Example, did_you_mean, literal, such_as};
use super::form::{Argument, KeptArguments, NEAR_DUPLICATES, Named};
use super::limits::{RowLimits, alike_groups};
use super::methods::{self, stored};
use super::options::given_count;
use super::tables::{Tables, Treatment, column, columns_of};
use super::tokenizer::HTML;
use crate::pg::query::column::UserColumn;
use crate::pg::query::decode::ColumnContent;
use crate::pg::read::documents::ServerReading;
use crate::pg::read::source::{DocumentSource, RowColumns};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::methods::Method;

/// A join to run.
#[derive(Debug)]
pub(crate) struct Request {
    /// The name of the function, for messages.
    pub name: &'static str,
    /// The documents of the only table, or of the left table.
    pub left: DocumentSource,
    /// The documents of the right table.
    pub right: Option<DocumentSource>,
    /// The type of the ids.
    pub id_type: pg_sys::Oid,
    /// The name of the method.
    pub method_name: &'static str,
    /// The method, which defines the similar pairs and finds them.
    pub method: Box<dyn Method>,
    /// The maximum number of pairs to return, if the caller gave it.
    pub max_pairs: Option<u64>,
    /// This call without `max_pairs`, for hints.
    pub example: Example,
    /// A call of the same function that compares words, for texts that are short for the method.
    pub of_words: Example,
}

impl Request {
    /// Makes the request for arguments of `near_duplicates` that do not come from a call. The ids
    /// have the type `id_type`.
    pub(crate) fn of_kept(arguments: &KeptArguments, id_type: pg_sys::Oid) -> Result<Self> {
        Self::new(NEAR_DUPLICATES.with(arguments, id_type))
    }

    /// Reads the arguments of a call. Each valid argument becomes part of the example in the hint
    /// for the next invalid one.
    pub(crate) fn new(given: Named<'_>) -> Result<Self> {
        let tables = Tables::open(given)?;
        let (columns, mut example, form) = (tables.columns()?, tables.example(), given.form);
        let sites = columns_of(given, [Argument::SiteColumn, Argument::RightSiteColumn])?;
        let limits = RowLimits::new(given)?;
        example = limits.add_to(example);
        if sites[0].is_some() && limits.has_groups() {
            return Err(
                SqlError::parameter("site_column and within cannot be combined").hint(such_as(&example))
            );
        }
        let without_sites = example.clone();
        let of_words = of_words(&example, given.text(Argument::Tokenizer)?.as_deref());
        if let Some((name, argument)) = &sites[0] {
            example = example.with(argument.name(), literal(name));
        }

        tables.tell_types(&columns);
        let sketches = stored::kind_of(&columns)?;
        if !form.has(Argument::Options) {
            refuse_sketches(&columns, form.name)?;
        }
        let asked = given.text(Argument::Method)?.unwrap_or(Cow::Borrowed(methods::DEFAULT));
        if let Some((kind, _)) = sketches.filter(|_| asked != methods::COMBINED) {
            example = example.with("method", literal(kind.method()));
        }
        let Some((name, parse)) = methods::find(&asked) else {
            let usual = example.with("method", literal("cosine"));
            return Err(unknown_method(&asked, if sketches.is_some() { &example } else { &usual }));
        };
        let mut arguments = Arguments {
            method: name,
            relations: form.relations().len(),
            are_kept: !given.is_call(),
            made: made_tokens(&columns),
            has_sites: sites[0].is_some(),
            without_method: example.clone(),
            example: match sketches {
                None if name != methods::DEFAULT => example.with("method", literal(name)),
                _ => example,
            },
            threshold: given.get(Argument::Threshold),
            is_null: given.is_null(Argument::Threshold, given.is_typed),
            options: given.json(Argument::Options).map_err(Some),
            tokenizer: tables.tokenizer()?,
            shingle: given.get(Argument::Shingle),
            multiset: given.get(Argument::Multiset),
            ..Arguments::of_defaults(name)
        };
        let method = match sketches {
            Some((kind, column)) => methods::of_sketches(&mut arguments, kind, &column.name)?,
            None => parse(&mut arguments)?,
        };
        // A method that reads no pages leaves the column of URLs, which is refused.
        arguments.pages_with_urls()?;
        if sites[0].is_some() && !arguments.sites_are_used {
            let message =
                if sketches.is_some() { "sketches make" } else { &*format!("method \"{name}\" makes") };
            return Err(SqlError::parameter(format!("{message} no use of site_column"))
                .hint(such_as(&without_sites.with("method", literal(name)))));
        }
        let are_pages = arguments.is_html();
        let Arguments { example, tsearch, pages, max_pairs, normalize, .. } = arguments;
        let max_pairs = given_count(given, Argument::MaxPairs, 1000, &example)?.or(max_pairs);
        if normalize.is_some() {
            refuse_normalization(&columns, are_pages).map_err(|error| error.hint(such_as(&example)))?;
        }
        let reading = Treatment { tsearch, normalize, pages: pages.as_ref() };
        let (left, right) = tables.sources(columns, reading, |table, number| {
            let site = column(&sites, table, number)?;
            Ok(RowColumns { site, ..limits.columns(table, number)? })
        })?;
        alike_groups(&left, right.as_ref())?;
        let (method_name, name, id_type) = (name, form.name, tables.id_type());
        Ok(Self { name, left, right, id_type, method_name, method, max_pairs, example, of_words })
    }

    /// Prepares to read documents in place of those of the only table.
    pub(crate) fn reading_of<'a>(&self, documents: &'a DocumentSource) -> ServerReading<'a> {
        ServerReading::open(self.name, documents, None, self.id_type)
    }

    /// Prepares to read the documents of the request.
    pub(crate) fn reading(&self) -> ServerReading<'_> {
        ServerReading::open(self.name, &self.left, self.right.as_ref(), self.id_type)
    }
}

/// Returns a call on the same columns that compares words by a usual threshold of short texts.
pub(super) fn of_words(example: &Example, tokenizer: Option<&str>) -> Example {
    const THRESHOLD: f64 = 0.5;
    match tokenizer {
        Some(HTML) => example.with("tokenizer", literal(HTML)).at(THRESHOLD),
        _ => example.at(THRESHOLD),
    }
}

/// Returns the name of a column that holds ready-made tokens or sketches, if there is one.
pub(super) fn made_tokens(columns: &[(&UserColumn, &UserColumn)]) -> Option<String> {
    made(columns).map(|(column, _)| column.name.clone())
}

/// Returns a column that holds ready-made tokens or sketches, if there is one.
fn made<'a>(columns: &[(&UserColumn, &'a UserColumn)]) -> Option<(&'a UserColumn, ColumnContent)> {
    let contents = columns.iter().map(|&(_, column)| (column, ColumnContent::for_type(column.base_type)));
    contents.into_iter().find(|(_, content)| *content != ColumnContent::Text)
}

/// The hint for a column of the wrong content.
const TEXTS: &str = "Name a column of texts with text_column => '…'.";

/// Refuses a column of sketches. A function without options makes no use of sketches.
pub(super) fn refuse_sketches(columns: &[(&UserColumn, &UserColumn)], function: &str) -> Result<()> {
    let Some((_, column)) = stored::kind_of(columns)? else { return Ok(()) };
    let message = format!("column \"{}\" holds sketches, and {function} reads texts or tokens", column.name);
    Err(SqlError::parameter(message).hint(TEXTS))
}

/// Refuses a column of ready-made tokens or sketches, which have none of `what`.
pub(super) fn refuse_made(columns: &[(&UserColumn, &UserColumn)], what: &str) -> Result<()> {
    let Some((column, content)) = made(columns) else { return Ok(()) };
    let made = content.sketches().map_or("tokens", |_| "sketches");
    let message = format!("column \"{}\" holds {made} already made, which have no {what}", column.name);
    Err(SqlError::parameter(message).hint(TEXTS))
}

/// Refuses a normalization of columns that hold no texts, and of HTML, whose markup it could
/// change.
pub(super) fn refuse_normalization(columns: &[(&UserColumn, &UserColumn)], are_pages: bool) -> Result<()> {
    if let Some(made) = made_tokens(columns) {
        let message = format!("column \"{made}\" holds no texts, so they cannot be normalized");
        return Err(SqlError::parameter(message));
    }
    if are_pages {
        return Err(no_normalization_of_pages());
    }
    Ok(())
}

/// Returns the error for a normalization of HTML.
pub(crate) fn no_normalization_of_pages() -> SqlError {
    SqlError::parameter(
        "only plain texts are normalized, and the texts are HTML pages; \
         a view can normalize their text: normalize(html_text(body), NFKC) AS body",
    )
}

/// Returns the error for a method that does not exist. The example has a method that does.
fn unknown_method(asked: &str, example: &Example) -> SqlError {
    SqlError::parameter(format!("unknown method \"{asked}\"")).hint(format!(
        "{}Methods: {}. {}",
        did_you_mean(asked, methods::all()),
        methods::names(),
        such_as(example)
    ))
}
