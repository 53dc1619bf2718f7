//! Example calls of our functions, for hints. An example corrects the part of the caller's call
//! that was wrong, so the example works; an unknown name gets the known one that is most like it.

use std::fmt;

use crate::pg::query::column::UserColumn;
use crate::pg::query::relation::Relation;
use crate::pg::server::error::Result;
use neardup_core::compare::edit_distance;
use neardup_core::executor::Stop;
use neardup_core::repeats::RunParameters;

pub(crate) use crate::pg::query::names::literal;

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

/// Returns the column of a relation that an argument names. The hint of an error shows a call and
/// all columns.
pub(crate) fn named<'a>(
    relation: &'a Relation,
    name: &str,
    argument: &str,
    example: &Example,
) -> Result<&'a UserColumn> {
    let hint = || format!("{} Columns: {}.", such_as(example), relation.column_names());
    relation.named(name, argument).map_err(|error| error.hint(hint()))
}

/// Returns the hint that shows a call which works.
pub(crate) fn such_as(example: &Example) -> String {
    format!("For example: SELECT * FROM {example};")
}

/// Returns the sentence `Did you mean "…"? `, or nothing if no known name is alike.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |known| format!("Did you mean \"{known}\"? "))
}

/// Returns the name that differs in the fewest characters, if these are at most a third of them.
fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    /// No known name is longer.
    const LONGEST: usize = 40;
    if name.len() > LONGEST {
        return None;
    }
    // Case and separators are what is most often written otherwise.
    let plain = |name: &str| name.to_lowercase().replace(['_', '-', ' ', '+'], "");
    let wanted = plain(name);
    let differing = |known: &str| edit_distance(&wanted, &plain(known), &Stop::default()).ok();
    let near = known.into_iter().filter_map(|known| {
        let (distance, longer) = differing(known)?;
        (3 * distance <= longer).then_some((distance, known))
    });
    near.min_by_key(|&(distance, _)| distance).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_name_that_was_meant() {
        let known = ["jaccard", "cosine", "max_pairs", "exact_text"];
        for (name, meant) in [
            ("cosin", "cosine"),
            ("Jacard", "jaccard"),
            ("maxPairs", "max_pairs"),
            ("exact-text", "exact_text"),
        ] {
            assert_eq!(did_you_mean(name, known), format!("Did you mean \"{meant}\"? "));
        }
        for name in ["", "x", "levenshtein", &"cosine".repeat(10), "päärchen"] {
            assert_eq!(did_you_mean(name, known), "");
        }
        assert_eq!(did_you_mean("cosine", []), "");
    }
}
