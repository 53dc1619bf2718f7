//! The search for passages that documents share: `partial_duplicates`.

use std::sync::Mutex;

use super::account::Unsigned;
use super::reading::Reading;
use super::short_texts::LongParts;
use super::spotsigs::NO_SPOT;
use super::within::rows::rows_of_groups;
use crate::error::Result;
use crate::features::units::sets::{DocumentUnit, Units};
use crate::memory;
use crate::passages::in_groups::{FoundPassages, LoggedPassage};
use crate::passages::search::Search;
use crate::passages::{Capped, Parameters, Phase};

/// Reads the documents, joins their sentences, and prepares the search for passages: among all
/// documents, or among those of each group.
pub fn search(parameters: &Parameters, reading: &mut Reading<'_>) -> Result<FoundPassages> {
    let found = if reading.is_grouped() {
        in_groups(parameters, reading)?
    } else {
        FoundPassages::of_search(all(parameters, reading)?)
    };
    match reading.across() {
        None => Ok(found),
        Some(sources) => Ok(found.across(memory::collect(sources.iter().copied(), "keeping sources")?)),
    }
}

fn in_groups(parameters: &Parameters, reading: &mut Reading<'_>) -> Result<FoundPassages> {
    let all_capped = Mutex::new(Capped::default());
    let rows = rows_of_groups(
        &|reading, take| {
            let mut search = all(parameters, reading)?;
            let right_from = reading.right_from().unwrap_or(0);
            while let Some(batch) = search.next_batch(reading.executor)? {
                batch.iter().try_for_each(|passage| take(LoggedPassage::new(passage, right_from)))?;
            }
            if let Ok(mut all) = all_capped.lock() {
                all.add(search.account.capped);
            }
            Ok(())
        },
        reading,
    )?;
    let capped = all_capped.into_inner().unwrap_or_default();
    Ok(FoundPassages::of_groups(rows, capped, reading.right_from().unwrap_or(0)))
}

/// Reads the documents, joins their sentences, and prepares the search for passages among all
/// documents.
fn all(parameters: &Parameters, reading: &mut Reading<'_>) -> Result<Search> {
    reading.compares(Some(LongParts::Sentences));
    let (library, maker) = reading.read_units(DocumentUnit::Sentence, &parameters.features)?;
    let left_rows = reading.order()?;
    let right_rows = reading.right_order()?;
    let units = Units::in_order(&library, &left_rows, right_rows.as_deref())?;
    drop((left_rows, right_rows));
    let held = library.bytes() + units.bytes() + maker.bytes();
    let resources = reading.resources_after(held);
    let search = Search::new(library, units, &maker, parameters, resources, &mut |(phase, share)| {
        reading.report(|| match phase {
            Phase::Signing => format!("making signatures, {:.0} %", 100.0 * share),
            Phase::Joining => format!("joining sentences, {:.0} %", 100.0 * share),
            Phase::Pairing => format!("listing pairs, {:.0} %", 100.0 * share),
            Phase::Sorting => "sorting pairs".to_owned(),
        });
    })?;
    let found = search.account;
    let account = &mut reading.account;
    account.tokens = found.signatures;
    account.distinct_tokens = found.distinct_signatures;
    account.distinct_sets = found.distinct_sets;
    account.unsigned = Unsigned {
        count: found.unsigned,
        of: found.sentences,
        units: "sentences",
        without: NO_SPOT,
        found: "they begin no passage",
    };
    account.counts = found.counts;
    account.counts.stop_signatures = found.capped.sentences;
    account.counts.stop_documents = found.capped.occurrences;
    reading.held(held + found.peak_bytes);
    Ok(search)
}

#[cfg(test)]
mod tests {
    use crate::executor::Stop;
    use crate::features::units::signatures::Features;
    use crate::methods::corpus::Corpus;
    use crate::passages::Parameters;
    use crate::passages::between;

    #[test]
    fn passages_of_a_corpus_are_those_of_its_pairs() {
        let story = "The crane moved to the north quay in March. Nobody saw it happen. It was dark.";
        let texts =
            [format!("One word. {story}"), format!("{story} The end."), "Some other words.".to_owned()];
        let parameters =
            Parameters { features: Features::Shingles(3), min_sentences: 2, ..Parameters::default() };
        let mut expected = between(&texts[0], &texts[1], &parameters, &Stop::default()).unwrap();
        assert_eq!(expected.len(), 1);
        // The right text alone is the right table; rows keep their numbers.
        (expected[0].left_row, expected[0].right_row) = (0, 1);
        for right_from in [None, Some(1)] {
            let found = Corpus::of_texts(&texts).split(right_from).passages(&parameters).unwrap();
            assert_eq!(found, expected, "{right_from:?}");
        }
        assert_eq!(Corpus::of_texts(&texts).split(Some(2)).passages(&parameters), Ok(vec![]));
        let none = Parameters { min_sentences: 0, ..parameters };
        assert!(Corpus::of_texts(&texts).passages(&none).is_err());
    }
}
