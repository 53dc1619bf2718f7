//! Changed documents, and what they require of others.

use super::digest::Digests;
use super::segment::part_of;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::joins::sets::bounds::{Bounds, Side};
use crate::memory;

pub(crate) const DOING: &str = "looking up changed documents";

/// How many sizes of partners a document has bounds for.
pub(crate) const REQUIREMENTS: usize = 8;

/// A token of a changed document's prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PrefixToken {
    pub hash: u32,
    pub document: u32,
    /// The token's place among those of the document, or a smaller one.
    pub position: u32,
}

/// What a document requires of partners of some size and more; of larger ones it is more.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Requirement {
    /// The least size of these partners.
    pub size: u32,
    /// The least overlap with any of them, or larger ones.
    pub overlap: u32,
}

/// What documents of one size require of their partners.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requirements {
    pub size: u32,
    /// The most that a partner has.
    pub most: u32,
    pub by_size: [Requirement; REQUIREMENTS],
}

impl Requirements {
    fn new(size: u32, bounds: &Bounds) -> Self {
        let mut by_size = [Requirement { size: 1, overlap: size.saturating_add(1) }; REQUIREMENTS];
        let Some(partners) = bounds.partner_sizes(Side::Left, size, u32::MAX) else {
            return Self { size, most: 0, by_size };
        };
        let (least, most) = (*partners.start(), *partners.end());
        // Steps up to a size that is by as much larger as the least one is smaller are of equal width.
        let width = (size - least.min(size)) / (REQUIREMENTS as u32 / 2) + 1;
        let mut from = least;
        for requirement in &mut by_size {
            *requirement = Requirement {
                size: from,
                overlap: size.saturating_add(1) - bounds.prefix(Side::Left, size, from),
            };
            from = from.saturating_add(width).min(most);
        }
        Self { size, most, by_size }
    }
}

/// Changed documents, ready to be looked up.
#[derive(Debug)]
pub struct Changed {
    pub(crate) bounds: Bounds,
    /// The row of each.
    pub(crate) rows: Vec<u32>,
    pub(crate) bitmaps: Vec<u64>,
    /// Words of a bitmap.
    pub(crate) words: usize,
    /// By document.
    pub(crate) requirements: Vec<Requirements>,
    /// Sorted.
    pub(crate) postings: Vec<PrefixToken>,
    /// Where the postings begin whose hashes begin with these bits, and where the last ones end.
    starts: Vec<usize>,
    bits: u32,
}

impl Changed {
    /// Puts digests in order. The predicate must be the same in both directions.
    pub fn new(digests: Digests, words: usize, bounds: Bounds, executor: &dyn Executor) -> Result<Self> {
        const MOST_BITS: u32 = 20;
        let Digests { rows, sizes, bitmaps, postings: old } = digests;
        let mut postings = Vec::new();
        memory::reserve(&mut postings, old.len(), DOING)?;
        // Those of a document stand together, and in the order of tokens.
        let (mut before, mut position) = (None, 0);
        for posting in old {
            let (hash, document) = ((posting >> u32::BITS) as u32, posting as u32);
            position = if before == Some(document) { position + 1 } else { 0 };
            before = Some(document);
            postings.push(PrefixToken { hash, document, position });
        }
        executor::one(executor, &mut postings, |postings, stop| {
            executor::sort_unstable_by(postings, stop, &PrefixToken::cmp)
        })?;
        let bits = postings.len().max(1).ilog2().clamp(1, MOST_BITS);
        let first_bits = |posting: &PrefixToken| (posting.hash >> (u32::BITS - bits)) as usize;
        let starts = starts(1 << bits, postings.iter().map(first_bits))?;
        let mut requirements: Vec<Requirements> = Vec::new();
        memory::reserve(&mut requirements, sizes.len(), DOING)?;
        for &size in &sizes {
            let known = requirements.last().filter(|known| known.size == size).copied();
            requirements.push(known.unwrap_or_else(|| Requirements::new(size, &bounds)));
        }
        Ok(Self { bounds, rows, bitmaps, words, requirements, postings, starts, bits })
    }

    /// Whether there is anything to look up.
    pub fn is_empty(&self) -> bool {
        self.postings.is_empty()
    }

    /// Which of the `parts` parts of a segment, a power of two, have tokens of these.
    pub fn parts(&self, parts: usize) -> Result<Vec<u32>> {
        let bits = parts.trailing_zeros();
        let part = |posting: &PrefixToken| part_of(u64::from(posting.hash) << u32::BITS, bits);
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
    fn of(&self, hash: u32) -> impl Iterator<Item = &PrefixToken> {
        let start = self.starts[(hash >> (u32::BITS - self.bits)) as usize];
        let from = self.postings[start..].iter().skip_while(move |posting| posting.hash < hash);
        from.take_while(move |posting| posting.hash == hash)
    }

    /// Adds the rows of those that may be similar to the only document of `digests`.
    pub(crate) fn near(&self, digests: &Digests, rows: &mut Vec<u32>) -> Result<()> {
        for &posting in &digests.postings {
            for own in self.of((posting >> u32::BITS) as u32) {
                memory::push(rows, own.document, DOING)?;
            }
        }
        rows.sort_unstable();
        rows.dedup();
        let Digests { sizes, bitmaps, .. } = digests;
        rows.retain(|&place| {
            let place = place as usize;
            let (&Requirements { size, most, ref by_size }, other) = (&self.requirements[place], sizes[0]);
            let own = &self.bitmaps[place * self.words..][..self.words];
            let differ: u32 = own.iter().zip(bitmaps).map(|(a, b)| (a ^ b).count_ones()).sum();
            let both = u64::from(size) + u64::from(other);
            let allows = |overlap: u32| u64::from(differ) + 2 * u64::from(overlap) <= both;
            // At first by the least overlap with any partner, which need not be searched for.
            (by_size[0].size..=most).contains(&other)
                && allows(by_size[0].overlap)
                && self.bounds.least_overlap(Side::Left, size, other).is_some_and(allows)
        });
        rows.iter_mut().for_each(|place| *place = self.rows[*place as usize]);
        Ok(())
    }
}

/// Where each bucket begins, if items are put in the order of buckets, and where the last one ends; `of` is the bucket
/// of each item.
fn starts(buckets: usize, of: impl Iterator<Item = usize>) -> Result<Vec<usize>> {
    let mut starts = memory::filled(0, buckets + 1, DOING)?;
    of.for_each(|bucket| starts[bucket + 1] += 1);
    (1..starts.len()).for_each(|bucket| starts[bucket] += starts[bucket - 1]);
    Ok(starts)
}
