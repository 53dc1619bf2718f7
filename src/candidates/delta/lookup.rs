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

/// Kinds of partners, by size, that a document has bounds for.
const KINDS: usize = 8;

/// A token of a changed document's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Posting {
    hash: u32,
    document: u32,
    /// The token's place among those of the document, or a lesser one.
    position: u32,
}

/// What a document needs of partners, which is more the larger they are.
#[derive(Debug, Clone, Copy, Default)]
struct Kind {
    /// The least size of these partners.
    size: u32,
    /// The least overlap with any of them, or larger ones.
    overlap: u32,
}

/// Documents of one size.
#[derive(Debug, Clone, Copy)]
struct Needs {
    size: u32,
    /// The most that a partner has.
    most: u32,
    kinds: [Kind; KINDS],
}

impl Needs {
    fn new(size: u32, bounds: &Bounds) -> Self {
        let mut kinds = [Kind { size: 1, overlap: size.saturating_add(1) }; KINDS];
        let Some(partners) = bounds.partner_sizes(Side::Left, size, u32::MAX) else {
            return Self { size, most: 0, kinds };
        };
        let (least, most) = (*partners.start(), *partners.end());
        // Kinds up to a size that is by as much larger as the least one is smaller are of equal width.
        let width = (size - least.min(size)) / (KINDS as u32 / 2) + 1;
        let mut from = least;
        for kind in &mut kinds {
            *kind =
                Kind { size: from, overlap: size.saturating_add(1) - bounds.prefix(Side::Left, size, from) };
            from = from.saturating_add(width).min(most);
        }
        Self { size, most, kinds }
    }
}

/// Changed documents, ready to be looked up.
#[derive(Debug)]
pub struct Changed {
    bounds: Bounds,
    rows: Vec<u32>,
    bitmaps: Vec<u64>,
    words: usize,
    /// By document.
    needs: Vec<Needs>,
    /// Sorted.
    postings: Vec<Posting>,
    /// Where the postings begin whose hashes begin with these bits, and where the last ones end.
    starts: Vec<u32>,
    bits: u32,
}

impl Changed {
    /// Puts outlines in order. The predicate must be the same in both directions.
    pub fn new(outlines: Outlines, words: usize, bounds: Bounds, workers: &dyn Workers) -> Result<Self> {
        const MOST_BITS: u32 = 20;
        let Outlines { rows, sizes, bitmaps, postings: old } = outlines;
        let mut postings = Vec::new();
        memory::reserve(&mut postings, old.len(), DOING)?;
        // Those of a document stand together, and in the order of tokens.
        let (mut before, mut position) = (None, 0);
        for posting in old {
            let (hash, document) = ((posting >> u32::BITS) as u32, posting as u32);
            position = if before == Some(document) { position + 1 } else { 0 };
            before = Some(document);
            postings.push(Posting { hash, document, position });
        }
        workers::one(workers, &mut postings, |postings, stop| {
            workers::sort_unstable_by(postings, stop, &Posting::cmp)
        })?;
        let bits = postings.len().max(1).ilog2().clamp(1, MOST_BITS);
        let mut starts = memory::filled(0, (1 << bits) + 1, DOING)?;
        for posting in &postings {
            starts[(posting.hash >> (u32::BITS - bits)) as usize + 1] += 1;
        }
        (1..starts.len()).for_each(|n| starts[n] += starts[n - 1]);
        let mut needs: Vec<Needs> = Vec::new();
        memory::reserve(&mut needs, sizes.len(), DOING)?;
        for &size in &sizes {
            let known = needs.last().filter(|known| known.size == size).copied();
            needs.push(known.unwrap_or_else(|| Needs::new(size, &bounds)));
        }
        Ok(Self { bounds, rows, bitmaps, words, needs, postings, starts, bits })
    }

    /// Whether there is anything to look up.
    pub fn is_empty(&self) -> bool {
        self.postings.is_empty()
    }

