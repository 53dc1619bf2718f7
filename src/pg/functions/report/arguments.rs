//! The arguments of `duplicates_report`, and the call as SQL.

use std::borrow::Cow;

use crate::pg::query::names::type_name;
use crate::pg::query::relation::Relation;
use crate::pg::request::example::{self, Example, literal};
use crate::pg::request::form::{Argument, Named};
use crate::pg::request::such_as;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::report::link::LinkPattern;

/// The default numbers of clusters, members and pairs to show.
const CLUSTERS: i32 = 20;
const MEMBERS: i32 = 3;
const SAMPLES: i32 = 3;

/// The contents that the caller asks for.
#[derive(Debug)]
pub(super) struct ReportArguments {
    /// The number of clusters, the largest first.
    pub clusters: usize,
    /// The number of versions of each cluster in addition to the representative.
    pub members: usize,
    /// The number of pairs of each 0.05 of similarity.
    pub samples: usize,
    /// The SQL text of the title column, relative to the alias `d`.
    pub title: Option<String>,
    /// The link to a document.
    pub link: Option<LinkPattern>,
}

impl ReportArguments {
    /// Reads the arguments; `example` is a call that works.
    pub(super) fn new(given: Named<'_>, example: &Example) -> Result<Self> {
        let count = |argument: Argument, default: i32, most: i32| {
            let number = given.get::<i32>(argument).unwrap_or(default);
            usize::try_from(number).ok().filter(|_| number <= most).ok_or_else(|| {
                let name = argument.name();
                let allowed = if most == i32::MAX { "at least 0".to_owned() } else { format!("0 to {most}") };
                SqlError::parameter(format!("{name} must be {allowed}, not {number}"))
                    .hint(such_as(&example.with(name, default)))
            })
        };
        let link = given.text(Argument::Link)?.map(|pattern| {
            LinkPattern::new(&pattern).map_err(|error| {
                let works = example.with("link", literal("https://example.org/{id}"));
                SqlError::from(error).hint(such_as(&works))
            })
        });
        Ok(Self {
            clusters: count(Argument::MaxClusters, CLUSTERS, i32::MAX)?,
            members: count(Argument::MaxMembers, MEMBERS, i32::MAX)?,
            samples: count(Argument::MaxSamples, SAMPLES, 100)?,
            title: given.text(Argument::TitleColumn)?.map(|name| title(given, &name, example)).transpose()?,
            link: link.transpose()?,
        })
    }
}

/// Returns the title column as SQL text.
fn title(given: Named<'_>, name: &str, example: &Example) -> Result<String> {
    let relation = Relation::open(given.need(Argument::Docs)?)?;
    let column = example::named(&relation, name, Argument::TitleColumn.name(), example)?;
    Ok(format!("d.{}::pg_catalog.text", column.quoted()?))
}

/// Returns the call as it was made: every argument with a value other than its default.
pub(super) fn as_called(given: Named<'_>, relation: &str) -> Result<Example> {
    let mut call = Example::new(given.form.name, [relation.to_owned()]);
    call.threshold = given.get(Argument::Threshold);
    call.id_type = given.id_type().map(type_name);
    for argument in given.form.arguments(given.is_typed) {
        if let Some(value) = named(given, argument)? {
            call = call.with(argument.name(), value);
        }
    }
    Ok(call)
}

/// Returns a named argument as SQL, or `None` if it has its default value.
fn named(given: Named<'_>, argument: Argument) -> Result<Option<String>> {
    let number = |default: Option<i32>| given.get::<i32>(argument).filter(|&value| Some(value) != default);
    Ok(match argument {
        Argument::Options => given
            .json(argument)?
            .filter(|options| options.as_object().is_none_or(|options| !options.is_empty()))
            .map(|options| literal(&options.to_string())),
        Argument::Multiset => given.get::<bool>(argument).map(|value| value.to_string()),
        Argument::MaxPairs => given.get::<i64>(argument).map(|value| value.to_string()),
        Argument::Shingle | Argument::MaxClusterSize => number(None).map(|value| value.to_string()),
        Argument::MaxClusters => number(Some(CLUSTERS)).map(|value| value.to_string()),
        Argument::MaxMembers => number(Some(MEMBERS)).map(|value| value.to_string()),
        Argument::MaxSamples => number(Some(SAMPLES)).map(|value| value.to_string()),
        Argument::Docs | Argument::Threshold | Argument::IdType => None,
        other => {
            let default = match other {
                Argument::Method => "jaccard",
                Argument::Clustering => "connected",
                _ => "",
            };
            let value: Option<Cow<'_, str>> = given.text(other)?;
            value.filter(|value| default.is_empty() || value != default).map(|value| literal(&value))
        }
    })
}
