//! Which documents of a segment may be similar to changed ones.

use super::outline::Outlines;
use super::segment::{Documents, decode, part_of};
use crate::candidates::bitmap::Bitmap;
use crate::candidates::bounds::{Bounds, Side};
use crate::candidates::popcount::{self, Scattered};
use crate::error::Result;
use crate::memory;
use crate::workers::{self, Stop, Workers};

const DOING: &str = "looking up changed documents";

/// Changed documents, ready to be looked up.
#[derive(Debug)]
pub struct Changed {
    bounds: Bounds,
    rows: Vec<u32>,
    sizes: Vec<u32>,
    bitmaps: Vec<u64>,
    words: usize,
    /// By size: it, the sizes of partners, and the least overlap with any of these.
    kinds: Vec<(u32, u32, u32, u32)>,
    /// The hash of a token in the upper half, and the place of a document that has it in its prefix; sorted.
    postings: Vec<u64>,
}

impl Changed {
    /// Puts outlines in order. The predicate must be the same in both directions.
    pub fn new(outlines: Outlines, words: usize, bounds: Bounds, workers: &dyn Workers) -> Result<Self> {
        let Outlines { rows, sizes, bitmaps, mut postings } = outlines;
        workers::one(workers, &mut postings, |postings, stop| {
            workers::sort_unstable_by(postings, stop, &u64::cmp)
        })?;
        let mut kinds = Vec::new();
        memory::reserve(&mut kinds, sizes.len(), DOING)?;
        let mut known = (0, 1, 0, 0);
        for &size in &sizes {
            if known.0 != size {
                let partners = bounds.partner_sizes(Side::Left, size, u32::MAX);
                known = partners.map_or((size, 1, 0, size), |partners| {
                    let (least, most) = (*partners.start(), *partners.end());
                    let prefix = bounds.prefix(Side::Left, size, least);
                    (size, least, most, size.saturating_add(1) - prefix)
                });
            }
            kinds.push(known);
        }
        Ok(Self { bounds, rows, sizes, bitmaps, words, kinds, postings })
    }

    /// Whether there is anything to look up.
    pub fn is_empty(&self) -> bool {
        self.postings.is_empty()
    }

    /// The parts of a segment of so many parts, a power of two, that have tokens of these.
    pub fn parts(&self, parts: usize) -> Result<Vec<u32>> {
        let bits = parts.trailing_zeros();
        let mut wanted: Vec<u32> = Vec::new();
        let mut rest = self.postings.as_slice();
        while let Some(&first) = rest.first() {
            let part = part_of(first, bits);
            memory::push(&mut wanted, part as u32, DOING)?;
            rest = &rest[rest.partition_point(|&posting| part_of(posting, bits) <= part)..];
        }
        Ok(wanted)
    }

    /// Adds the rows of those that may be similar to the only document of `outlines`.
    pub(super) fn near(&self, outlines: &Outlines, rows: &mut Vec<u32>) -> Result<()> {
        for &posting in &outlines.postings {
            let hash = posting >> u32::BITS;
            let from = self.postings.partition_point(|&own| own >> u32::BITS < hash);
            let here = self.postings[from..].iter().take_while(|&&own| own >> u32::BITS == hash);
            for &own in here {
                memory::push(rows, own as u32, DOING)?;
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let Outlines { sizes, bitmaps, .. } = outlines;
        rows.retain(|&place| {
            let place = place as usize;
            let ((size, least, most, overlap), other) = (self.kinds[place], sizes[0]);
            let own = &self.bitmaps[place * self.words..][..self.words];
            let differ: u32 = own.iter().zip(bitmaps).map(|(a, b)| (a ^ b).count_ones()).sum();
            let both = u64::from(size) + u64::from(other);
            let allows = |overlap: u32| u64::from(differ) + 2 * u64::from(overlap) <= both;
            // At first by the least overlap with anybody, which need not be searched for.
            (least..=most).contains(&other)
                && allows(overlap)
                && self.bounds.least_overlap(Side::Left, size, other).is_some_and(allows)
        });
        rows.iter_mut().for_each(|place| *place = self.rows[*place as usize]);
        Ok(())
    }

    /// Makes ready to look at a segment.
    pub fn against<'a>(&'a self, documents: &'a Documents) -> Result<Comparison<'a>> {
        let mut ranges = Vec::new();
        memory::reserve(&mut ranges, self.sizes.len(), DOING)?;
        for &(_, least, most, _) in &self.kinds {
            let range = documents.of_sizes(least, most);
            ranges.push((range.start, range.end));
        }
        Ok(Comparison { changed: self, documents, ranges })
    }
}

/// Changed documents beside a segment.
#[derive(Debug)]
pub struct Comparison<'a> {
    changed: &'a Changed,
    documents: &'a Documents,
    /// The places of documents that have the right sizes for each changed one.
    ranges: Vec<(u32, u32)>,
}

/// Places of a segment that were found.
#[derive(Debug, Default)]
pub struct Found {
    bits: Vec<u64>,
    places: Vec<u32>,
    near: Vec<u32>,
}

impl Found {
    /// None yet, of a segment of so many documents.
    pub fn new(documents: usize) -> Result<Self> {
        Ok(Self {
            bits: memory::filled(0, documents.div_ceil(64), DOING)?,
            places: Vec::new(),
            near: Vec::new(),
        })
    }

