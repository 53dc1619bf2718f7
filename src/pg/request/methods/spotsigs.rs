//! Method `spotsigs`: the exact join of the documents' sets of spot signatures by Jaccard similarity.

use super::{Explanation, Method, Pair, Update};
use crate::error::Result as CoreResult;
use crate::features::spotsigs::{Antecedents, SpotSpec, Spots};
use crate::features::units::sets::{Resources, Unit, UnitSets, Units, make_sets};
use crate::features::units::signatures::Features;
use crate::joins::pairs::Pairs;
use crate::joins::sets::Algorithm;
use crate::pg::read::documents::Reading;
use crate::pg::request::{Arguments, SPOTSIGS, spotsigs};
use crate::pg::server::error::Result;
use crate::verify::measure::Measure;
use crate::verify::predicate::Predicate;
use crate::workers::Stop;

/// How documents become sets, and which are similar.
#[derive(Debug)]
struct SpotSigs {
    spec: SpotSpec,
    predicate: Predicate,
}

/// Reads the parameters.
pub fn parse(arguments: &mut Arguments<'_>) -> Result<Box<dyn Method>> {
    const THRESHOLD: f64 = 0.8;
    let predicate = Predicate::new(Measure::Jaccard, arguments.threshold(THRESHOLD)?)?;
    let options = arguments.options(SPOTSIGS)?;
    let spec = spotsigs(&options, &arguments.example)?;
    arguments.accept(options);
    arguments.whole_texts("compares chains of words")?;
    Ok(Box::new(SpotSigs { spec, predicate }))
}

impl Method for SpotSigs {
    fn explain(&self, pair: &Pair<'_>, stop: &Stop) -> CoreResult<Explanation> {
        if let Antecedents::Counted(_) = self.spec.antecedents {
            return Ok(Explanation::unknown("depends on how many documents of the table have each word"));
        }
        let spots = Spots::new(&self.spec, None)?;
        let (mut left, mut right) = (Vec::new(), Vec::new());
        spots.of_text(pair.texts[0], &mut left, stop)?;
        spots.of_text(pair.texts[1], &mut right, stop)?;
        // Both are ascending.
        let shared = left.iter().filter(|signature| right.binary_search(signature).is_ok()).count();
        // No document has more words than 32 bits count.
        let [shared, left, right] = [shared, left.len(), right.len()].map(|count| count as u32);
        let similarity = self.predicate.similarity(shared, left, right);
        let passes = self.predicate.passes(shared, left, right);
        Ok(Explanation::new(similarity, passes).with_shared([shared, left, right]))
    }

    fn update(&self) -> Update {
        match self.spec.antecedents {
            // A new document may change what is frequent.
            Antecedents::Counted(_) => Update::Whole,
            _ => Update::Pairs,
        }
    }

    fn pairs(&self, reading: &mut Reading<'_>) -> Result<Pairs> {
        let (mut library, maker) =
            reading.read_units(Unit::Document, &Features::Spotsigs(self.spec.clone()))?;
        let rows = reading.left.len() + reading.right.as_ref().map_or(0, |(ids, _)| ids.len());
        // Rows are numbered with 32 bits.
        let units = Units::of_rows(rows as u32, reading.right_from())?;
        let (files, budget) = (reading.files, reading.left_after(library.bytes() + units.bytes()));
        let resources = Resources { files: &files, budget, workers: &reading.workers };
        let progress = &mut reading.progress;
        let UnitSets { ordered, signatures, empty } =
            make_sets(&mut library, &units, &maker, resources, |done| {
                progress.report(|| format!("making signatures, {done} documents"));
            })?;
        reading.held(library.bytes() + ordered.peak_bytes);
        drop(library);
        let right = ordered.right.as_ref().map_or(0, |right| right.members.len());
        let stats = &mut reading.stats;
        // Rows without a text have no signature, either.
        stats.skipped_empty = empty - stats.skipped_null;
        stats.tokens = signatures;
        stats.distinct_tokens = ordered.distinct_tokens as u64;
        stats.distinct_sets = (ordered.left.members.len() + right) as u64;
        let budget = reading.left_after(0);
        Ok(Pairs::new(ordered, self.predicate, Algorithm::Auto, budget)?)
    }
}
