//! The stored form of digests: documents ordered by size, in blocks; postings ordered by hash, in
//! parts.
//!
//! A block contains the sizes and the bitmaps of its documents, little-endian. A part contains the
//! postings of a range of hashes. Each hash is represented by its distance from the previous hash
//! and the number of documents that have it, both as LEB128. If this is one document, its place in
//! the segment follows, as LEB128. If there are several, the length in bytes of the code of their
//! places follows, as LEB128, then the parameter of the code in one byte, and then the code
//! ([`rice`]).
//!
//! The owner of a table of lists can write anything into it. So stored data is checked before it is
//! used, and memory is allocated for the data that exists, not for the amount that a number claims.

use super::digest::{DOING, Digests};
use crate::error::{Error, Result};
use crate::executor::{self, Executor};
use crate::leb128;
use crate::memory;
use crate::set_index::rice::{self, Decoder};
use crate::storage::rows::Ragged;

/// The number of documents in each block except the last one.
pub const BLOCK: usize = 1024;
/// The approximate size limit of a part in bytes, so small that its row fits into a page.
pub const PART: usize = 6 << 10;
/// The greatest number of bits of a hash that select its part.
pub const MOST_BITS: u32 = 16;
/// More tokens than any document has.
const MOST_TOKENS: u32 = 1 << 31;

/// A segment, ready to be stored.
#[derive(Debug)]
pub struct ListSegment<'a> {
    digests: &'a Digests,
    /// The positions of digests in the order of sizes.
    order: Vec<u32>,
    words: usize,
    /// All parts.
    pub parts: Vec<Vec<u8>>,
}

impl<'a> ListSegment<'a> {
    /// Sorts digests into a segment. Takes about as much memory as the digests do. O(n · log n).
    pub fn new(digests: &'a Digests, words: usize, executor: &dyn Executor) -> Result<Self> {
        /// The approximate size of a posting.
        const BYTES: usize = 3;
        let count = digests.rows.len();
        let mut order: Vec<u32> = memory::collect(0..count as u32, DOING)?;
        let key = |&place: &u32| (digests.sizes[place as usize], place);
        executor::sort(executor, &mut order, |a, b| key(a).cmp(&key(b)))?;
        let mut place_of = memory::filled(0u32, count, DOING)?;
        order.iter().zip(0..).for_each(|(&from, to)| place_of[from as usize] = to);

        let wanted = (digests.postings.len() * BYTES / PART).next_power_of_two();
        let bits = wanted.trailing_zeros().min(MOST_BITS);
        let postings = || {
            digests.postings.iter().map(|&posting| {
                let place = place_of[posting as u32 as usize];
                (part_of(posting, bits), posting >> u32::BITS << u32::BITS | u64::from(place))
            })
        };
        let mut postings = Ragged::dealt(1 << bits, postings, DOING)?;
        let mut pieces: Vec<(&mut [u64], Vec<u8>)> =
            memory::collect(postings.iter_mut().map(|postings| (postings, Vec::new())), DOING)?;
        executor::each(executor, &mut pieces, |(postings, bytes), stop| {
            stop.check()?;
            postings.sort_unstable();
            bytes.clear();
            encode(postings, bytes)
        })?;
        let parts = pieces.into_iter().map(|(_, bytes)| bytes).collect();
        Ok(Self { digests, order, words, parts })
    }

    /// Returns the number of documents.
    pub fn documents(&self) -> usize {
        self.order.len()
    }

    /// Returns the blocks, in order.
    pub fn blocks(&self) -> impl Iterator<Item = Result<Vec<u8>>> + '_ {
        let Digests { sizes, bitmaps, .. } = self.digests;
        self.order.chunks(BLOCK).map(move |block| {
            let mut bytes = Vec::new();
            memory::reserve(&mut bytes, block.len() * (4 + 8 * self.words), DOING)?;
            block.iter().for_each(|&n| bytes.extend(sizes[n as usize].to_le_bytes()));
            for &n in block {
                let bitmap = &bitmaps[n as usize * self.words..][..self.words];
                bitmap.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
            }
            Ok(bytes)
        })
    }

    /// Returns the rows in the order of the segment.
    pub fn into_rows(self) -> Vec<u32> {
        let Self { digests, mut order, .. } = self;
        order.iter_mut().for_each(|place| *place = digests.rows[*place as usize]);
        order
    }
}

/// Returns the part of a posting: the first `bits` bits of its hash.
pub(crate) fn part_of(posting: u64, bits: u32) -> usize {
    // A shift by all bits at once is not defined, so it is done in two steps.
    (posting >> 1 >> (u64::BITS - 1 - bits)) as usize
}

/// Encodes sorted postings as a part.
fn encode(postings: &[u64], bytes: &mut Vec<u8>) -> Result<()> {
    let (mut before, mut places, mut code) = (0, Vec::new(), Vec::new());
    for list in postings.chunk_by(|a, b| a >> u32::BITS == b >> u32::BITS) {
        let hash = list[0] >> u32::BITS;
        leb128::write(hash - before, bytes, DOING)?;
        leb128::write(list.len() as u64, bytes, DOING)?;
        before = hash;
        if let [only] = list {
            leb128::write(u64::from(*only as u32), bytes, DOING)?;
            continue;
        }
        code.clear();
        memory::refill(&mut places, list.iter().map(|&posting| posting as u32), DOING)?;
        let parameter = rice::encode(&places, &mut code)?;
        leb128::write(code.len() as u64, bytes, DOING)?;
        memory::push(bytes, parameter, DOING)?;
        memory::extend(bytes, &code, DOING)?;
    }
    Ok(())
}

