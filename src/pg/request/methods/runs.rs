//! Method `runs`: compares texts by the share of their words that both say word for word.

use serde::Deserialize;
use serde_json::json;

use crate::pg::request::arguments::Arguments;
use crate::pg::request::example::{literal, such_as};
use crate::pg::request::options::{self, Count, Number, Options, read_by};
use crate::pg::request::tokenizer::plain_tokenizer;
use crate::pg::server::error::{Result, SqlError};
use neardup_core::methods::Method;
use neardup_core::methods::runs::Runs;
use neardup_core::verify::shared_runs::RunShare;

/// The default minimum share.
const THRESHOLD: f64 = 0.5;
/// The default minimum length of a run, and the greatest one.
const MIN_RUN: u32 = 12;
const LONGEST: u32 = 1_000_000;

/// Options of `runs`.
#[derive(Debug, Default, Deserialize)]
struct RunsOptions {
    min_run: Option<Number>,
    direction: Option<Direction>,
    max_documents: Option<Count>,
}

impl Options for RunsOptions {
    fn good(key: &str) -> Option<String> {
        let value = match key {
            "direction" => json!("smaller"),
            "max_documents" => json!(100),
            _ => json!(MIN_RUN),
        };
        Some(json!({ key: value }).to_string())
    }
}

read_by! {
    /// The side whose words are counted.
    Direction(RunShare): |value| match value.as_str() {
        Some("left") => Ok(RunShare::Left),
        Some("right") => Ok(RunShare::Right),
        Some("smaller") => Ok(RunShare::Smaller),
        Some("larger") => Ok(RunShare::Larger),
        Some("both") => Ok(RunShare::Both),
        _ => Err("left, right, smaller, larger or both"),
    };
}

/// Reads the parameters.
pub(crate) fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let threshold = arguments.threshold(THRESHOLD)?;
    let RunsOptions { min_run, direction, max_documents } = arguments.options()?;
    let min_run = min_run.map_or(MIN_RUN, |given| given.0);
    if !(1..=LONGEST).contains(&min_run) {
        let example = options::with(&arguments.example, &json!({ "min_run": MIN_RUN }).to_string());
        let message = format!("min_run must be between 1 and {LONGEST}, not {min_run}");
        return Err(SqlError::parameter(message).hint(such_as(&example)));
    }
    let of = direction.map_or(RunShare::Smaller, |direction| direction.0);
    if arguments.relations == 1 && matches!(of, RunShare::Left | RunShare::Right) {
        let example = options::with(&arguments.example, &json!({ "direction": "smaller" }).to_string());
        let message = "direction must be smaller, larger or both, as the rows of one table have no sides";
        return Err(SqlError::parameter(message).hint(such_as(&example)));
    }
    arguments.accept();
    let asked = arguments.tokenizer.take();
    let (tokenizer, pages) = plain_tokenizer(asked.as_deref(), arguments.url.take(), &arguments.example)?;
    if let Some(name) = &asked {
        arguments.example = arguments.example.with("tokenizer", literal(name));
    }
    arguments.pages = pages;
    arguments.uncut_texts("compares runs of tokens")?;
    let max_documents = max_documents.map(|most| most.0);
    Ok(Box::new(Runs { min_run: min_run as usize, of, threshold, max_documents, tokenizer }))
}
