//! The `options` argument: parameters of a method by name.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use super::example::{Example, literal};
use super::such_as;
use crate::pg::server::error::{Result, SqlError};

/// The `options` argument.
#[derive(Debug, Default)]
pub struct Options(pub Map<String, Value>);

impl Options {
    /// The options, all of which must be known.
    pub fn new(options: Result<Option<Value>>, known: &[&str], example: &Example) -> Result<Self> {
        let example = || such_as(&with_option(example, known.first().copied().unwrap_or_default()));
        match options.map_err(|error| error.hint(example()))? {
            None | Some(Value::Null) => Ok(Self::default()),
            Some(Value::Object(options)) => match options.keys().find(|key| !known.contains(&&***key)) {
                None => Ok(Self(options)),
                Some(key) => Err(SqlError::parameter(format!("unknown option \"{key}\"")).hint(format!(
                    "Options of this method: {}. {}",
                    known.join(", "),
                    example()
                ))),
            },
            Some(other) => {
                Err(SqlError::parameter(format!("options must be a JSON object, not {other}"))
                    .hint(example()))
            }
        }
    }

    /// A whole number from 1 on.
    pub fn count(&self, key: &'static str, example: &Example) -> Result<Option<u64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match whole(value) {
            Some(number) => at_least_one(key, number),
            None => Err(not_a_count(key, value)),
        }
        .map(Some)
        .map_err(|error| error.hint(such_as(&with_option(example, key))))
    }

    /// A value that is there and not null.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// A whole number within a range.
    pub fn whole(&self, key: &str, range: RangeInclusive<i64>, example: &Example) -> Result<Option<i64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        match whole(value).filter(|whole| range.contains(whole)) {
            Some(whole) => Ok(Some(whole)),
            None => {
                let (least, most) = range.into_inner();
                let message = format!("{key} must be a whole number from {least} to {most}, not {value}");
                Err(SqlError::parameter(message).hint(such_as(&with_value(example, key, least.max(1)))))
            }
        }
    }

    /// A number above 0, at most 1, or less than 1 where `open`.
    pub fn share(&self, key: &str, open: bool, example: &Example) -> Result<Option<f64>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        let fits = |n: &f64| *n > 0.0 && (*n < 1.0 || (*n == 1.0 && !open));
        value.as_f64().filter(fits).map(Some).ok_or_else(|| {
            let range = if open { "greater than 0 and less than 1" } else { "greater than 0 and at most 1" };
            SqlError::parameter(format!("{key} must be {range}, not {value}"))
                .hint(such_as(&with_value(example, key, 0.95)))
        })
    }

    /// True or false.
    pub fn flag(&self, key: &str, example: &Example) -> Result<Option<bool>> {
        let Some(value) = self.value(key) else { return Ok(None) };
        value.as_bool().map(Some).ok_or_else(|| {
            SqlError::parameter(format!("{key} must be true or false, not {value}"))
                .hint(such_as(&with_value(example, key, true)))
        })
    }
}

/// A whole number; 1000.0 is one too, and greater ones than fit are the greatest that does.
pub fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64))
}

/// The call with one option.
fn with_value(example: &Example, key: &str, value: impl std::fmt::Display) -> Example {
    example.with("options", literal(&format!("{{\"{key}\": {value}}}")))
}

/// The call with an option that is a number.
fn with_option(example: &Example, key: &str) -> Example {
    with_value(example, key, 1000)
}

/// A number that must be at least 1.
pub fn at_least_one(name: &str, number: i64) -> Result<u64> {
    u64::try_from(number).ok().filter(|&n| n > 0).ok_or_else(|| not_a_count(name, number))
}

fn not_a_count(name: &str, value: impl std::fmt::Display) -> SqlError {
    SqlError::parameter(format!("{name} must be a whole number of at least 1, not {value}"))
}
