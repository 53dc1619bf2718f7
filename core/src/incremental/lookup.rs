//! Looks up the documents of a segment that may be similar to changed documents. The result are
//! pairs or, if there are too many pairs, only the places of documents in the segment.

use super::changed::{Changed, DOING, PrefixToken, REQUIREMENTS, Requirements};
use super::segment::{SegmentDocuments, decode};
use crate::error::Result;
use crate::executor::{self, Executor, Stop};
use crate::joins::sets::bitmap::Bitmap;
use crate::joins::sets::bounds::PairSide;
use crate::memory;
use crate::simd::popcount::{self, Scattered};
use crate::storage::rows::Ragged;

/// Changed documents together with a segment.
#[derive(Debug)]
pub struct SegmentLookup<'a> {
    changed: &'a Changed,
    documents: &'a SegmentDocuments,
    /// For each changed document, the place in the segment at which each size range of its partners
    /// begins, followed by the place at which the last range ends.
    places: Vec<[u32; REQUIREMENTS + 1]>,
}

impl<'a> SegmentLookup<'a> {
    /// Prepares the lookup in a segment.
    pub fn new(changed: &'a Changed, documents: &'a SegmentDocuments) -> Result<Self> {
        let mut places: Vec<[u32; REQUIREMENTS + 1]> = Vec::new();
        memory::reserve(&mut places, changed.requirements.len(), DOING)?;
        for (n, of_size) in changed.requirements.iter().enumerate() {
            let known = n.checked_sub(1).filter(|&before| changed.requirements[before].size == of_size.size);
            places.push(known.map_or_else(
                || {
                    let mut starts =
                        [documents.first_of_size(of_size.most.saturating_add(1)); REQUIREMENTS + 1];
                    for (start, requirement) in starts.iter_mut().zip(&of_size.by_size) {
                        *start = documents.first_of_size(requirement.size).min(*start);
                    }
                    starts
                },
                |before| places[before],
            ));
        }
        Ok(Self { changed, documents, places })
    }

    /// Adds the documents that may be similar to a changed document. These are all documents that
    /// share a token of this part with a changed document and are similar to it, and perhaps some
    /// that are not similar.
    pub fn compare(&self, part: &[u8], found: &mut Candidates, stop: &Stop) -> Result<()> {
        match self.changed.words {
            1 => self.compare_words::<1>(part, found, stop),
            2 => self.compare_words::<2>(part, found, stop),
            4 => self.compare_words::<4>(part, found, stop),
            _ => self.compare_words::<8>(part, found, stop),
        }
    }

    fn compare_words<const W: usize>(&self, part: &[u8], found: &mut Candidates, stop: &Stop) -> Result<()> {
        const LOOK_EVERY: u32 = 1 << 16;
        let kernel = popcount::scattered::<W>();
        let own_bitmaps = self.changed.bitmaps.as_chunks::<W>().0;
        let mut rest = self.changed.postings.as_slice();
        let (mut begun, mut hashes) = (false, 0u32);
        let mut places = std::mem::take(&mut found.places);
        let done = decode(part, self.documents.sizes.len(), |hash, list| {
            hashes = hashes.wrapping_add(1);
            if hashes.is_multiple_of(LOOK_EVERY) {
                stop.check()?;
            }
            if !begun {
                rest = &rest[rest.partition_point(|posting| posting.hash < hash)..];
                begun = true;
            }
            // Most hashes occur in no changed document, so their lists need not be read.
            let mut unread = Some(list);
            while let [posting, after @ ..] = rest {
                if posting.hash > hash {
                    break;
                }
                if posting.hash == hash {
                    stop.check()?;
                    if let Some(list) = unread.take() {
                        list.read(&mut places)?;
                    }
                    let bitmap = &own_bitmaps[posting.document as usize];
                    self.one(posting, &places, kernel, bitmap, found)?;
                }
                rest = after;
            }
            Ok(())
        });
        found.places = places;
        done
    }

    /// Compares a changed document with the documents at `places`, which share a token of its
    /// prefix. The places are in ascending order.
    #[inline]
    fn one<const W: usize>(
        &self,
        &PrefixToken { document, position, .. }: &PrefixToken,
        mut places: &[u32],
        kernel: Scattered<W>,
        own: &Bitmap<W>,
        found: &mut Candidates,
    ) -> Result<()> {
        let &Requirements { size, ref by_size, .. } = &self.changed.requirements[document as usize];
        let starts = &self.places[document as usize];
        let bitmaps = self.documents.bitmaps.as_chunks::<W>().0;
        let sizes = self.documents.sizes.as_slice();
        let allowed = |overlap: u32| i64::from(size) - 2 * i64::from(overlap);
        places = &places[places.partition_point(|&place| place < starts[0])..];
        let mut near = std::mem::take(&mut found.near);
        near.clear();
        for (requirement, &end) in by_size.iter().zip(&starts[1..]) {
            // A set of this size range that shares the required number of tokens also shares one of
            // the first few tokens of the changed document. The larger the set, the fewer tokens
            // these are.
            if places.is_empty() || requirement.overlap.saturating_add(position) > size {
                break;
            }
            let here;
            (here, places) = places.split_at(places.partition_point(|&place| place < end));
            kernel(own, bitmaps, sizes, here, allowed(requirement.overlap), &mut near);
        }
        let count = near.len();
        for n in 0..count {
            let place = near[n];
            if found.has(place) {
                continue;
            }
            if let Some(least) =
                self.changed.bounds.least_overlap(PairSide::Left, size, sizes[place as usize])
            {
                kernel(own, bitmaps, sizes, &[place], allowed(least), &mut near);
                if near.len() > count {
                    near.truncate(count);
                    found.add(place, document)?;
                }
            }
        }
        found.near = near;
        Ok(())
    }
}

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
    places: Vec<u32>,
    near: Vec<u32>,
}

impl Candidates {
    /// Starts without candidates for a segment of `documents` documents. Pairs take at most `most`
    /// bytes.
    pub fn new(documents: usize, most: usize) -> Self {
        let most = most / size_of::<u64>();
        Self { documents, most, ..Self::default() }
    }

    fn has(&self, place: u32) -> bool {
        self.bits.get(place as usize / 64).is_some_and(|word| word >> (place % 64) & 1 == 1)
    }

    fn add(&mut self, place: u32, document: u32) -> Result<()> {
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
