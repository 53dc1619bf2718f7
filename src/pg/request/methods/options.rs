//! Options of methods that are numbers.

use serde_json::{Map, Value};

use crate::error::Error;
use crate::pg::request::example::{Example, literal};
use crate::pg::request::{Options, such_as, whole};
use crate::pg::server::error::{Result, SqlError};

/// Reads options.
pub struct Read<'a> {
    /// What was given.
    pub options: &'a Options,
    /// The call, for hints.
    pub example: &'a Example,
    /// A value of an option that is good.
    pub good: fn(&str) -> Value,
}

impl Read<'_> {
    /// The error of a value that is not allowed.
    pub fn wrong(&self, name: &'static str, value: String, allowed: &'static str) -> SqlError {
        let good: Map<String, Value> = [(name.to_owned(), (self.good)(name))].into_iter().collect();
        let example = self.example.with("options", literal(&Value::Object(good).to_string()));
        SqlError::from(Error::Parameter { name, value, allowed }).hint(such_as(&example))
    }

    /// A number, if one was given.
    pub fn number(&self, name: &'static str) -> Result<Option<f64>> {
        let Some(value) = self.options.value(name) else { return Ok(None) };
        value.as_f64().map(Some).ok_or_else(|| self.wrong(name, value.to_string(), "a number"))
    }

    /// A number of things.
    pub fn whole(&self, name: &'static str, default: u32) -> Result<u32> {
        let Some(value) = self.options.value(name) else { return Ok(default) };
        whole(value)
            .and_then(|number| u32::try_from(number).ok())
            .ok_or_else(|| self.wrong(name, value.to_string(), "a whole number of at least 0"))
    }
}
