//! A method and its arguments without the tables, in the form in which they go to the servers that
//! make a join in parts.

use std::borrow::Cow;

use pgrx::{PgSqlErrorCode, pg_sys};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arguments::Arguments;
use super::example::Example;
use super::form::{Argument, KeptArguments, PARTIAL_DUPLICATES};
use super::methods;
use super::passages::{self, PassageArguments};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::methods::Method;
use neardup_core::methods::carried::limited::{ComparedRows, Limited};
use neardup_core::methods::carried::passages::SharedPassages;
use neardup_core::methods::carrier::Carrier;

/// A method and its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MethodCall {
    method: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    threshold: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    options: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tokenizer: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    shingle: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    multiset: Option<bool>,
    /// True if documents are tokens or numbers, and no texts.
    #[serde(default)]
    made: bool,
    /// True if there is a column of sites.
    #[serde(default)]
    sites: bool,
    /// True if only documents of one group are compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    within: bool,
    /// True if only documents of different sources are compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    across: bool,
    /// The further arguments of a search for passages, if that is what is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    passages: Option<PassageCall>,
}

/// The arguments that only a search for passages has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PassageCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    features: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min_sentences: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extend: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    edits: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min_length: Option<i32>,
}

/// What is made in parts, of these documents.
pub(crate) struct Described {
    found: DescribedMethod,
    rows: ComparedRows,
}

/// What is found.
enum DescribedMethod {
    /// Pairs, by a method.
    Pairs(Box<dyn Method>),
    /// Passages.
    Passages(SharedPassages),
}

/// An example call, for hints.
pub(crate) const EXAMPLE: &str =
    "CALL near_duplicates_into('docs', 0.8, 'docs_pairs', method => 'edit', parts => 16);";

impl Described {
    /// Returns the description of what is carried. Fails if it is not made in parts.
    pub(crate) fn carrier(&self) -> Result<Limited<'_>> {
        let carrier: &dyn Carrier = match &self.found {
            DescribedMethod::Pairs(method) => method.carrier().ok_or_else(is_whole)?,
            DescribedMethod::Passages(passages) => passages,
        };
        Ok(Limited { carrier, rows: self.rows })
    }

    /// Returns the search for passages.
    pub(crate) fn passages(&self) -> Result<&SharedPassages> {
        match &self.found {
            DescribedMethod::Pairs(_) => Err(is_whole()),
            DescribedMethod::Passages(passages) => Ok(passages),
        }
    }
}

fn is_whole() -> SqlError {
    let message = "the method is not made in parts with these arguments";
    SqlError::new(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, message).hint(EXAMPLE)
}

impl MethodCall {
    /// Takes the arguments of a call, which were found valid. `made` says that the documents are no
    /// texts.
    pub(crate) fn new(arguments: &KeptArguments, made: bool) -> Self {
        let text = |argument| arguments.text(argument).map(str::to_owned);
        Self {
            method: text(Argument::Method).unwrap_or(methods::DEFAULT.to_owned()),
            threshold: arguments.threshold,
            options: arguments.options.clone(),
            // Made documents have no tokenizer but a text-search configuration, by which the query
            // for the documents makes them.
            tokenizer: text(Argument::Tokenizer).filter(|_| !made),
            shingle: arguments.shingle,
            multiset: arguments.multiset,
            made,
            sites: text(Argument::SiteColumn).is_some(),
            within: text(Argument::Within).is_some(),
            across: text(Argument::Across).is_some(),
            passages: None,
        }
    }

    /// Takes the arguments of a call that searches for passages, which were found valid.
    pub(crate) fn of_passages(arguments: &KeptArguments) -> Self {
        let KeptArguments { min_sentences, extend, edits, min_length, .. } = *arguments;
        let features = arguments.text(Argument::Features).map(str::to_owned);
        let passages = Some(PassageCall { features, min_sentences, extend, edits, min_length });
        Self { method: "partial_duplicates".to_owned(), passages, ..Self::new(arguments, false) }
    }

    /// Reads the parameters.
    pub(crate) fn parse(self) -> Result<Described> {
        let rows = ComparedRows { within: self.within, across: self.across };
        Ok(Described { found: self.found()?, rows })
    }

    fn found(self) -> Result<DescribedMethod> {
        if let Some(PassageCall { features, min_sentences, extend, edits, min_length }) = self.passages {
            let mut example = Example::new("partial_duplicates", ["…".to_owned()]);
            let Self { threshold, options, tokenizer, shingle, .. } = self;
            let texts = [(Argument::Features, features), (Argument::Tokenizer, tokenizer)];
            let texts = texts.into_iter().filter_map(|(argument, text)| Some((argument, text?))).collect();
            let given = KeptArguments {
                threshold,
                options,
                shingle,
                min_sentences,
                extend,
                edits,
                min_length,
                texts,
                ..KeptArguments::default()
            };
            let given = PARTIAL_DUPLICATES.with(&given, pg_sys::InvalidOid);
            let PassageArguments { parameters, .. } = passages::wanted(given, &mut example)?;
            return SharedPassages::new(parameters).map(DescribedMethod::Passages).ok_or_else(is_whole);
        }
        let Some((name, parse)) = methods::find(&self.method) else {
            return Err(SqlError::parameter(format!("unknown method \"{}\"", self.method))
                .hint(format!("Methods: {}.", methods::names())));
        };
        let method = parse(&mut Arguments {
            made: self.made.then(|| "the column of documents".to_owned()),
            has_sites: self.sites,
            threshold: self.threshold,
            options: Ok(self.options),
            tokenizer: self.tokenizer.map(Cow::Owned),
            shingle: self.shingle,
            multiset: self.multiset,
            ..Arguments::of_defaults(name)
        })?;
        Ok(DescribedMethod::Pairs(method))
    }
}
