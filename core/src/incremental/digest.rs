//! Digests of documents: the size of the token set, a parity bitmap, and the hashes of its prefix,
//! in an order of tokens that is frozen with the first of them.

use crate::error::Result;
use crate::executor::Stop;
use crate::features::FeatureSpec;
use crate::features::tokens::{Document, Scratch, for_each_token};
use crate::joins::sets::bounds::Bounds;
use crate::memory;
use crate::set_index::bitmap::{self, Width};
use crate::set_index::by_size::BySize;
use crate::set_index::token_counts::TokenCounts;
use crate::set_index::token_order::TokenOrder;
use crate::storage::rows::Ragged;

pub(crate) const DOING: &str = "outlining documents";

/// The version of outlines. Lists of another version are rebuilt.
pub const OUTLINE_VERSION: u8 = 3;

/// The parameters of the outlines of a job's rows, which are frozen with the first outlines: an
/// order of tokens, and the number of words of a bitmap, 1, 2, 4 or 8.
#[derive(Debug, Clone)]
pub struct OutlineOrder {
    /// The order of tokens, by the upper halves of their hashes.
    pub tokens: TokenOrder,
    /// The number of 64-bit words of a bitmap.
    pub words: usize,
}

impl OutlineOrder {
    /// Encodes the version, the number of words, and the order.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![OUTLINE_VERSION, self.words as u8];
        memory::extend(&mut bytes, &self.tokens.to_bytes()?, "storing the order of tokens")?;
        Ok(bytes)
    }

    /// Decodes the bytes. Returns `None` if they are of another version.
    ///
    /// # Errors
    /// Fails on malformed bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Option<Self>> {
        let [OUTLINE_VERSION, words @ (1 | 2 | 4 | 8), tokens @ ..] = bytes else { return Ok(None) };
        Ok(Some(Self { tokens: TokenOrder::from_bytes(tokens)?, words: usize::from(*words) }))
    }
}

/// Digests, with each field concatenated over all documents. A document to which no other can be
/// similar has no digest.
#[derive(Debug, Default)]
pub struct Digests {
    /// The row of each document.
    pub rows: Vec<u32>,
    /// The number of tokens of each document.
    pub sizes: Vec<u32>,
    /// The bitmaps of the documents.
    pub bitmaps: Vec<u64>,
    /// The postings: the hash of a token in the upper half, and the position in `rows` of a
    /// document that has the token in its prefix.
    pub postings: Vec<u64>,
}

impl Digests {
    /// Returns the number of bytes on the heap.
    pub fn bytes(&self) -> usize {
        let Self { rows, sizes, bitmaps, postings } = self;
        memory::bytes(rows) + memory::bytes(sizes) + memory::bytes(bitmaps) + memory::bytes(postings)
    }

    /// Removes all digests.
    pub fn clear(&mut self) {
        let Self { rows, sizes, bitmaps, postings } = self;
        rows.clear();
        sizes.clear();
        bitmaps.clear();
        postings.clear();
    }

    /// Appends the digests of `others`, whose rows are mapped by `row`.
    pub fn append(&mut self, others: &Self, row: impl Fn(u32) -> u32) -> Result<()> {
        let offset = self.rows.len() as u64;
        memory::append(&mut self.rows, others.rows.iter().map(|&other| row(other)), DOING)?;
        memory::extend(&mut self.sizes, &others.sizes, DOING)?;
        memory::extend(&mut self.bitmaps, &others.bitmaps, DOING)?;
        memory::append(&mut self.postings, others.postings.iter().map(|posting| posting + offset), DOING)
    }
}

/// Computes digests of documents. Until an order exists, it only keeps and counts tokens.
#[derive(Debug, Default)]
pub struct Digester {
    scratch: Scratch,
    hashes: Vec<u64>,
    places: Vec<u64>,
    /// The hashes of the tokens of waiting documents, and the rows of these documents.
    waiting: Ragged<u64>,
    waiting_rows: Vec<u32>,
    /// Cached lengths of prefixes, always for the same bounds.
    prefixes: BySize,
    /// The number of sampled documents in which each token occurs.
    counts: Option<TokenCounts<u32>>,
    /// The finished digests.
    pub digests: Digests,
}

