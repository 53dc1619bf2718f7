//! Changed documents, and their requirements on partners.

use super::digest::Digests;
use super::segment::part_of;
use crate::error::Result;
use crate::executor::{self, Executor};
use crate::joins::sets::bounds::{Bounds, PairSide};
use crate::memory;
use crate::storage::rows::starts;

pub(crate) const DOING: &str = "looking up changed documents";

/// The number of size ranges of partners for which a document has bounds.
pub(crate) const REQUIREMENTS: usize = 8;

/// A token in the prefix of a changed document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PrefixToken {
    pub hash: u32,
    pub document: u32,
    /// The position of the token among the tokens of the document, or a smaller position.
    pub position: u32,
}

/// The requirement of a document on partners of at least a given size. The least overlap grows with
/// this size.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Requirement {
    /// The least size of these partners.
    pub size: u32,
    /// The least overlap with any of these partners.
    pub overlap: u32,
}

/// The requirements of documents of one size on their partners.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Requirements {
    pub size: u32,
    /// The greatest size of a partner.
    pub most: u32,
    pub by_size: [Requirement; REQUIREMENTS],
}

impl Requirements {
    fn new(size: u32, bounds: &Bounds) -> Self {
        let mut by_size = [Requirement { size: 1, overlap: size.saturating_add(1) }; REQUIREMENTS];
        let Some(partners) = bounds.partner_sizes(PairSide::Left, size, u32::MAX) else {
            return Self { size, most: 0, by_size };
        };
        let (least, most) = (*partners.start(), *partners.end());
        // The size ranges are equally wide, up to a size that is as far above `size` as the least
        // size of a partner is below it.
        let width = (size - least.min(size)) / (REQUIREMENTS as u32 / 2) + 1;
        let mut from = least;
        for requirement in &mut by_size {
            *requirement = Requirement {
                size: from,
                overlap: size.saturating_add(1) - bounds.prefix(PairSide::Left, size, from),
            };
            from = from.saturating_add(width).min(most);
        }
        Self { size, most, by_size }
    }
}

/// Changed documents, ready for lookups.
#[derive(Debug)]
pub struct Changed {
    pub(crate) bounds: Bounds,
    /// The row of each document.
    pub(crate) rows: Vec<u32>,
    pub(crate) bitmaps: Vec<u64>,
    /// The number of words of a bitmap.
    pub(crate) words: usize,
    /// The requirements of each document.
    pub(crate) requirements: Vec<Requirements>,
    /// The postings, in sorted order.
    pub(crate) postings: Vec<PrefixToken>,
    /// The start of the postings for each value of the first bits of the hashes, followed by the
    /// number of postings.
    starts: Vec<usize>,
    bits: u32,
}

impl Changed {
    /// Sorts digests. The predicate must be symmetric.
    pub fn new(digests: Digests, words: usize, bounds: Bounds, executor: &dyn Executor) -> Result<Self> {
        const MOST_BITS: u32 = 20;
        let Digests { rows, sizes, bitmaps, postings: old } = digests;
        let mut postings = Vec::new();
        memory::reserve(&mut postings, old.len(), DOING)?;
        // The postings of a document are consecutive, in the order of tokens.
        let (mut before, mut position) = (None, 0);
        for posting in old {
            let (hash, document) = ((posting >> u32::BITS) as u32, posting as u32);
            position = if before == Some(document) { position + 1 } else { 0 };
            before = Some(document);
            postings.push(PrefixToken { hash, document, position });
        }
        executor::sort(executor, &mut postings, PrefixToken::cmp)?;
        let bits = postings.len().max(1).ilog2().clamp(1, MOST_BITS);
        let first_bits = |posting: &PrefixToken| (posting.hash >> (u32::BITS - bits)) as usize;
        let starts = starts(1 << bits, postings.iter().map(first_bits), DOING)?;
        let mut requirements: Vec<Requirements> = Vec::new();
        memory::reserve(&mut requirements, sizes.len(), DOING)?;
        for &size in &sizes {
            let known = requirements.last().filter(|known| known.size == size).copied();
            requirements.push(known.unwrap_or_else(|| Requirements::new(size, &bounds)));
        }
        Ok(Self { bounds, rows, bitmaps, words, requirements, postings, starts, bits })
    }

    /// Reports whether there is nothing to look up.
    pub fn is_empty(&self) -> bool {
        self.postings.is_empty()
    }

    /// Returns the parts of a segment into which tokens of these documents fall. The number of the
    /// segment's parts, `parts`, is a power of two.
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

    /// Returns the postings of a token.
    fn for_hash(&self, hash: u32) -> impl Iterator<Item = &PrefixToken> {
        let start = self.starts[(hash >> (u32::BITS - self.bits)) as usize];
        let from = self.postings[start..].iter().skip_while(move |posting| posting.hash < hash);
        from.take_while(move |posting| posting.hash == hash)
    }

    /// Adds the rows of the changed documents that may be similar to the only document of
    /// `digests`.
    pub(crate) fn near(&self, digests: &Digests, rows: &mut Vec<u32>) -> Result<()> {
        for &posting in &digests.postings {
            for own in self.for_hash((posting >> u32::BITS) as u32) {
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
            // The least overlap with any partner is checked first, because it is known without a
            // search.
            (by_size[0].size..=most).contains(&other)
                && allows(by_size[0].overlap)
                && self.bounds.least_overlap(PairSide::Left, size, other).is_some_and(allows)
        });
        rows.iter_mut().for_each(|place| *place = self.rows[*place as usize]);
        Ok(())
    }
}