fn get(bytes: &mut &[u8]) -> Result<u64> {
    leb128::take(bytes).ok_or_else(|| malformed("a number is cut off"))
}

fn malformed(why: &str) -> Error {
    Error::Malformed { what: "segment of outlines", why: why.to_owned() }
}

/// The documents that have a hash, still in the stored form.
pub(crate) enum StoredList<'a> {
    One(u32),
    Several { code: &'a [u8], decoder: Decoder },
}

impl StoredList<'_> {
    /// Replaces the contents of `places` by the places of the documents, in ascending order.
    pub(crate) fn read(self, places: &mut Vec<u32>) -> Result<()> {
        places.clear();
        match self {
            Self::One(place) => memory::push(places, place, DOING),
            Self::Several { mut code, mut decoder } => {
                memory::reserve(places, decoder.rows() as usize, DOING)?;
                // The decoder knows the number of bytes, so it ends or fails.
                decoder.read(&mut code, usize::MAX, places).map(|_| ())
            }
        }
    }
}

/// Calls `each` with each hash of a part and the list of the hash, in ascending order of hashes.
/// `documents` is the number of documents of the segment.
pub(crate) fn decode(
    mut bytes: &[u8],
    documents: usize,
    mut each: impl FnMut(u32, StoredList<'_>) -> Result<()>,
) -> Result<()> {
    let mut hash = 0u32;
    while !bytes.is_empty() {
        let step = u32::try_from(get(&mut bytes)?).ok();
        hash =
            step.and_then(|step| hash.checked_add(step)).ok_or_else(|| malformed("a hash is too large"))?;
        let count = get(&mut bytes)?;
        if count == 0 || count > documents as u64 {
            return Err(malformed("a list has more documents than there are, or none"));
        }
        let number = get(&mut bytes)?;
        let list = if count == 1 {
            let place = u32::try_from(number).ok().filter(|&place| (place as usize) < documents);
            StoredList::One(place.ok_or_else(|| malformed("a posting leads nowhere"))?)
        } else {
            let (&parameter, rest) = bytes.split_first().ok_or_else(|| malformed("a list is cut off"))?;
            let length = usize::try_from(number).unwrap_or(usize::MAX);
            let (code, rest) = rest.split_at_checked(length).ok_or_else(|| malformed("a list is cut off"))?;
            bytes = rest;
            // The number of places and the number of bytes of a part fit into 32 bits.
            let decoder = Decoder::new(parameter, count as u32, length as u32, documents as u32)?;
            StoredList::Several { code, decoder }
        };
        each(hash, list)?;
    }
    Ok(())
}

/// The documents of a segment, decoded from the stored form.
#[derive(Debug)]
pub struct SegmentDocuments {
    /// The number of tokens of each document, in ascending order.
    pub sizes: Vec<u32>,
    /// The bitmaps of the documents.
    pub bitmaps: Vec<u64>,
    /// The number of words of a bitmap.
    pub words: usize,
}

impl SegmentDocuments {
    /// Starts without documents. Bitmaps have `words` words.
    pub fn new(words: usize) -> Self {
        Self { sizes: Vec::new(), bitmaps: Vec::new(), words }
    }

    /// Adds the next block.
    pub fn push(&mut self, block: &[u8]) -> Result<()> {
        let each = 4 + 8 * self.words;
        if !block.len().is_multiple_of(each) {
            return Err(malformed("a block is cut off"));
        }
        let count = block.len() / each;
        if count > BLOCK || !self.sizes.len().is_multiple_of(BLOCK) {
            return Err(malformed("a block is of another size"));
        }
        let (sizes, bitmaps) = block.split_at(4 * count);
        let from = self.sizes.len().saturating_sub(1);
        let sizes = sizes.as_chunks().0.iter().map(|&size| u32::from_le_bytes(size));
        memory::append(&mut self.sizes, sizes, DOING)?;
        let new = &self.sizes[from..];
        if !new.is_sorted() || new.first() == Some(&0) || new.last().is_some_and(|&size| size >= MOST_TOKENS)
        {
            return Err(malformed("sizes are not in order"));
        }
        let bitmaps = bitmaps.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word));
        memory::append(&mut self.bitmaps, bitmaps, DOING)
    }

    /// Returns the place of the first document that has at least `size` tokens.
    pub(crate) fn first_of_size(&self, size: u32) -> u32 {
        self.sizes.partition_point(|&other| other < size) as u32
    }

    /// Restores the digests, to merge them with others. `parts` are all parts of the segment, and
    /// `row` is the row of its first document.
    pub fn digests<'a>(self, row: u32, parts: impl IntoIterator<Item = &'a [u8]>) -> Result<Digests> {
        let count = self.sizes.len();
        if u32::try_from(count).ok().and_then(|count| row.checked_add(count)).is_none() {
            return Err(Error::TooMany { what: "documents", limit: u32::MAX.into() });
        }
        let rows = memory::collect((row..).take(self.sizes.len()), DOING)?;
        let (mut postings, mut places) = (Vec::new(), Vec::new());
        for part in parts {
            decode(part, count, |hash, list| {
                list.read(&mut places)?;
                let key = u64::from(hash) << u32::BITS;
                memory::append(&mut postings, places.iter().map(|&place| key | u64::from(place)), DOING)
            })?;
        }
        Ok(Digests { rows, sizes: self.sizes, bitmaps: self.bitmaps, postings })
    }
}
