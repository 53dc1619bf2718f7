//! Example calls of our functions, for hints. An example corrects the part of the caller's call
//! that was wrong, so the example works.

use std::fmt;

pub(crate) use crate::pg::query::names::literal;
use neardup_core::runs::RunParameters;

/// The functions whose second argument is a number of tokens, rows or pairs and not a threshold,
/// and which have a form with a text in the third place; and a usual number.
const OF_NUMBERS: [(&str, f64); 4] = [
    ("repeated_runs", RunParameters::LEAST as f64),
    ("cut_repeats", RunParameters::LEAST as f64),
    ("nearest", 10.0),
    ("suggest_pairs", 100.0),
];

/// Returns the usual number of a function whose second argument is one.
fn usual_number(function: &str) -> Option<f64> {
    OF_NUMBERS.iter().find(|(name, _)| *name == function).map(|&(_, number)| number)
}

/// A call of a function on certain relations.
#[derive(Debug, Clone)]
pub(crate) struct Example {
    function: &'static str,
    /// The names of the relations, quoted for SQL text.
    relations: Vec<String>,
    /// The threshold, or the number of tokens or pairs, or `None` for the default of the function.
    pub threshold: Option<f64>,
    /// The name of the type of the ids, if they are not integers.
    pub id_type: Option<String>,
    /// The names and values of named arguments. The values are SQL text.
    named: Vec<(&'static str, String)>,
}

impl Example {
    /// Makes a call of `function` with a usual second argument.
    pub(crate) fn new(function: &'static str, relations: impl IntoIterator<Item = String>) -> Self {
        Self {
            function,
            relations: relations.into_iter().collect(),
            threshold: Some(usual_number(function).unwrap_or(0.8)),
            id_type: None,
            named: Vec::new(),
        }
    }

    /// Returns the call of another function with the same arguments and with a type for the ids.
    #[must_use]
    pub(crate) fn for_function(&self, function: &'static str, id_type: Option<String>) -> Self {
        Self { function, id_type, ..self.clone() }
    }

    /// Returns the call with another threshold, or with none.
    #[must_use]
    pub(crate) fn at(&self, threshold: impl Into<Option<f64>>) -> Self {
        Self { threshold: threshold.into(), ..self.clone() }
    }

    /// Returns the call with a further argument.
    #[must_use]
    pub(crate) fn with(&self, name: &'static str, value: impl fmt::Display) -> Self {
        let mut with = self.clone();
        with.named.push((name, value.to_string()));
        with
    }
}

impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.function)?;
        for (n, relation) in self.relations.iter().enumerate() {
            write!(f, "{}{}", if n == 0 { "" } else { ", " }, literal(relation))?;
        }
        match (self.threshold, &self.id_type) {
            (Some(threshold), _) => write!(f, ", {threshold}")?,
            (None, Some(_)) => write!(f, ", NULL")?,
            (None, None) => {}
        }
        if let Some(id_type) = &self.id_type {
            // In this place an integer, a text or a jsonb is another argument.
            let is_other = usual_number(self.function).is_some() || id_type == "jsonb";
            let name = if is_other { "id_type => " } else { "" };
            write!(f, ", {name}NULL::{id_type}")?;
        }
        for (name, value) in &self.named {
            write!(f, ", {name} => {value}")?;
        }
        write!(f, ")")
    }
}

/// Returns the hint that shows a call which works.
pub(crate) fn such_as(example: &Example) -> String {
    format!("For example: SELECT * FROM {example};")
}
