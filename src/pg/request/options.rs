//! The `options` argument: a method's parameters by name, which serde reads into a struct. The
//! names are the names of the struct's fields, and the type of each field defines the allowed
//! values.

use std::fmt;

use serde::de::value::Error as Nothing;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::{Map, Value};

use super::example::{Example, did_you_mean, literal, such_as};
use super::form::{Argument, Named};
use crate::pg::server::error::{Result, SqlError};
use neardup_core::features::normalization::Normalization;

/// Options by name, as given.
pub(super) type ByName = Map<String, Value>;

/// Options as a struct in which every field is optional.
pub(crate) trait Options: DeserializeOwned {
    /// Returns options with a valid value for `key`, for the hint, or `None` if the hint shows the
    /// call without options.
    fn good(key: &str) -> Option<String> {
        let value = match key {
            // It is not known here whether the relation has such a column.
            "url" => return None,
            "max_pairs" | "min_overlap" | "max_similar" => "1000",
            "max_depth" => "2",
            "recall" | "high_recall" | "threshold" => "0.95",
            "normalize" => "\"nfkc\"",
            "clean" | "damerau" | "verify" | "wrap" | "megashingles" | "multiset" => "true",
            "word_order" => "false",
            _ => "1",
        };
        Some(format!("{{\"{key}\": {value}}}"))
    }
}

/// Returns the given options, which must be a JSON object or missing.
pub(super) fn given(options: Result<Option<Value>>, example: impl Fn() -> String) -> Result<ByName> {
    match options.map_err(|error| error.hint(example()))? {
        None | Some(Value::Null) => Ok(ByName::new()),
        Some(Value::Object(options)) => Ok(options),
        Some(other) => {
            Err(SqlError::parameter(format!("options must be a JSON object, not {other}")).hint(example()))
        }
    }
}

/// Lists the names of all options of the struct `T`, in the order in which hints list them.
pub(super) fn names<T: Options>() -> &'static [&'static str] {
    let mut names: &'static [&'static str] = &[];
    // The deserializer always fails after it has recorded the names.
    let _ = T::deserialize(Fields(&mut names));
    names
}

/// Refuses options whose names are not in `known`.
pub(super) fn only_known(options: &ByName, known: &[&str], example: &Example) -> Result<()> {
    let Some(key) = options.keys().find(|key| !known.contains(&&***key)) else { return Ok(()) };
    let first = known.first().copied().unwrap_or_default();
    Err(SqlError::parameter(format!("unknown option \"{key}\"")).hint(format!(
        "{}Options of this method: {}. {}",
        did_you_mean(key, known.iter().copied()),
        known.join(", "),
        hint::<OfAll>(first, example)
    )))
}

/// Reads the options into a struct. The struct must have a field for each name.
pub(super) fn read<T: Options>(options: &ByName, example: &Example) -> Result<T> {
    // The options are first read one by one, so that the error names the wrong option.
    for (key, value) in options {
        let alone = ByName::from_iter([(key.clone(), value.clone())]);
        if let Err(error) = T::deserialize(Value::Object(alone)) {
            return Err(refused::<T>(key, value, &error.to_string(), example));
        }
    }
    T::deserialize(Value::Object(options.clone())).map_err(|error| SqlError::parameter(error.to_string()))
}

/// Returns the error for a value that is not allowed.
pub(super) fn refused<T: Options>(key: &str, value: &Value, allowed: &str, example: &Example) -> SqlError {
    match value {
        Value::Array(_) if key == "antecedents" => {
            SqlError::parameter(format!("{key} must be {allowed}")).hint(such_as(&with(example, LISTED)))
        }
        _ if key == "algorithm" => SqlError::parameter(format!("unknown algorithm {value}")).hint(format!(
            "Algorithms: auto, allpairs, ppjoin, ppjoin+. {}",
            such_as(&with(example, "{\"algorithm\": \"ppjoin+\"}"))
        )),
        _ => {
            SqlError::parameter(format!("{key} must be {allowed}, not {value}")).hint(hint::<T>(key, example))
        }
    }
}

/// Returns the hint that shows an allowed value for `key`.
pub(super) fn hint<T: Options>(key: &str, example: &Example) -> String {
    T::good(key).map_or_else(|| such_as(example), |good| such_as(&with(example, &good)))
}

/// A list of antecedents.
pub(super) const LISTED: &str = "{\"antecedents\":[\"the\",\"a\",\"is\"]}";

/// Returns the call with the argument `options`.
pub(super) fn with(example: &Example, options: &str) -> Example {
    example.with("options", literal(options))
}

/// Options that all methods have.
#[derive(Debug, Default, Deserialize)]
pub(super) struct OfAll {
    /// The maximum number of pairs to return.
    pub max_pairs: Option<Count>,
    /// The normalization form of the texts.
    pub normalize: Option<NormalizationForm>,
    /// The column with the URLs of HTML pages.
    pub url: Option<ColumnName>,
}

