//! The exact joins of token or shingle sets: `jaccard`, `cosine`, `dice`, `overlap`, `containment`.

use serde_json::Value;

use crate::joins::sets::Algorithm;
use crate::methods::Method;
use crate::methods::sets::Sets;
use crate::pg::request::example::{Example, literal};
use crate::pg::request::{Arguments, Options, such_as};
use crate::pg::server::error::{Result, SqlError};
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;

/// The threshold of methods that measure how much is shared.
pub const DEFAULT_THRESHOLD: f64 = 0.8;

/// Reads the parameters.
pub fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let measure = measure(arguments.method, arguments.relations);
    let given = arguments.threshold;
    let threshold = arguments.threshold(DEFAULT_THRESHOLD)?;
    // An absolute number of shared tokens is a measure of its own only for overlap.
    let known = ["algorithm", "max_depth", "min_overlap"];
    let options = arguments.options(if arguments.method == "overlap" { &known } else { &known[..2] })?;
    let least = options.count("min_overlap", &arguments.example)?;
    if least.is_some() {
        arguments.example.threshold = given;
    }
    let algorithm = algorithm(&options, &arguments.example)?;
    arguments.accept(options);
    let spec = arguments.feature_spec(1)?;
    // One of the two alone where the other is not given.
    let least = least.map(|least| u32::try_from(least).unwrap_or(u32::MAX));
    let predicate = match (given, least) {
        (None, Some(least)) => Predicate::shared(measure, least),
        _ => {
            let predicate = Predicate::new(measure, threshold)?;
            least.map_or(predicate, |least| predicate.and_shared(least))
        }
    };
    Ok(Box::new(Sets { spec, predicate, algorithm }))
}

/// The measure of this name.
pub fn measure(method: &str, relations: usize) -> Measure {
    match method {
        "cosine" => Measure::Cosine,
        "dice" => Measure::Dice,
        "overlap" => Measure::Overlap,
        // Within one table neither document comes first: the greater direction counts.
        "containment" if relations == 1 => Measure::Overlap,
        "containment" => Measure::Containment,
        _ => Measure::Jaccard,
    }
}

/// How candidates are found, and how often the suffix filter splits.
pub fn algorithm(options: &Options, example: &Example) -> Result<Algorithm> {
    const DEFAULT_DEPTH: u64 = 2;
    const DEEPEST: u64 = 16;
    let depth = options.count("max_depth", example)?.unwrap_or(DEFAULT_DEPTH).min(DEEPEST) as u32;
    match options.0.get("algorithm").unwrap_or(&Value::Null) {
        Value::Null => Ok(Algorithm::Auto),
        value => match value.as_str() {
            Some("auto") => Ok(Algorithm::Auto),
            Some("allpairs") => Ok(Algorithm::AllPairs),
            Some("ppjoin") => Ok(Algorithm::PpJoin),
            Some("ppjoin+") => Ok(Algorithm::PpJoinPlus(depth)),
            _ => Err(SqlError::parameter(format!("unknown algorithm {value}")).hint(format!(
                "Algorithms: auto, allpairs, ppjoin, ppjoin+. {}",
                such_as(&example.with("options", literal("{\"algorithm\": \"ppjoin+\"}")))
            ))),
        },
    }
}
