//! What techniques that compare signatures say of two documents, whether these are similar or not.

use super::combination::{Combination, TechniqueSpec};
use super::technique::Technique;
use crate::error::Result;
use crate::executor::{PlainThreads, Stop};
use crate::features::hash_sets::{HashSets, shared};
use crate::features::signatures::distinct;
use crate::features::tokens::Document;
use crate::files::NoFiles;
use crate::sketches::sign::Signer;
use crate::verify::overlap::SharedTokens;

/// What one technique says of two documents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    /// The technique.
    pub technique: TechniqueSpec,
    /// The similarity, below the threshold, too.
    pub similarity: f64,
    /// Whether the two are similar by it, and candidates where it finds some itself.
    pub agrees: bool,
    /// What is alike in them, out of how much: bits, supershingles, bands.
    pub alike: Option<(u32, u32)>,
}

/// What a combination says of two documents.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoDocuments {
    /// Each technique.
    pub said: Vec<Said>,
    /// The similarity by the rule, none where they are no pair.
    pub similarity: Option<f64>,
    /// The tokens of both and those they share, where sets are compared.
    pub sets: Option<SharedTokens>,
}

/// Compares two documents of a table of no sites; none where one has nothing to be compared by.
pub fn two_documents(
    combination: &Combination,
    documents: [&Document; 2],
    stop: &Stop,
) -> Result<Option<TwoDocuments>> {
    let (recipe, comparison) = combination.compile(false)?;
    let mut signer = Signer::new(&recipe);
    for (row, document) in (0..).zip(documents) {
        signer.add(row, document, stop)?;
    }
    if signer.signatures.len() < 2 {
        return Ok(None);
    }
    let mut sets = HashSets::new();
    sets.finish(vec![signer.sets], &NoFiles)?;
    let signatures = distinct(vec![signer.signatures], None, &PlainThreads(1))?;
    let (members, last) = (&signatures.left, signatures.len() as u32 - 1);
    // Of equal documents there is one signature.
    let at = |row: u32| if members.rows(0).contains(&row) { 0 } else { last };
    let (a, b) = (signatures.get(at(0)), signatures.get(at(1)));
    let compared = match comparison.needs_sets() {
        true => {
            let loaded = sets.load(&mut vec![0, 1])?;
            let (x, y) = (loaded.get(0), loaded.get(1));
            // No document has more tokens than 32 bits count.
            Some(SharedTokens { left: x.len() as u32, right: y.len() as u32, shared: shared(x, y) as u32 })
        }
        false => None,
    };
    let of_sets = || compared.unwrap_or_default();
    let said = combination.techniques.iter().zip(&comparison.techniques).map(|(spec, technique)| {
        let found = technique.finds(a, b, None) || matches!(technique, Technique::Sets(_));
        Said {
            technique: *spec,
            similarity: technique.measure(a, b, of_sets()),
            agrees: found && technique.similarity(a, b, Some(&of_sets)).is_some(),
            alike: technique.alike(a, b),
        }
    });
    let said = said.collect();
    let techniques = &comparison.techniques;
    let sources = comparison.rule.sources(techniques).unwrap_or_default();
    let similarity = (sources.iter().any(|&source| techniques[source].finds(a, b, None)))
        .then(|| comparison.rule.similarity(techniques, a, b, Some(&of_sets)))
        .flatten();
    Ok(Some(TwoDocuments { said, similarity, sets: compared }))
}
