//! Options of methods that are numbers.

use serde_json::{Map, Value};

use crate::error::Error;
use crate::pg::error::{Result, SqlError};
use crate::pg::example::{Example, literal};
use crate::pg::request::{Options, such_as};

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
        match self.options.0.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_f64() {
                Some(number) => Ok(Some(number)),
                None => Err(self.wrong(name, value.to_string(), "a number")),
            },
        }
    }

    /// A number of things.
    pub fn whole(&self, name: &'static str, default: u32) -> Result<u32> {
        let Some(number) = self.number(name)? else { return Ok(default) };
        if number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number) {
            return Ok(number as u32);
        }
        Err(self.wrong(name, number.to_string(), "a whole number of at least 0"))
    }
}
