//! The exact joins of token or shingle sets: `jaccard`, `cosine`, `dice`, `overlap`, `containment`.

use serde_json::Value;

use super::token_sets::read_token_sets;
use super::{Explanation, Method, Pair, Update};
use crate::error::Result as CoreResult;
use crate::features::FeatureSpec;
use crate::features::sets::order::order;
use crate::features::sets::spill::Spill;
use crate::features::sets::store::Table;
use crate::joins::pairs::Pairs;
use crate::joins::sets::Algorithm;
use crate::pg::read::documents::Reading;
use crate::pg::request::example::{Example, literal};
use crate::pg::request::{Arguments, Options, such_as};
use crate::pg::server::error::{Result, SqlError};
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;
use crate::workers::Stop;

/// The threshold of methods that measure how much is shared.
pub const DEFAULT_THRESHOLD: f64 = 0.8;

/// How documents become sets, which are similar, and how candidates are found.
#[derive(Debug)]
struct Sets {
    spec: FeatureSpec,
    predicate: Predicate,
    algorithm: Algorithm,
}

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

impl Method for Sets {
    fn explain(&self, pair: &Pair<'_>, stop: &Stop) -> CoreResult<Explanation> {
        let [shared, left, right] = pair.shared(self.spec, stop)?;
        let similarity = self.predicate.similarity(shared, left, right);
        let passes = self.predicate.passes(shared, left, right);
        Ok(Explanation::new(similarity, passes).with_shared([shared, left, right]))
    }

    fn update(&self) -> Update {
        Update::Sets(self.spec, self.predicate)
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let files = reading.files;
        let mut spill = Spill::new(&files);
        let (collectors, dictionary) = read_token_sets(reading, self.spec, Some(&mut spill))?;
        let ordered = if spill.is_used() {
            spill.order(collectors, dictionary, reading.left_after(0), &reading.workers)?
        } else {
            order(collectors, dictionary, reading.right_from(), &reading.workers)?
        };
        let right = ordered.right.as_ref();
        reading.stats.distinct_tokens = ordered.distinct_tokens as u64;
        reading.stats.distinct_sets =
            (ordered.left.members.len() + right.map_or(0, |right| right.members.len())) as u64;
        reading.held(ordered.peak_bytes);
        let places = ordered.left.bytes() + right.map_or(0, Table::bytes);
        let budget = reading.left_after(if ordered.is_in_files() { places } else { 0 });
        Ok(Pairs::new(ordered, self.predicate, self.algorithm, budget)?)
    }
}
