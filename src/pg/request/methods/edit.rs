//! Method `edit`: texts by their Levenshtein distance.

use super::sets::algorithm;
use super::{Explanation, Method, Pair, Update};
use crate::error::Result as CoreResult;
use crate::features::FeatureSpec;
use crate::features::texts::distinct;
use crate::joins::edit::edit_pairs;
use crate::joins::pairs::Pairs;
use crate::joins::sets::Algorithm;
use crate::pg::read::documents::Reading;
use crate::pg::request::Arguments;
use crate::pg::server::error::Result;
use crate::verify::edit::{self, EditPredicate};
use crate::workers::Stop;

/// Which texts are similar, and how candidates are found.
#[derive(Debug)]
struct Edit {
    predicate: EditPredicate,
    algorithm: Algorithm,
}

/// Reads the parameters.
pub fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    let predicate = EditPredicate::new(arguments.threshold(super::sets::DEFAULT_THRESHOLD)?)?;
    let options = arguments.options(&["algorithm", "max_depth"])?;
    let algorithm = algorithm(&options, &arguments.example)?;
    arguments.accept(options);
    arguments.whole_texts("compares texts character by character")?;
    Ok(Box::new(Edit { predicate, algorithm }))
}

impl Method for Edit {
    fn explain(&self, pair: &Pair<'_>, stop: &Stop) -> CoreResult<Explanation> {
        /// Products of lengths that take longer than some seconds.
        const MOST: usize = 1 << 36;
        let [a, b] = pair.texts;
        if a != b && a.chars().count().saturating_mul(b.chars().count()) > MOST {
            return Ok(Explanation::unknown("the texts are too long"));
        }
        let (distance, longer) = edit::distance(a, b, stop)?;
        let similarity = edit::similarity(distance, longer);
        let passes = similarity >= self.predicate.threshold();
        let explained = Explanation::new(similarity, passes);
        Ok(explained.with("distance", distance.into()).with("longer", longer.into()))
    }

    fn update(&self) -> Update {
        Update::Pairs
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let collectors = reading.read_texts(FeatureSpec::WHOLE)?;
        let right_from = reading.right_from();
        let distinct = distinct(collectors, right_from, &reading.workers)?;
        // Texts stay.
        let budget = reading.left_after(distinct.texts.bytes());
        let (pairs, prepared) =
            edit_pairs(distinct, self.predicate, self.algorithm, &reading.files, budget, &reading.workers)?;
        reading.stats.tokens = prepared.grams;
        reading.stats.distinct_tokens = prepared.distinct_grams;
        reading.stats.distinct_sets = prepared.distinct_texts;
        reading.held(prepared.peak_bytes);
        Ok(pairs)
    }
}
