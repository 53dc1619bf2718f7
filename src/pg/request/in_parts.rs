//! A method and its arguments without the tables, in the form in which they go to the servers that
//! make a join in parts.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arguments::Arguments;
use super::form::{Argument, KeptArguments};
use super::methods;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::methods::Method;

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
}

impl MethodCall {
    /// Takes the arguments of a call, which were found valid. `made` says that the documents are no
    /// texts.
    pub(crate) fn of(arguments: &KeptArguments, made: bool) -> Self {
        let text = |argument| arguments.text(argument).map(str::to_owned);
        Self {
            method: text(Argument::Method).unwrap_or(methods::DEFAULT.to_owned()),
            threshold: arguments.threshold,
            options: arguments.options.clone(),
            tokenizer: text(Argument::Tokenizer),
            shingle: arguments.shingle,
            multiset: arguments.multiset,
            made,
            sites: text(Argument::SiteColumn).is_some(),
        }
    }

    /// Reads the parameters of the method.
    pub(crate) fn parse(self) -> Result<Box<dyn Method>> {
        let Some((name, parse)) = methods::find(&self.method) else {
            return Err(SqlError::parameter(format!("unknown method \"{}\"", self.method))
                .hint(format!("Methods: {}.", methods::names())));
        };
        parse(&mut Arguments {
            made: self.made.then(|| "the column of documents".to_owned()),
            has_sites: self.sites,
            threshold: self.threshold,
            options: Ok(self.options),
            tokenizer: self.tokenizer.map(Cow::Owned),
            shingle: self.shingle,
            multiset: self.multiset,
            ..Arguments::of_defaults(name)
        })
    }
}
