//! The search for passages that documents share: `partial_duplicates`.

use std::sync::Mutex;

use super::account::Unsigned;
use super::reading::{Reading, places};
use super::short_texts::LongParts;
use super::spotsigs::NO_SPOT;
use super::within::rows::rows_of_groups;
use crate::error::Result;
use crate::features::row_words::RowWords;
use crate::features::units::sets::{DocumentUnit, Units};
use crate::memory;
use crate::passages::edited::EditedWords;
use crate::passages::edited::search::EditedSearch;
use crate::passages::edited::seeds::RankedRows;
use crate::passages::edited::windows::WindowReader;
use crate::passages::in_groups::{FoundPassages, LoggedPassage};
use crate::passages::search::Search;
use crate::passages::{Capped, Parameters, PassageSearch, Phase};
use crate::storage::sort::Sorter;

const DOING: &str = "reading words";

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
                all.add(search.capped());
            }
            Ok(())
        },
        reading,
    )?;
    let capped = all_capped.into_inner().unwrap_or_default();
    Ok(FoundPassages::of_groups(rows, capped, reading.right_from().unwrap_or(0)))
}

/// Reads the documents, and prepares the search for passages among all of them.
fn all(parameters: &Parameters, reading: &mut Reading<'_>) -> Result<Box<dyn PassageSearch>> {
    parameters.check()?;
    match parameters.edits {
        Some(edits) => Ok(Box::new(edited(edits, parameters, reading)?)),
        None => Ok(Box::new(of_sentences(parameters, reading)?)),
    }
}

/// Reads the documents, lists the runs that they share, and prepares the search for edited
/// passages.
fn edited(edits: EditedWords, parameters: &Parameters, reading: &mut Reading<'_>) -> Result<EditedSearch> {
    let (files, executor, memory) = (reading.files, reading.executor, reading.memory);
    let mut readers = memory::collect((0..executor.count()).map(|_| WindowReader::new(edits)), DOING)?;
    let (mut texts, mut windows) = (RowWords::default(), Sorter::new(files, memory / 4));
    reading.read(|batch| {
        batch.share_out(&mut readers, WindowReader::add)?;
        for reader in &mut readers {
            reader.windows.drain(..).try_for_each(|window| windows.push(window, batch.executor))?;
        }
        let held =
            |readers: &[WindowReader]| readers.iter().map(|reader| reader.texts.bytes()).sum::<usize>();
        if held(&readers) > memory / 4 {
            let full = readers.iter_mut().map(|reader| std::mem::take(&mut reader.texts)).collect();
            texts.spill(full, files)?;
        }
        Ok(readers.iter().map(WindowReader::bytes).sum::<usize>() + texts.bytes() + windows.bytes())
    })?;
    reading.account.skipped_empty = readers.iter().map(|reader| reader.empty).sum();
    reading.account.tokens = readers.iter().map(|reader| reader.count).sum();
    texts.finish(readers.into_iter().map(|reader| reader.texts).collect(), files)?;
    let mut rows = reading.order()?;
    let right_from = reading.right_from();
    if let Some(right) = reading.right_order()? {
        memory::append(&mut rows, right, DOING)?;
    }
    let rows = RankedRows { ranks: places(&rows)?, rows, right_from, within: parameters.within_documents };
    reading.report(|| "listing shared runs".to_owned());
    // Seeds are listed with a bit for each word, and the number of words before each row. Half of
    // the budget is for a byte of each word.
    let marks = reading.account.tokens as usize / 8 + rows.rows.len() * size_of::<u64>();
    let held = texts.bytes() + 2 * memory::bytes(&rows.rows) + windows.bytes() + marks;
    let resources = reading.resources_after(held);
    let search =
        EditedSearch::new(texts, rows, windows.sorted(executor)?, edits, parameters.most_similar, resources)?;
    reading.account.counts.candidates = search.all;
    reading.account.counts.stop_signatures = search.capped.sentences;
    reading.account.counts.stop_documents = search.capped.occurrences;
    reading.held(search.bytes().max(held + resources.budget / 4 * 3));
    Ok(search)
}

/// Reads the documents, joins their sentences, and prepares the search for passages among all
/// documents.
fn of_sentences(parameters: &Parameters, reading: &mut Reading<'_>) -> Result<Search> {
    reading.compares(Some(LongParts::Sentences));
    let (mut library, maker) = reading.read_units(DocumentUnit::Sentence, &parameters.features)?;
    let left_rows = reading.order()?;
    let right_rows = reading.right_order()?;
    let units = Units::in_order(&mut library, &left_rows, right_rows.as_deref())?;
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