    /// The parts of a segment of so many parts, a power of two, that have tokens of these.
    pub fn parts(&self, parts: usize) -> Result<Vec<u32>> {
        let bits = parts.trailing_zeros();
        let part = |posting: &Posting| part_of(u64::from(posting.hash) << u32::BITS, bits);
        let mut wanted: Vec<u32> = Vec::new();
        let mut rest = self.postings.as_slice();
        while let Some(first) = rest.first() {
            let first = part(first);
            memory::push(&mut wanted, first as u32, DOING)?;
            rest = &rest[rest.partition_point(|posting| part(posting) <= first)..];
        }
        Ok(wanted)
    }

    /// The postings of a token.
    fn of(&self, hash: u32) -> impl Iterator<Item = &Posting> {
        let start = self.starts[(hash >> (u32::BITS - self.bits)) as usize] as usize;
        let from = self.postings[start..].iter().skip_while(move |posting| posting.hash < hash);
        from.take_while(move |posting| posting.hash == hash)
    }

    /// Adds the rows of those that may be similar to the only document of `outlines`.
    pub(super) fn near(&self, outlines: &Outlines, rows: &mut Vec<u32>) -> Result<()> {
        for &posting in &outlines.postings {
            for own in self.of((posting >> u32::BITS) as u32) {
                memory::push(rows, own.document, DOING)?;
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let Outlines { sizes, bitmaps, .. } = outlines;
        rows.retain(|&place| {
            let place = place as usize;
            let (&Needs { size, most, ref kinds }, other) = (&self.needs[place], sizes[0]);
            let own = &self.bitmaps[place * self.words..][..self.words];
            let differ: u32 = own.iter().zip(bitmaps).map(|(a, b)| (a ^ b).count_ones()).sum();
            let both = u64::from(size) + u64::from(other);
            let allows = |overlap: u32| u64::from(differ) + 2 * u64::from(overlap) <= both;
            // At first by the least overlap with anybody, which need not be searched for.
            (kinds[0].size..=most).contains(&other)
                && allows(kinds[0].overlap)
                && self.bounds.least_overlap(Side::Left, size, other).is_some_and(allows)
        });
        rows.iter_mut().for_each(|place| *place = self.rows[*place as usize]);
        Ok(())
    }

    /// Makes ready to look at a segment.
    pub fn against<'a>(&'a self, documents: &'a Documents) -> Result<Comparison<'a>> {
        let mut places: Vec<[u32; KINDS + 1]> = Vec::new();
        memory::reserve(&mut places, self.needs.len(), DOING)?;
        for (n, needs) in self.needs.iter().enumerate() {
            let known = n.checked_sub(1).filter(|&before| self.needs[before].size == needs.size);
            places.push(known.map_or_else(
                || {
                    let mut starts = [documents.from_size(needs.most.saturating_add(1)); KINDS + 1];
                    for (start, kind) in starts.iter_mut().zip(&needs.kinds) {
                        *start = documents.from_size(kind.size).min(*start);
                    }
                    starts
                },
                |before| places[before],
            ));
        }
        Ok(Comparison { changed: self, documents, places })
    }
}

/// Changed documents beside a segment.
#[derive(Debug)]
pub struct Comparison<'a> {
    changed: &'a Changed,
    documents: &'a Documents,
    /// For each changed document the places where partners of each kind begin, and where the last ones end.
    places: Vec<[u32; KINDS + 1]>,
}

/// Documents of a segment that may be similar to changed ones.
#[derive(Debug, Default)]
pub struct Found {
    /// The place in the segment in the upper half, the changed document in the lower; some stand there twice.
    pairs: Vec<u64>,
    /// By place, once pairs are too many to be kept.
    bits: Vec<u64>,
    documents: usize,
    most: usize,
    places: Vec<u32>,
    near: Vec<u32>,
}

impl Found {
    /// None yet, of a segment of so many documents; pairs take at most so many bytes.
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