    /// All that anybody found, ascending.
    pub fn all(of: impl IntoIterator<Item = Self>) -> Vec<u32> {
        let mut bits: Vec<u64> = Vec::new();
        for found in of {
            if bits.is_empty() {
                bits = found.bits;
            } else {
                bits.iter_mut().zip(&found.bits).for_each(|(all, these)| *all |= these);
            }
        }
        let set = |(n, word): (usize, u64)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| (n * 64 + bit) as u32)
        };
        bits.into_iter().enumerate().flat_map(set).collect()
    }
}

impl Comparison<'_> {
    /// Adds the documents of a part that may be similar to a changed one: all that share a token of a part with one of
    /// these and are similar to it, and perhaps others.
    pub fn compare(&self, part: &[u8], found: &mut Found, stop: &Stop) -> Result<()> {
        match self.changed.words {
            1 => self.compare_words::<1>(part, found, stop),
            2 => self.compare_words::<2>(part, found, stop),
            4 => self.compare_words::<4>(part, found, stop),
            _ => self.compare_words::<8>(part, found, stop),
        }
    }

    fn compare_words<const W: usize>(&self, part: &[u8], found: &mut Found, stop: &Stop) -> Result<()> {
        let kernel = popcount::scattered::<W>();
        let own_bitmaps = self.changed.bitmaps.as_chunks::<W>().0;
        let bitmaps = self.documents.bitmaps.as_chunks::<W>().0;
        let mut rest = self.changed.postings.as_slice();
        let mut begun = false;
        let Found { bits, places, near } = found;
        decode(part, places, |hash, places| {
            if !begun {
                rest = &rest[rest.partition_point(|&posting| posting >> u32::BITS < u64::from(hash))..];
                begun = true;
            }
            while let [posting, after @ ..] = rest {
                let own = (posting >> u32::BITS) as u32;
                if own > hash {
                    break;
                }
                if own == hash {
                    stop.check()?;
                    let changed = *posting as u32 as usize;
                    self.one(changed, places, (kernel, &own_bitmaps[changed], bitmaps), near, bits);
                }
                rest = after;
            }
            Ok(())
        })
    }

    /// Compares a changed document with others, by places in ascending order.
    #[inline]
    fn one<const W: usize>(
        &self,
        changed: usize,
        places: &[u32],
        (kernel, bitmap, bitmaps): (Scattered<W>, &Bitmap<W>, &[Bitmap<W>]),
        near: &mut Vec<u32>,
        bits: &mut [u64],
    ) {
        let (start, end) = self.ranges[changed];
        let (size, _, _, overlap) = self.changed.kinds[changed];
        let sizes = self.documents.sizes.as_slice();
        let from = places.partition_point(|&place| place < start);
        let to = from + places[from..].partition_point(|&place| place < end);
        let allowed = |overlap: u32| i64::from(size) - 2 * i64::from(overlap);
        near.clear();
        // Before it is searched for, the least overlap with each is at least that with anybody.
        kernel(bitmap, (bitmaps, sizes), &places[from..to], allowed(overlap), near);
        let count = near.len();
        // Of the last size: they come by size.
        let (mut other, mut least) = (0, None);
        for n in 0..count {
            let place = near[n];
            let (word, bit) = (place as usize / 64, 1 << (place % 64));
            if bits[word] & bit != 0 {
                continue;
            }
            if other != sizes[place as usize] {
                other = sizes[place as usize];
                least = self.changed.bounds.least_overlap(Side::Left, size, other);
            }
            if let Some(least) = least {
                kernel(bitmap, (bitmaps, sizes), &[place], allowed(least), near);
                if near.len() > count {
                    bits[word] |= bit;
                    near.truncate(count);
                }
            }
        }
    }
}