impl Options for OfAll {}

/// A deserializer that only records the names of a struct's fields.
struct Fields<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Fields<'_> {
    type Error = Nothing;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> std::result::Result<V::Value, Nothing> {
        Err(Nothing::custom("options are structs"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> std::result::Result<V::Value, Nothing> {
        *self.0 = fields;
        Err(Nothing::custom("the names are known"))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

/// Reads a whole number. 1000.0 counts as a whole number, too. A number that is too large for 64
/// bits becomes the largest number that fits.
pub(super) fn whole(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_f64().filter(|n| n.fract() == 0.0).map(|n| n as i64))
}

/// Declares types of values. A value is read from JSON; if it is not allowed, the error describes
/// the allowed values in words.
macro_rules! read_by {
    ($($(#[$about:meta])* $name:ident($inner:ty): $read:expr;)*) => {$(
        $(#[$about])*
        #[derive(Debug, Clone, serde::Deserialize)]
        #[serde(try_from = "serde_json::Value")]
        pub(crate) struct $name(pub $inner);

        impl TryFrom<serde_json::Value> for $name {
            type Error = &'static str;

            fn try_from(value: serde_json::Value) -> std::result::Result<Self, &'static str> {
                let read: fn(&serde_json::Value) -> std::result::Result<$inner, &'static str> = $read;
                read(&value).map(Self)
            }
        }
    )*};
}

pub(crate) use read_by;

/// Declares types of values that are copied.
macro_rules! values {
    ($($(#[$about:meta])* $name:ident($inner:ty): $allowed:expr, $read:expr;)*) => {$(
        read_by! {
            $(#[$about])*
            #[derive(Copy)]
            $name($inner): |value| {
                let read: fn(&Value) -> Option<$inner> = $read;
                read(value).ok_or($allowed)
            };
        }
    )*};
}

values! {
    /// A number that is at least 1.
    Count(u64): "a whole number of at least 1", |value| u64::try_from(whole(value)?).ok().filter(|&n| n > 0);
    /// A number that is at least 0.
    Number(u32): "a whole number of at least 0", |value| whole(value).and_then(|n| u32::try_from(n).ok());
    /// Any number.
    Real(f64): "a number", Value::as_f64;
    /// A bound of a range of frequencies.
    Bound(f64): "a number from 0 to 1", Value::as_f64;
    /// A share that may be 1.
    Share(f64): "greater than 0 and at most 1", |value| value.as_f64().filter(|&n| n > 0.0 && n <= 1.0);
    /// A share that is less than 1.
    OpenShare(f64): "greater than 0 and less than 1", |value| value.as_f64().filter(|&n| n > 0.0 && n < 1.0);
    /// A flag.
    Flag(bool): "true or false", Value::as_bool;
    /// A normalization form, in which the server gives the texts.
    NormalizationForm(Normalization): "\"nfkc\" or \"nfc\"", |value| Normalization::from_name(value.as_str()?);
}

/// A whole number within a range.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(try_from = "Value")]
pub(crate) struct WholeNumber<const LEAST: i64, const MOST: i64>(pub i64);

impl<const LEAST: i64, const MOST: i64> TryFrom<Value> for WholeNumber<LEAST, MOST> {
    type Error = String;

    fn try_from(value: Value) -> std::result::Result<Self, String> {
        let found = whole(&value).filter(|whole| (LEAST..=MOST).contains(whole));
        found.map(Self).ok_or_else(|| format!("a whole number from {LEAST} to {MOST}"))
    }
}

read_by! {
    /// The name of a column.
    ColumnName(String): |value| value.as_str().map(str::to_owned).ok_or("the name of a column");
}

/// Returns the number that an argument gives, which must be at least 1, as `usual` is.
pub(super) fn at_least_one(
    name: &'static str,
    number: i64,
    usual: impl fmt::Display,
    example: &Example,
) -> Result<u64> {
    u64::try_from(number).ok().filter(|&n| n > 0).ok_or_else(|| {
        SqlError::parameter(format!("{name} must be a whole number of at least 1, not {number}"))
            .hint(such_as(&example.with(name, usual)))
    })
}

/// Reads an argument that is a number of at least 1, if it is given. `usual` is a number that
/// works.
pub(super) fn given_count(
    given: Named<'_>,
    argument: Argument,
    usual: i64,
    example: &Example,
) -> Result<Option<u64>> {
    given.get(argument).map(|asked| at_least_one(argument.name(), asked, usual, example)).transpose()
}

/// Returns about how many documents the sample of a call is to have, if the caller says so.
pub(crate) fn sample_size(given: Named<'_>, example: &Example) -> Result<Option<u64>> {
    given_count(given, Argument::Sample, 25_000, example)
}
