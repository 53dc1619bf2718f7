//! The arguments of `repeated_runs` and `cut_repeats`.

use std::borrow::Cow;

use pgrx::pg_sys;

use super::example::{Example, literal, named, such_as};
use super::form::{Argument, Named};
use super::join::refuse_made;
use super::options::{ColumnName, at_least_one};
use super::tables::{Tables, Treatment};
use super::tokenizer::{HtmlPages, plain_tokenizer};
use crate::pg::read::source::{DocumentSource, RowColumns};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::repeats::cut::Cutting;
use neardup_core::repeats::units::Cut;
use neardup_core::repeats::{RunParameters, Unit};

/// A search for repeated runs.
#[derive(Debug)]
pub(crate) struct RunsRequest {
    /// The name of the function, for messages.
    pub name: &'static str,
    /// The documents.
    pub source: DocumentSource,
    /// The type of the ids.
    pub id_type: pg_sys::Oid,
    /// The parameters that say what is repeated.
    pub parameters: RunParameters,
    /// What is cut out.
    pub cutting: Cutting,
    /// The SQL expression for the weight of a row; the place in the row with the greatest weight
    /// is kept.
    pub weight: Option<String>,
}

impl RunsRequest {
    /// Reads the arguments of a call.
    pub(crate) fn new(given: Named<'_>) -> Result<Self> {
        let tables = Tables::open(given)?;
        let (columns, mut example) = (tables.columns()?, tables.example());
        tables.tell_types(&columns);
        refuse_made(&columns, "places in a text")?;
        let (parameters, pages) = parameters(given, &mut example)?;
        let cutting = cutting(given, parameters.unit, &mut example)?;
        let within = given.text(Argument::Within)?;
        let relation = &tables.tables[0].relation;
        let quoted = |name: &str| named(relation, name, "keep", &example)?.quoted();
        let keep = given.text(Argument::Keep)?;
        let weight = match keep.as_deref() {
            None | Some("first" | "none") => None,
            Some("longest") => {
                Some(format!("pg_catalog.length(d.{}::pg_catalog.text)", columns[0].1.quoted()?))
            }
            Some(keep) => match keep.split_once(':') {
                // The greatest weight is kept, and rows without a value come last.
                Some(("min", name)) => Some(format!("d.{} DESC", quoted(name)?)),
                Some(("max", name)) => Some(format!("d.{} ASC", quoted(name)?)),
                _ => {
                    let example = such_as(&example.with("keep", literal("longest")));
                    let rules = "Rules: first, longest, min:column, max:column, none.";
                    let message = format!("unknown keep rule \"{keep}\"");
                    return Err(SqlError::parameter(message).hint(format!("{rules} {example}")));
                }
            },
        };
        if let Some(within) = &within {
            named(relation, within, "within", &example)?;
        }
        let reading = Treatment { pages: pages.as_ref(), ..Treatment::default() };
        let (source, _) = tables.sources(columns, reading, |table, _| {
            let named = within.as_deref().map(|name| table.relation.named(name, "within"));
            Ok(RowColumns { site: named.transpose()?, ..RowColumns::default() })
        })?;
        Ok(Self { name: given.form.name, source, id_type: tables.id_type(), parameters, cutting, weight })
    }
}

/// Returns a number of tokens or documents, or `default`.
fn count(given: Named<'_>, argument: Argument, default: u32, example: &Example) -> Result<u32> {
    let number = given.get::<i32>(argument).map_or(default.into(), i64::from);
    // An int4 that is not negative fits.
    Ok(at_least_one(argument.name(), number, default, example)? as u32)
}

/// Reads the parameters that say what is repeated. Valid arguments are added to the example.
fn parameters(given: Named<'_>, example: &mut Example) -> Result<(RunParameters, Option<HtmlPages>)> {
    let usual = RunParameters::default();
    let length: i32 = given.get(Argument::MinLength).unwrap_or(RunParameters::LEAST as i32);
    // A length below 1 is refused with the other parameters.
    let least = usize::try_from(length).unwrap_or(0);
    let unit = match given.text(Argument::Unit)?.as_deref() {
        None | Some("window") => Unit::Window(least),
        Some("line") => Unit::Line,
        Some("sentence") => Unit::Sentence,
        Some("paragraph") => Unit::Paragraph,
        Some(other) => {
            let hint = such_as(&example.with("unit", literal("line")));
            return Err(SqlError::parameter(format!("unknown unit \"{other}\""))
                .hint(format!("Units: window, line, sentence, paragraph. {hint}")));
        }
    };
    if let Unit::Window(least) = unit {
        RunParameters { unit, ..usual }.check().map_err(|_| {
            let message =
                format!("min_length must be between 1 and {}, not {length}", RunParameters::LONGEST);
            SqlError::parameter(message).hint(such_as(example))
        })?;
        example.threshold = Some(least as f64);
    }
    let (name, url) = (given.text(Argument::Tokenizer)?, given.text(Argument::Url)?);
    let url = url.map(|name| ColumnName(name.into_owned()));
    let (tokenizer, pages) = plain_tokenizer(name.as_deref(), url, example)?;
    if let Some(name) = &name {
        *example = example.with("tokenizer", literal(name));
    }
    let keep_none = given.text(Argument::Keep)?.as_deref() == Some("none");
    let min_documents = count(given, Argument::MinDocuments, usual.min_documents, example)?;
    let min_share: Option<f64> = given.get(Argument::MinShare);
    // Who asks for what many documents have does not ask for what one document has twice.
    let asks_for_many = keep_none || min_share.is_some() || min_documents > usual.min_documents;
    let parameters = RunParameters {
        unit,
        tokenizer,
        min_tokens: count(given, Argument::MinTokens, usual.min_tokens as u32, example)? as usize,
        min_documents,
        min_share,
        within_documents: given.get(Argument::WithinDocuments).unwrap_or(!asks_for_many),
        keeps_first: !keep_none,
    };
    parameters
        .check()
        .map_err(|error| SqlError::from(error).hint(such_as(&example.with("min_share", 0.3))))?;
    Ok((parameters, pages))
}

/// Reads what is cut out.
fn cutting(given: Named<'_>, unit: Unit, example: &mut Example) -> Result<Cutting> {
    let snap: Option<Cow<'static, str>> = given.text(Argument::Snap)?;
    let snap = match snap.as_deref() {
        None | Some("none") => None,
        Some("word") => Some(Cut::Words),
        Some("sentence") => Some(Cut::Sentences),
        Some("line") => Some(Cut::Lines),
        Some("paragraph") => Some(Cut::Paragraphs),
        Some(other) => {
            let hint = such_as(&example.with("snap", literal("sentence")));
            return Err(SqlError::parameter(format!("unknown value of snap \"{other}\""))
                .hint(format!("Values: none, word, sentence, line, paragraph. {hint}")));
        }
    };
    if snap.is_some() && !matches!(unit, Unit::Window(_)) {
        let message = "snap is for windows: other units are cut as a whole";
        return Err(SqlError::parameter(message).hint(such_as(&example.with("snap", literal("sentence")))));
    }
    let left: i32 = given.get(Argument::MinLeft).unwrap_or(0);
    let min_left = u32::try_from(left).map_err(|_| {
        let message = format!("min_left must be a whole number of at least 0, not {left}");
        SqlError::parameter(message).hint(such_as(&example.with("min_left", 20)))
    })?;
    Ok(Cutting { snap, min_left })
}
