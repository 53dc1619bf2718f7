//! The result of a lookup in a segment: pairs or, if there are too many pairs, only the places of
//! documents in the segment.

use super::changed::{Changed, DOING};
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::memory;
use crate::storage::rows::Ragged;

/// Documents of a segment that may be similar to changed documents.
#[derive(Debug, Default)]
pub struct Candidates {
    /// Pairs of documents. The upper half of a number is the place of a document in the segment,
    /// and the lower half is the changed document. Some pairs occur twice.
    pairs: Vec<u64>,
    /// A bit for each place, once there are too many pairs to keep.
    bits: Vec<u64>,
    documents: usize,
    most: usize,
    pub(crate) places: Vec<u32>,
    pub(crate) near: Vec<u32>,
}

impl Candidates {
    /// Starts without candidates for a segment of `documents` documents. Pairs take at most `most`
    /// bytes.
    pub fn new(documents: usize, most: usize) -> Self {
        let most = most / size_of::<u64>();
        Self { documents, most, ..Self::default() }
    }

    pub(crate) fn has(&self, place: u32) -> bool {
        self.bits.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    pub(crate) fn add(&mut self, place: u32, document: u32) -> Result<()> {
        if self.bits.is_empty() && self.pairs.len() < self.most {
            let pair = u64::from(place) << u32::BITS | u64::from(document);
            return memory::push(&mut self.pairs, pair, DOING);
        }
        self.forget_pairs()?;
        self.bits[place as usize / 64] |= 1 << (place % 64);
        Ok(())
    }

    /// Keeps only the places and discards the pairs.
    fn forget_pairs(&mut self) -> Result<()> {
        if self.bits.is_empty() {
            self.bits = memory::filled(0, self.documents.div_ceil(64), DOING)?;
        }
        for pair in std::mem::take(&mut self.pairs) {
            let place = (pair >> u32::BITS) as usize;
            self.bits[place / 64] |= 1 << (place % 64);
        }
        Ok(())
    }
}

/// For each document of a sequence, the rows of the changed documents that it may be similar to; or
/// `None` if these rows are not known.
#[derive(Debug)]
pub struct SegmentPartners(Option<Ragged<u32>>);

impl Default for SegmentPartners {
    /// Returns the partners of no documents.
    fn default() -> Self {
        Self(Some(Ragged::default()))
    }
}

impl SegmentPartners {
    /// Adds the partners of the next document. If they are not known, the partners of all documents
    /// are discarded.
    pub fn push(&mut self, rows: Option<&[u32]>) -> Result<()> {
        if let (Some(known), Some(rows)) = (&mut self.0, rows) {
            return known.push(rows, DOING);
        }
        self.0 = None;
        Ok(())
    }

    /// Returns the partners of the `n`-th document, if they are known.
    pub fn for_document(&self, n: usize) -> Option<&[u32]> {
        self.0.as_ref().map(|known| known.get(n))
    }
}

/// Merges the results for a segment. Returns the places of the documents that were found, in
/// ascending order, and the partners of each of them.
pub fn together(
    mut found: Vec<Candidates>,
    changed: &Changed,
    executor: &dyn Executor,
) -> Result<(Vec<u32>, SegmentPartners)> {
    let (mut places, mut partners) = (Vec::new(), SegmentPartners::default());
    if found.iter().any(|found| !found.bits.is_empty()) {
        found.iter_mut().try_for_each(Candidates::forget_pairs)?;
        for n in 0..found[0].bits.len() {
            let word = found.iter().fold(0, |word, found| word | found.bits[n]);
            for bit in (0..64).filter(|bit| word >> bit & 1 == 1) {
                memory::push(&mut places, (n * 64 + bit) as u32, DOING)?;
            }
        }
        partners.push(None)?;
        return Ok((places, partners));
    }
    let mut pairs = Vec::new();
    for found in found {
        memory::extend(&mut pairs, &found.pairs, DOING)?;
    }
    executor::one(executor, &mut pairs, |pairs, stop| executor::sort_unstable_by(pairs, stop, &u64::cmp))?;
    pairs.dedup();
    let mut rows = Vec::new();
    for same in pairs.chunk_by(|a, b| a >> u32::BITS == b >> u32::BITS) {
        memory::push(&mut places, (same[0] >> u32::BITS) as u32, DOING)?;
        rows.clear();
        memory::reserve(&mut rows, same.len(), DOING)?;
        rows.extend(same.iter().map(|&pair| changed.rows[pair as u32 as usize]));
        partners.push(Some(&rows))?;
    }
    Ok((places, partners))
}
