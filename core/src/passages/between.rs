//! The passages of two texts that belong to no table.

use super::search::Search;
use super::{Parameters, Passage};
use crate::error::Result;
use crate::executor::{CallingThread, Stop};
use crate::features::tokens::Document;
use crate::features::units::sets::{DocumentUnit, Gathering, Units};
use crate::resources::Resources;
use crate::storage::files::NoFiles;

/// Returns the passages that two texts share, in the order of the left text. Words have no document
/// frequency here, so all words count.
///
/// The rows of the passages are 0 and 1. Fails if parameters are out of range, or after a request
/// to stop.
///
/// ```
/// use neardup_core::parameters::SentenceFeatures;
/// use neardup_core::{PassageParameters, Stop, passages_between};
///
/// let a = "A plain start. The crane moved to the north quay in March. Nobody saw it happen.";
/// let b = "More words. The crane moved to the\nnorth quay in March. Nobody saw it happen. End.";
/// let features = SentenceFeatures::Shingles(4);
/// let parameters = PassageParameters { features, min_sentences: 1, ..Default::default() };
/// let passages = passages_between(a, b, &parameters, &Stop::default())?;
/// // Both sentences, though a line break cuts one of them.
/// assert_eq!(&a[passages[0].left_span.clone()], &a[15..]);
/// # Ok::<(), neardup_core::Error>(())
/// ```
pub fn between(a: &str, b: &str, parameters: &Parameters, stop: &Stop) -> Result<Vec<Passage>> {
    between_documents([a, b].map(|text| Document::Text(text.to_owned())), parameters, stop)
}

/// Returns the passages that two documents share, like [`between`]. Each document is a text or a
/// page.
pub fn between_documents(
    documents: [Document; 2],
    parameters: &Parameters,
    stop: &Stop,
) -> Result<Vec<Passage>> {
    let executor = CallingThread { stop };
    let mut gathering = Gathering::new(DocumentUnit::Sentence, &parameters.features, &executor);
    for (row, document) in (0..).zip(&documents) {
        gathering.readers[0].add(row, document, stop)?;
        gathering.settle(|_| Ok(()), &NoFiles, usize::MAX, &executor)?;
    }
    let (library, maker, _) = gathering.finish(&parameters.features, 1, &NoFiles, &executor)?;
    let units = Units::in_order(&library, &[0], Some(&[1]))?;
    let resources = Resources { files: &NoFiles, budget: usize::MAX / 4, executor: &executor };
    let mut search = Search::new(library, units, &maker, parameters, resources, &mut |_| {})?;
    let mut all = Vec::new();
    while let Some(mut batch) = search.next_batch(&executor)? {
        all.append(&mut batch);
    }
    Ok(all)
}
