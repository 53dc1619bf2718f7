//! Documents of a reading as sets of numbered tokens.

use crate::features::FeatureSpec;
use crate::features::dictionary::Dictionary;
use crate::features::dictionary::numbering::number;
use crate::features::sets::collect::Collector;
use crate::features::sets::spill::Spill;
use crate::features::tokens::Document;
use crate::pg::read::documents::Reading;
use crate::pg::server::error::Result;
use crate::workers::{self, Workers};

/// Reads all documents, makes their sets, and accounts for them. Sets go to `spill`, if there is one, where
/// memory is not enough for all.
pub fn read_token_sets(
    reading: &mut Reading<'_>,
    spec: FeatureSpec,
    mut spill: Option<&mut Spill<'_>>,
) -> Result<(Vec<Collector>, Dictionary)> {
    const LONG: usize = 1 << 20;
    let mut collectors: Vec<Collector> = (0..reading.workers.count()).map(|_| Collector::new(spec)).collect();
    let mut dictionary = Dictionary::default();
    let memory = reading.memory;
    // Words are mostly known to the worker that meets them and take a few bytes each; shingles take 48.
    if spec.shingle == 1 {
        reading.batch_bytes = 16 << 20;
    }
    // While tokens are numbered they take far more than the text: of long documents that would be too much.
    let is_long = |document: &Document| document.bytes() > LONG.min(memory / 32);
    reading.read(|batch| {
        if let Some(from) = batch.begins_right() {
            if let Some(spill) = &mut spill {
                spill.go_right(from);
            }
            collectors.iter_mut().for_each(Collector::go_right);
        }
        batch.share_out(&mut collectors, |collector, row, document, stop| match is_long(document) {
            true => Ok(()),
            false => collector.add(row, document, stop),
        })?;
        let pending: usize = collectors.iter().map(Collector::bytes).sum();
        number(&mut dictionary, &mut collectors, batch.workers())?;
        for (row, document) in batch.documents().filter(|(_, document)| is_long(document)) {
            let mut state = (&mut collectors[0], &mut dictionary);
            workers::one(batch.workers(), &mut state, |(collector, dictionary), stop| {
                collector.add_at_once(row, document, dictionary, stop)
            })?;
        }
        let held = dictionary.bytes() + collectors.iter().map(Collector::bytes).sum::<usize>();
        let sets: usize = collectors.iter().map(|collector| collector.sets.bytes()).sum();
        // What is in memory is ordered by copying it.
        if let Some(spill) = &mut spill
            && held + sets + batch.held > memory
            && sets > memory / 8
        {
            spill.take(&mut collectors)?;
        }
        Ok(held.max(pending))
    })?;
    let stats = &mut reading.stats;
    stats.skipped_empty = collectors.iter().map(|collector| collector.empty).sum();
    stats.tokens = collectors.iter().map(|collector| collector.tokens).sum();
    Ok((collectors, dictionary))
}
