//! The nearest of each: for every document the documents that are the most similar to it.

use super::reading::Reading;
use super::within::rows::rows_of_groups;
use crate::error::Result;
use crate::features::FeatureSpec;
use crate::features::dictionary::weights::{Weighing, Weights};
use crate::features::sets::order::Ordered;
use crate::joins::nearest::SHORT;
use crate::joins::nearest::pieces::NearestSearch;
use crate::joins::nearest::rows::NearestRows;
use crate::verify::measure::Measure;

/// Reads the documents of a table and prepares the search for the `k` nearest of each, exactly. Of
/// equally similar documents those of the first ids are the nearest; documents without a common
/// token are not near, nor are those of one source, if rows have sources. With weights, sums of
/// these take the place of numbers of tokens, for cosine those of their squares. Sets whose index
/// has no room in memory are searched for piece by piece.
pub fn search(
    spec: FeatureSpec,
    measure: Measure,
    weights: &Weights,
    k: usize,
    reading: &mut Reading<'_>,
) -> Result<NearestRows> {
    let how = || NearestSearch { measure, k, short: SHORT, sources: None };
    let weighing = || Weighing { weights: weights.clone(), squares: measure == Measure::Cosine };
    if !reading.is_grouped() {
        let ordered = ordered(spec, weighing(), reading)?;
        return of_ordered(ordered, how(), reading);
    }
    let rows = rows_of_groups(
        &|reading, take| {
            let ordered = ordered(spec, weighing(), reading)?;
            let mut rows = of_ordered(ordered, how(), reading)?;
            rows.for_each(reading.executor, take)?;
            reading.account.counts.add(&rows.counts());
            Ok(())
        },
        reading,
    )?;
    Ok(NearestRows::of_groups(rows, std::mem::take(&mut reading.account.counts)))
}

/// Reads the documents as ordered sets.
pub fn ordered(spec: FeatureSpec, weighing: Weighing, reading: &mut Reading<'_>) -> Result<Ordered> {
    let builder = reading.read_sets(spec, true)?.weighed(weighing);
    let ordered = builder.order(reading.left_after(0), reading.executor)?;
    reading.account.distinct_tokens = ordered.distinct_tokens as u64;
    reading.account.distinct_sets = ordered.left.members.len() as u64;
    reading.held(ordered.peak_bytes);
    Ok(ordered)
}

/// Prepares the search for the documents that were read.
pub fn of_ordered(ordered: Ordered, how: NearestSearch, reading: &mut Reading<'_>) -> Result<NearestRows> {
    let order = reading.order()?;
    let executor = reading.executor;
    let budget = reading.left_after(0);
    let rows = NearestRows::new(ordered, how, order, reading.across(), budget, executor)?;
    reading.held(rows.bytes());
    Ok(rows)
}
