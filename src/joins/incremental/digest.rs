//! Digests of documents: the size of the token set, a parity bitmap, and the hashes of its prefix.

use super::outline_order::OutlineOrder;
use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::tokens::{Document, Scratch, for_each_token};
use crate::joins::set_index::bitmap::{self, Width};
use crate::joins::set_index::by_size::BySize;
use crate::joins::set_index::token_counts::TokenCounts;
use crate::joins::sets::bounds::{Bounds, Side};
use crate::memory;
use crate::ragged::Ragged;

pub(crate) const DOING: &str = "outlining documents";

/// Digests, each part concatenated. Documents that no other can be similar to have none.
#[derive(Debug, Default)]
pub struct Digests {
    /// The row of each.
    pub rows: Vec<u32>,
    /// How many tokens each has.
    pub sizes: Vec<u32>,
    /// Their bitmaps.
    pub bitmaps: Vec<u64>,
    /// The hash of a token in the upper half, and the place in `rows` of a document that has it in its prefix.
    pub postings: Vec<u64>,
}

impl Digests {
    /// Bytes on the heap.
    pub fn bytes(&self) -> usize {
        let Self { rows, sizes, bitmaps, postings } = self;
        memory::bytes(rows) + memory::bytes(sizes) + memory::bytes(bitmaps) + memory::bytes(postings)
    }

    /// Removes all.
    pub fn clear(&mut self) {
        let Self { rows, sizes, bitmaps, postings } = self;
        rows.clear();
        sizes.clear();
        bitmaps.clear();
        postings.clear();
    }

    /// Appends others; their rows become `row` of them.
    pub fn append(&mut self, others: &Self, row: impl Fn(u32) -> u32) -> Result<()> {
        let offset = self.rows.len() as u64;
        memory::reserve(&mut self.rows, others.rows.len(), DOING)?;
        self.rows.extend(others.rows.iter().map(|&other| row(other)));
        memory::extend(&mut self.sizes, &others.sizes, DOING)?;
        memory::extend(&mut self.bitmaps, &others.bitmaps, DOING)?;
        memory::reserve(&mut self.postings, others.postings.len(), DOING)?;
        self.postings.extend(others.postings.iter().map(|posting| posting + offset));
        Ok(())
    }
}

/// Makes digests of documents. Until there is an order it only keeps and counts tokens.
#[derive(Debug, Default)]
pub struct Digester {
    scratch: Scratch,
    hashes: Vec<u64>,
    places: Vec<u64>,
    /// Hashes of the tokens of documents that wait, and their rows.
    waiting: Ragged<u64>,
    waiting_rows: Vec<u32>,
    /// How long prefixes are, always of the same bounds.
    prefixes: BySize,
    /// In how many of a sample of these tokens occur.
    counts: Option<TokenCounts<u32>>,
    /// What is done.
    pub digests: Digests,
}

impl Digester {
    /// Keeps a document for when there is an order. O(tokens · log tokens).
    pub fn keep(&mut self, row: u32, document: &Document, spec: &FeatureSpec, stop: &Stop) -> Result<()> {
        self.hash(document, spec, stop)?;
        memory::reserve(&mut self.waiting_rows, 1, DOING)?;
        if is_sampled(row) {
            let counts = self.counts.get_or_insert_with(Self::no_counts);
            let mut distinct = self.hashes.chunk_by(|&a, &b| key_of(a) == key_of(b));
            distinct.try_for_each(|same| counts.add(key_of(same[0]), stop))?;
        }
        self.waiting.push(&self.hashes, DOING)?;
        self.waiting_rows.push(row);
        Ok(())
    }

    /// Bytes that wait.
    pub fn waiting(&self) -> usize {
        self.waiting.bytes() + memory::bytes(&self.waiting_rows)
    }

    /// How many documents wait, and how many tokens they have.
    pub fn tokens(&self) -> (usize, usize) {
        (self.waiting.len(), self.waiting.values.len())
    }

    /// Digests what waits.
    pub fn release(&mut self, order: &OutlineOrder, bounds: &Bounds, stop: &Stop) -> Result<()> {
        // After a stop it goes on with the last that is not done: those before it still wait.
        while let Some(&row) = self.waiting_rows.last() {
            stop.check()?;
            self.hashes.clear();
            memory::extend(&mut self.hashes, self.waiting.last(), DOING)?;
            self.digest(row, order, bounds)?;
            self.waiting.pop();
            self.waiting_rows.pop();
        }
        (self.waiting, self.waiting_rows) = (Ragged::default(), Vec::new());
        Ok(())
    }