    /// Keeps only which places were found.
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

/// The rows of changed documents that each of some others may be similar to, or that this is not known.
#[derive(Debug)]
pub struct Partners {
    /// Where those of each end.
    ends: Option<Vec<usize>>,
    rows: Vec<u32>,
}

impl Default for Partners {
    /// Of none.
    fn default() -> Self {
        Self { ends: Some(Vec::new()), rows: Vec::new() }
    }
}

impl Partners {
    /// Adds those of the next document. Where they are not known, those of all are forgotten.
    pub fn push(&mut self, rows: Option<&[u32]>) -> Result<()> {
        if let (Some(ends), Some(rows)) = (&mut self.ends, rows) {
            memory::extend(&mut self.rows, rows, DOING)?;
            memory::push(ends, self.rows.len(), DOING)
        } else {
            (self.ends, self.rows) = (None, Vec::new());
            Ok(())
        }
    }

    /// Those of the `n`-th document, if they are known.
    pub fn of(&self, n: usize) -> Option<&[u32]> {
        let ends = self.ends.as_ref()?;
        let start = n.checked_sub(1).map_or(0, |before| ends[before]);
        Some(&self.rows[start..ends[n]])
    }
}

/// Puts together what was found in a segment: the places, ascending, and the partners of each.
pub fn together(
    mut found: Vec<Found>,
    changed: &Changed,
    workers: &dyn Workers,
) -> Result<(Vec<u32>, Partners)> {
    let (mut places, mut partners) = (Vec::new(), Partners::default());
    if found.iter().any(|found| !found.bits.is_empty()) {
        found.iter_mut().try_for_each(Found::forget_pairs)?;
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
    workers::one(workers, &mut pairs, |pairs, stop| workers::sort_unstable_by(pairs, stop, &u64::cmp))?;
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
        let mut places = std::mem::take(&mut found.places);
        let done = decode(part, &mut places, |hash, places| {
            if !begun {
                rest = &rest[rest.partition_point(|posting| posting.hash < hash)..];
                begun = true;
            }
            while let [posting, after @ ..] = rest {
                if posting.hash > hash {
                    break;
                }
                if posting.hash == hash {
                    stop.check()?;
                    let bitmap = &own_bitmaps[posting.document as usize];
                    self.one(posting, places, (kernel, bitmap, bitmaps), found)?;
                }
                rest = after;
            }
            Ok(())
        });
        found.places = places;
        done
    }

    /// Compares a changed document with others that have a token of its prefix, by places in ascending order.
    #[inline]
    fn one<const W: usize>(
        &self,
        &Posting { document, position, .. }: &Posting,
        mut places: &[u32],
        (kernel, bitmap, bitmaps): (Scattered<W>, &Bitmap<W>, &[Bitmap<W>]),
        found: &mut Found,
    ) -> Result<()> {
        let &Needs { size, ref kinds, .. } = &self.changed.needs[document as usize];
        let starts = &self.places[document as usize];
        let sizes = self.documents.sizes.as_slice();
        let allowed = |overlap: u32| i64::from(size) - 2 * i64::from(overlap);
        places = &places[places.partition_point(|&place| place < starts[0])..];
        let mut near = std::mem::take(&mut found.near);
        near.clear();
        for (kind, &end) in kinds.iter().zip(&starts[1..]) {
            // A set that shares so many tokens shares one of the first few; the larger it is, the fewer are these.
            if places.is_empty() || kind.overlap.saturating_add(position) > size {
                break;
            }
            let here;
            (here, places) = places.split_at(places.partition_point(|&place| place < end));
            kernel(bitmap, (bitmaps, sizes), here, allowed(kind.overlap), &mut near);
        }
        let count = near.len();
        for n in 0..count {
            let place = near[n];
            if found.has(place) {
                continue;
            }
            if let Some(least) = self.changed.bounds.least_overlap(Side::Left, size, sizes[place as usize]) {
                kernel(bitmap, (bitmaps, sizes), &[place], allowed(least), &mut near);
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
