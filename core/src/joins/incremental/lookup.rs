//! Looks up the documents of a segment that may be similar to changed documents.

use super::changed::{Changed, DOING, PrefixToken, REQUIREMENTS, Requirements};
use super::partners::Candidates;
use super::segment::{SegmentDocuments, decode};
use crate::error::Result;
use crate::executor::Stop;
use crate::joins::sets::bitmap::Bitmap;
use crate::joins::sets::bounds::PairSide;
use crate::memory;
use crate::simd::popcount::{self, Scattered};

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
