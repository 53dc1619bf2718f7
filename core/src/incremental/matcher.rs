//! Keeps changed documents in memory, and compares other documents with them exactly, one after the
//! other as they are read.

use super::changed::Changed;
use super::digest::{Digester, OutlineOrder};
use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::sets::exact::TokenSets;
use crate::features::tokens::Document;
use crate::joins::sets::bounds::Bounds;
use crate::memory;
use crate::verify::predicate::Predicate;

const DOING: &str = "comparing changed documents";

/// Changed documents that other documents are compared with.
#[derive(Debug)]
pub struct Matcher {
    changed: Changed,
    /// The sets, in parts.
    sets: Vec<TokenSets>,
    /// The part of each row's set, and the position of the set in this part.
    places: Vec<(u32, u32)>,
    order: OutlineOrder,
    spec: FeatureSpec,
    predicate: Predicate,
}

/// Scratch space that is reused between comparisons, and the matches found.
#[derive(Debug, Default)]
pub struct Matches {
    digester: Digester,
    set: TokenSets,
    candidates: Vec<u32>,
    /// The matches: a row of another document, a row of a changed document, and their similarity.
    pub found: Vec<(u32, u32, f64)>,
}

impl Matcher {
    /// Prepares the comparison. `sets` contains the set of each changed document.
    pub fn new(
        changed: Changed,
        sets: Vec<TokenSets>,
        order: OutlineOrder,
        spec: FeatureSpec,
        predicate: Predicate,
    ) -> Result<Self> {
        let most = sets.iter().flat_map(TokenSets::rows).max().map_or(0, |&row| row as usize + 1);
        let mut places = memory::filled((0, 0), most, DOING)?;
        for (part, sets) in (0..).zip(&sets) {
            (0..).zip(sets.rows()).for_each(|(n, &row)| places[row as usize] = (part, n));
        }
        Ok(Self { changed, sets, places, order, spec, predicate })
    }

    /// Adds the changed documents that are similar to a document. If `partners` is given, only the
    /// changed documents with these rows are compared.
    pub fn find(
        &self,
        row: u32,
        document: &Document,
        partners: Option<&[u32]>,
        matches: &mut Matches,
        stop: &Stop,
    ) -> Result<()> {
        let Matches { digester, set, candidates, found } = matches;
        set.clear();
        set.add(row, document, &self.spec, stop)?;
        let partners = match partners {
            Some(partners) => partners,
            None => {
                self.candidates(row, set.last(), digester, candidates)?;
                candidates
            }
        };
        self.check(row, set, 0, partners, found, stop)
    }

    /// Returns the number of parts of the changed documents.
    pub fn parts(&self) -> usize {
        self.sets.len()
    }

    /// Adds the similar pairs of two changed documents whose first document is in a part, after the
    /// part's first `done` documents. Over all parts, each pair is added in both directions, and
    /// each document is paired with itself. Returns early when there are many pairs, and reports
    /// whether the end of the part was reached.
    pub fn find_among(
        &self,
        part: usize,
        done: &mut usize,
        matches: &mut Matches,
        stop: &Stop,
    ) -> Result<bool> {
        const MANY: usize = 1 << 16;
        let Matches { digester, candidates, found, .. } = matches;
        let sets = &self.sets[part];
        while let Some(&row) = sets.rows().get(*done) {
            stop.check()?;
            if found.len() >= MANY {
                return Ok(false);
            }
            self.candidates(row, sets.hashes(*done), digester, candidates)?;
            self.check(row, sets, *done, candidates, found, stop)?;
            *done += 1;
        }
        Ok(true)
    }

    /// Finds the changed documents that may be similar to a document with these hashes.
    fn candidates(
        &self,
        row: u32,
        hashes: &[u64],
        digester: &mut Digester,
        candidates: &mut Vec<u32>,
    ) -> Result<()> {
        digester.digests.clear();
        digester.add_hashes(row, hashes, &self.order, &Bounds::new(self.predicate))?;
        candidates.clear();
        self.changed.near(&digester.digests, candidates)
    }

    /// Adds the candidates that are similar.
    fn check(
        &self,
        row: u32,
        sets: &TokenSets,
        set: usize,
        candidates: &[u32],
        found: &mut Vec<(u32, u32, f64)>,
        stop: &Stop,
    ) -> Result<()> {
        memory::reserve(found, candidates.len(), DOING)?;
        for &changed in candidates {
            let (part, place) = self.places[changed as usize];
            let [shared, size, other] = self.sets[part as usize].counts(place as usize, sets, set, stop)?;
            if self.predicate.passes(shared, size, other) {
                found.push((row, changed, self.predicate.similarity(shared, size, other)));
            }
        }
        Ok(())
    }
}
