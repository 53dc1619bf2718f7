//! The search for passages that documents share: `partial_duplicates`.

use super::account::Unsigned;
use super::reading::Reading;
use super::short_texts::LongParts;
use super::spotsigs::NO_SPOT;
use crate::error::Result;
use crate::features::units::sets::{DocumentUnit, Units};
use crate::passages::Parameters;
use crate::passages::Phase;
use crate::passages::search::Search;

/// Reads the documents, joins their sentences, and prepares the search for passages.
pub fn search(parameters: &Parameters, reading: &mut Reading<'_>) -> Result<Search> {
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
