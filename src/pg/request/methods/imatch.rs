//! Method `imatch`: documents of equal I-Match signatures.

use super::token_sets::read_token_sets;
use super::{Explanation, Method, Pair};
use crate::error::Result as CoreResult;
use crate::features::FeatureSpec;
use crate::features::imatch::{self, IdfRange};
use crate::features::signatures::distinct;
use crate::joins::pairs::Pairs;
use crate::joins::sketches::technique::{Rule, Technique};
use crate::joins::sketches::{Comparison, sketch_pairs};
use crate::pg::read::documents::Reading;
use crate::pg::request::{Arguments, such_as};
use crate::pg::server::error::{Result, SqlError};
use crate::workers::Stop;

/// Which terms count.
#[derive(Debug)]
struct Imatch {
    spec: FeatureSpec,
    range: IdfRange,
}

/// Reads the parameters.
pub fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let options = arguments.options(&["lo", "hi"])?;
    arguments.only_threshold_one("has equal signatures only")?;
    let example = &arguments.example;
    let bound = |key: &str, default: f64| match options.value(key) {
        None => Ok(default),
        Some(value) => value.as_f64().ok_or_else(|| {
            SqlError::parameter(format!("{key} must be a number from 0 to 1, not {value}"))
                .hint(such_as(example))
        }),
    };
    let range = IdfRange::new(bound("lo", 0.1)?, bound("hi", 1.0)?)
        .map_err(|error| SqlError::from(error).hint(such_as(example)))?;
    arguments.accept(options);
    // Distinct terms.
    let spec = FeatureSpec { multiset: false, ..arguments.feature_spec(1)? };
    Ok(Box::new(Imatch { spec, range }))
}

impl Method for Imatch {
    /// Which terms count depends on all documents of a table; only where all terms are the same it does not.
    fn explain(&self, pair: &Pair<'_>, stop: &Stop) -> CoreResult<Explanation> {
        let counts = pair.shared(self.spec, stop)?;
        let [shared, left, right] = counts;
        let same = shared == left && shared == right && shared > 0;
        let explained = match same {
            true => Explanation::new(1.0, true),
            false if left == 0 || right == 0 => Explanation::new(0.0, false),
            false => Explanation::unknown("depends on how many documents of the table have each word"),
        };
        Ok(explained.with_shared(counts))
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let (collectors, dictionary) = read_token_sets(reading, self.spec, None)?;
        let documents = reading.stats.documents - reading.stats.skipped_null;
        let parts = imatch::of_documents(collectors, dictionary, self.range, documents, &reading.workers)?;
        let signatures = distinct(parts, reading.right_from(), &reading.workers)?;
        reading.stats.distinct_sets = signatures.len() as u64;
        reading.held(2 * signatures.bytes());
        let comparison = Comparison {
            techniques: vec![Technique::Equal { at: 0, words: imatch::WIDTH }],
            rule: Rule::Technique(0),
            sizes: None,
            most: None,
        };
        Ok(sketch_pairs(signatures, None, comparison, reading.left_after(0))?)
    }
}
