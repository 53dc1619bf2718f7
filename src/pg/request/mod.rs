//! The arguments of `near_duplicates` and its relatives, checked and completed with their defaults.

mod arguments;
pub mod example;
mod features;
pub mod methods;
mod options;
mod passages;
mod tables;
mod tokenizer;

use std::borrow::Cow;

use pgrx::pg_sys;

use super::query::decode::Kind;
use super::read::source::Source;
use super::server::call::Call;
use super::server::error::{Result, SqlError};
pub use arguments::Arguments;
use example::{Example, literal};
pub use features::{SPOTSIGS, spotsigs};
use methods::Method;
use options::at_least_one;
pub use options::{Options, whole};
pub use passages::{Given, PassageRequest, parameters};
use tables::Tables;

/// Where the arguments of one SQL function stand.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// The function, for messages.
    pub name: &'static str,
    /// One relation or two.
    pub relations: usize,
    /// Whether an `id_type` stands behind the threshold.
    pub typed: bool,
}

impl Form {
    /// The type of the polymorphic argument behind the threshold, if there is one.
    fn id_type(self, call: Call) -> Option<pg_sys::Oid> {
        self.typed.then(|| call.type_of(self.relations as i32 + 1))
    }
}

/// What is to be done.
#[derive(Debug)]
pub struct Request {
    /// The function, for messages.
    pub name: &'static str,
    /// The documents of the only table, or of the left one.
    pub left: Source,
    /// Those of the right one.
    pub right: Option<Source>,
    /// The type of the ids.
    pub id_type: pg_sys::Oid,
    /// Which pairs are in, and how they are found.
    pub method: Box<dyn Method>,
    /// The most pairs to give, where the caller said so.
    pub max_pairs: Option<u64>,
    /// This call without its limit, for hints.
    pub example: Example,
}

/// The arguments that name columns: of the only or left table, and of the right one.
const ARGUMENTS: [[&str; 2]; 2] = [["id_column", "text_column"], ["right_id_column", "right_text_column"]];

impl Request {
    /// Reads the arguments of a call. Each that is found good becomes part of the example which the
    /// hint for the next bad one shows.
    pub fn new(call: Call, form: Form) -> Result<Self> {
        Self::of_ids(call, form, form.id_type(call))
    }

    /// The same where ids are of this type, whatever the argument behind the threshold is.
    pub fn of_ids(call: Call, form: Form, id_type: Option<pg_sys::Oid>) -> Result<Self> {
        let first = form.relations + 1 + usize::from(form.typed);
        let tables = Tables::open(call, form, first, id_type)?;
        let columns = tables.columns()?;
        let id_type = tables.id_type.unwrap_or(pg_sys::INT8OID);
        let mut example = tables.example().unwrap_or_else(|| tables.bare_example());

        let site_arguments: &[(usize, &str)] = match form.relations {
            1 => &[(first + 8, "site_column")],
            _ => &[(first + 10, "site_column"), (first + 11, "right_site_column")],
        };
        let mut sites: Vec<Option<(Cow<'static, str>, &'static str)>> = Vec::new();
        for &(n, argument) in site_arguments {
            // The right table's column has the left one's name unless said otherwise.
            let name = call.text(n)?.map(|name| (name, argument)).or_else(|| sites.last().cloned().flatten());
            sites.push(name);
        }
        let without_sites = example.clone();
        if let Some((name, argument)) = &sites[0] {
            example = example.with(argument, literal(name));
        }

        let asked = call.text(first + 3)?.unwrap_or(Cow::Borrowed(methods::DEFAULT));
        let Some((name, parse)) = methods::find(&asked) else {
            return Err(SqlError::parameter(format!("unknown method \"{asked}\"")).hint(format!(
                "Methods: {}. {}",
                methods::names(),
                such_as(&example.with("method", literal("cosine")))
            )));
        };
        let made = columns.iter().find(|(_, text)| Kind::of(text.base_type) != Kind::Text);
        let mut arguments = Arguments {
            method: name,
            relations: form.relations,
            made: made.map(|(_, column)| column.name.clone()),
            has_sites: sites[0].is_some(),
            sites_are_used: false,
            without_method: example.clone(),
            example: if name == methods::DEFAULT { example } else { example.with("method", literal(name)) },
            threshold: call.get::<f64>(form.relations),
            options: call.json(first, "options").map_err(Some),
            tokenizer: call.text(first + 4)?,
            shingle: call.get::<i32>(first + 5),
            multiset: call.get::<bool>(first + 6),
            tsearch: None,
            max_pairs: None,
        };
        let method = parse(&mut arguments)?;
        if sites[0].is_some() && !arguments.sites_are_used {
            return Err(SqlError::parameter(format!("method \"{name}\" makes no use of site_column"))
                .hint(such_as(&without_sites.with("method", literal(name)))));
        }
        let Arguments { example, tsearch, max_pairs, .. } = arguments;
        let max_pairs = match call.get::<i64>(first + 7) {
            None => max_pairs,
            Some(most) => Some(
                at_least_one("max_pairs", most)
                    .map_err(|error| error.hint(such_as(&example.with("max_pairs", 1000))))?,
            ),
        };

        let mut sources = Vec::new();
        for (((table, (id, text)), [argument, _]), site) in
            tables.tables.iter().zip(columns).zip(ARGUMENTS).zip(&sites)
        {
            let site =
                (site.as_ref()).map(|(name, argument)| table.relation.named(name, argument)).transpose()?;
            sources.push(Source::new(&table.relation, (id, argument), id_type, text, tsearch, site)?);
        }
        let right = (sources.len() == 2).then(|| sources.remove(1));
        let left = sources.remove(0);
        Ok(Self { name: form.name, left, right, id_type, method, max_pairs, example })
    }
}

/// The hint that shows a call which works.
pub fn such_as(example: &Example) -> String {
    format!("For example: SELECT * FROM {example};")
}