impl Digester {
    /// Keeps a document until an order exists. O(tokens · log tokens).
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

    /// Returns the number of bytes that waiting documents take.
    pub fn waiting(&self) -> usize {
        self.waiting.bytes() + memory::bytes(&self.waiting_rows)
    }

    /// Returns the number of waiting documents, and the number of their tokens.
    pub fn tokens(&self) -> (usize, usize) {
        (self.waiting.len(), self.waiting.values.len())
    }

    /// Computes the digests of the waiting documents.
    pub fn release(&mut self, order: &OutlineOrder, bounds: &Bounds, stop: &Stop) -> Result<()> {
        // Documents are done from the last to the first, and each is removed when it is done. So
        // after an interrupt the next call goes on from there.
        while let Some(&row) = self.waiting_rows.last() {
            stop.check()?;
            memory::refill(&mut self.hashes, self.waiting.last().iter().copied(), DOING)?;
            self.digest(row, order, bounds)?;
            self.waiting.pop();
            self.waiting_rows.pop();
        }
        (self.waiting, self.waiting_rows) = (Ragged::default(), Vec::new());
        Ok(())
    }

    /// Takes the counts of tokens over the sampled documents among those that were kept.
    pub fn take_counts(&mut self) -> TokenCounts<u32> {
        self.counts.take().unwrap_or_else(Self::no_counts)
    }

    /// Returns empty counts.
    pub fn no_counts() -> TokenCounts<u32> {
        TokenCounts::new(COUNTED)
    }

    /// Computes the digest of a document. O(tokens · log tokens).
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

    /// Computes the digest of a document from the hashes of all its tokens, in ascending order.
    pub fn add_hashes(
        &mut self,
        row: u32,
        hashes: &[u64],
        order: &OutlineOrder,
        bounds: &Bounds,
    ) -> Result<()> {
        memory::refill(&mut self.hashes, hashes.iter().copied(), DOING)?;
        self.digest(row, order, bounds)
    }

    /// Computes the hashes of a document's tokens, sorted.
    fn hash(&mut self, document: &Document, spec: &FeatureSpec, stop: &Stop) -> Result<()> {
        let Self { scratch, hashes, .. } = self;
        hashes.clear();
        for_each_token(document, spec, scratch, stop, |token| memory::push(hashes, token.hash(), DOING))?;
        hashes.sort_unstable();
        if !spec.multiset {
            // Equal tokens have equal hashes. Two different tokens with the same 64-bit hash would
            // make the set smaller by one. As with shingles, the probability is 2⁻⁶⁴ for each pair
            // of tokens.
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
        memory::refill(places, hashes.iter().map(|&hash| order.tokens.place(key_of(hash))), DOING)?;
        let length = prefixes.get(size, || bounds.whole_prefix(size)) as usize;
        if length == 0 {
            return Ok(());
        }
        if length < places.len() {
            places.select_nth_unstable(length);
            places.truncate(length);
        }
        // A token that occurs twice is one token of the index.
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

/// The greatest number of tokens that are counted to make an order of
/// [`TokenOrder::MOST`](crate::set_index::token_order::TokenOrder::MOST) tokens.
const COUNTED: usize = 1 << 17;

/// Reports whether the tokens of a row are counted. If there are many rows, every eighth is enough
/// to know the frequent tokens.
fn is_sampled(row: u32) -> bool {
    row < 1 << 13 || row.is_multiple_of(8)
}

/// Returns the key of a token with this hash, by which its postings are found.
#[inline]
fn key_of(hash: u64) -> u32 {
    (hash >> u32::BITS) as u32
}

/// Returns the length of bitmaps, in words, for documents with this many tokens.
pub fn words(bounds: &Bounds, size: u32) -> usize {
    const MOST: usize = 8;
    let words = bounds.bitmap_words(Width::IN_MEMORY, size, 1);
    // A bitmap has twice the words that distinguish dissimilar sets, because the documents of
    // remaining candidates have to be read.
    words.map_or(MOST, |words| (2 * words).min(MOST))
}
