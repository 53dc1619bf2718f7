//! The results of all techniques of a combination for two given documents, which need not be
//! similar.

use super::combination::{Combination, TechniqueSpec};
use super::technique::Technique;
use crate::error::Result;
use crate::executor::{PlainThreads, Stop};
use crate::features::hash_sets::HashSets;
use crate::features::signatures::distinct;
use crate::features::tokens::Document;
use crate::sketches::sign::Signer;
use crate::verify::overlap::TokenOverlap;

/// The result of one technique for two documents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Said {
    /// The technique.
    pub technique: TechniqueSpec,
    /// The similarity, even if it is below the threshold.
    pub similarity: f64,
    /// True if the technique considers the two documents similar. If the technique finds candidates
    /// itself, it must also find the two as a candidate.
    pub agrees: bool,
    /// The number of parts that agree, and the number of all parts. A part is a bit, a supershingle
    /// or a band.
    pub alike: Option<(u32, u32)>,
}

/// The result of a combination for two documents.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoDocuments {
    /// The result of each technique.
    pub said: Vec<Said>,
    /// The similarity that the rule reports, or `None` if the rule does not accept the pair or no
    /// technique finds it as a candidate.
    pub similarity: Option<f64>,
    /// The numbers of tokens of both documents and of the tokens that they share, if sets are
    /// compared.
    pub sets: Option<TokenOverlap>,
}

/// Compares two documents of a table without sites. Returns `None` if one of them has nothing to
/// compare.
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
    let sets = HashSets::from_collectors(vec![signer.sets])?;
    let signatures = distinct(vec![signer.signatures], None, &PlainThreads(1))?;
    let (members, last) = (&signatures.left, signatures.len() as u32 - 1);
    // Equal documents have one common signature.
    let at = |row: u32| if members.rows(0).contains(&row) { 0 } else { last };
    let (a, b) = (signatures.get(at(0)), signatures.get(at(1)));
    let compared = comparison.needs_sets().then(|| TokenOverlap::of_sets(sets.get(0), sets.get(1)));
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
    let similarity = comparison.similarity(a, b, &of_sets);
    Ok(Some(TwoDocuments { said, similarity, sets: compared }))
}