    /// What was counted of the documents that were kept.
    pub fn take_counts(&mut self) -> TokenCounts<u32> {
        self.counts.take().unwrap_or_else(Self::no_counts)
    }

    /// Counts of nothing.
    pub fn no_counts() -> TokenCounts<u32> {
        TokenCounts::new(COUNTED)
    }

    /// Digests a document. O(tokens · log tokens).
    pub fn add(
        &mut self,
        row: u32,
        document: &Document,
        spec: &FeatureSpec,
        order: &OutlineOrder,
        bounds: &Bounds,
        stop: &Stop,
    ) -> Result<()> {
        self.hash(document, spec, stop)?;
        self.digest(row, order, bounds)
    }

    /// Digests a document of which the hashes of all tokens are known, ascending.
    pub fn add_hashes(
        &mut self,
        row: u32,
        hashes: &[u64],
        order: &OutlineOrder,
        bounds: &Bounds,
    ) -> Result<()> {
        self.hashes.clear();
        memory::extend(&mut self.hashes, hashes, DOING)?;
        self.digest(row, order, bounds)
    }

    /// The hashes of a document's tokens, sorted.
    fn hash(&mut self, document: &Document, spec: &FeatureSpec, stop: &Stop) -> Result<()> {
        let Self { scratch, hashes, .. } = self;
        hashes.clear();
        for_each_token(document, spec, scratch, stop, |token| memory::push(hashes, token.hash(), DOING))?;
        hashes.sort_unstable();
        if !spec.multiset {
            // Equal tokens have equal hashes. Two tokens of one hash of 64 bits would make the set one too
            // small: that never happens but by chance of 2⁻⁶⁴ a pair of tokens, as with shingles.
            hashes.dedup();
        }
        Ok(())
    }

    fn digest(&mut self, row: u32, order: &OutlineOrder, bounds: &Bounds) -> Result<()> {
        let Self { hashes, places, digests, prefixes, .. } = self;
        let size = hashes.len() as u32;
        if size == 0 {
            return Ok(());
        }
        places.clear();
        memory::reserve(places, hashes.len(), DOING)?;
        places.extend(hashes.iter().map(|&hash| order.tokens.place(key_of(hash))));
        let length = prefixes.get(size, || prefix(bounds, size)) as usize;
        if length == 0 {
            return Ok(());
        }
        if length < places.len() {
            places.select_nth_unstable(length);
            places.truncate(length);
        }
        // A token that comes twice is one token of the index.
        places.sort_unstable();
        places.dedup();

        let place = digests.rows.len() as u64;
        memory::reserve(&mut digests.rows, 1, DOING)?;
        memory::reserve(&mut digests.sizes, 1, DOING)?;
        memory::reserve(&mut digests.bitmaps, order.words, DOING)?;
        memory::reserve(&mut digests.postings, places.len(), DOING)?;
        digests.rows.push(row);
        digests.sizes.push(size);
        let start = digests.bitmaps.len();
        digests.bitmaps.resize(start + order.words, 0);
        bitmap::of_hashes(hashes.iter().copied(), &mut digests.bitmaps[start..]);
        digests.postings.extend(places.iter().map(|place| place << u32::BITS).map(|key| key | place));
        Ok(())
    }
}

/// Tokens that are counted at most, for an order of [`TokenOrder::MOST`](crate::joins::set_index::token_order::TokenOrder::MOST).
const COUNTED: usize = 1 << 17;

/// Whether the tokens of a row are counted: of many rows every eighth tells which tokens are frequent.
fn is_sampled(row: u32) -> bool {
    row < 1 << 13 || row.is_multiple_of(8)
}

/// The key of a token of this hash, by which its postings are found.
#[inline]
fn key_of(hash: u64) -> u32 {
    (hash >> u32::BITS) as u32
}

/// How many tokens of a set, the first in the order, have one in common with each similar set; 0 where there is none.
fn prefix(bounds: &Bounds, size: u32) -> u32 {
    let partners = bounds.partner_sizes(Side::Left, size, u32::MAX);
    partners.map_or(0, |partners| bounds.prefix(Side::Left, size, *partners.start()))
}

/// How long bitmaps have to be, in words, for documents of this many tokens.
pub fn words(bounds: &Bounds, size: u32) -> usize {
    const MOST: usize = 8;
    let shared = bounds.least_overlap(Side::Left, size, size).unwrap_or(size);
    let words = Width::IN_MEMORY.words(size, 2 * (size - shared));
    // Twice as many as tell dissimilar sets apart: candidates that stay are read.
    words.map_or(MOST, |words| (2 * words).min(MOST))
}
